/// decompress and apply on the device.
#pragma once

#include <cuda_runtime.h>

#include "bird/span.hpp"
#include "decode.cuh"

namespace bird::device {

/// Enqueues the kernel.
void decode(decode_mode mode, decode_work const& work, span<output const> outputs, cudaStream_t stream);

}  // namespace bird::device
