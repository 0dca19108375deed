/// CUB's own algorithms, where the toolkit is; without it is_built() says no, and nothing else is called.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace bird::bench::cub_peers {

[[nodiscard]] bool is_built();

/// Scratch that any of these needs for `count` elements.
[[nodiscard]] std::size_t scratch_bytes(std::uint32_t count);

/// Sum of |x|.
void sum_of_magnitudes(float const* x, std::uint32_t count, float* sum, void* scratch, std::size_t bytes,
                       cudaStream_t stream);
/// x where the flag is set (DeviceSelect::Flagged).
void select_flagged(float const* x, std::uint8_t const* flags, std::uint32_t count, float* out,
                    std::uint32_t* selected, void* scratch, std::size_t bytes, cudaStream_t stream);
/// Keys |x| with their places, sorted so that the largest come first: top-k by a sort (DeviceRadixSort).
void sort_by_magnitude(std::uint32_t const* keys, std::uint32_t* keys_out, std::uint32_t const* places,
                       std::uint32_t* places_out, std::uint32_t count, void* scratch, std::size_t bytes,
                       cudaStream_t stream);

}  // namespace bird::bench::cub_peers
