/// Streams of programs without CUDA.
#pragma once

#include <functional>

#include <nccl.h>

namespace loopback::host_streams {

/// Queues work behind what the stream of this device has; a thread of its own does it.
void enqueue(cudaStream_t stream, int device, std::function<void()> work);
/// Waits until the queues of this handle are empty, on all devices.
void synchronize(cudaStream_t stream);

}  // namespace loopback::host_streams
