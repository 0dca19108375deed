/// What the front of the codec asks of the device: no CUDA type, so that a build without the toolkit has the
/// same text with other definitions (absent.cpp), which refuse a CUDA stream by name.
#pragma once

#include <string>

#include "bird/compressor.hpp"
#include "list_plan.hpp"

namespace bird::device {

/// Device scratch of a compress() call; 0 in a build without device code.
[[nodiscard]] std::size_t compress_scratch_bytes(list_plan const& plan, compressor_options const& options);

/// Device scratch for decoding `packets` packets of such a list at a time; 0 in a build without device code.
[[nodiscard]] std::size_t decode_scratch_bytes(list_plan const& plan, compressor_options const& options,
                                               std::size_t packets);

/// The device that a call's memory must lie on. @throws invalid_argument when the build has no device code
[[nodiscard]] int current_device();

/// @throws invalid_argument unless this device may read and write at `address`
void check_device_memory(void const* address, std::string const& name, int device);

/// Arguments have been checked. @throws cuda_error
void compress(list_plan const& plan, compressor_options const& options, sample_key const& key,
              std::uint32_t* step_counter, feedback const& memory, std::uint64_t capacity, std::byte* packet,
              std::byte* scratch, stream_ref stream);
void decompress(span<std::byte const> packet, span<tensor_view const> tensors, span<std::byte> scratch,
                stream_ref stream);
void apply(span<weighted_packet const> packets, span<tensor_view const> tensors, span<std::byte> scratch,
           stream_ref stream);
void check_decoded(span<std::byte const> scratch, stream_ref stream);

}  // namespace bird::device
