/// block: sums, prefix sums and maxima over the threads of one block.
///
/// Written out because a block's sums here are of integers and three lines long; the same text then runs in
/// the tests' emulation, where no CUB is.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace bird::device {

inline constexpr std::uint32_t block_threads = 256;
inline constexpr std::uint32_t warp_lanes    = 32;
inline constexpr std::uint32_t block_warps   = block_threads / warp_lanes;
inline constexpr std::uint32_t all_lanes     = 0xFFFFFFFFU;

/// Blocks of a multiprocessor that a kernel must leave registers for; without it the compiler spills some to
/// stay at more. Four leave 64 registers a thread: 1024 threads with 64 bytes of loads each under way are
/// twice what the memory's latency asks for. decode has windows in shared memory and stores that nobody waits
/// for: three. Phases that meet at barriers are not better with more than two.
inline constexpr std::uint32_t streaming_blocks = 4;
inline constexpr std::uint32_t decoding_blocks  = 3;
inline constexpr std::uint32_t meeting_blocks   = 2;

__device__ inline std::uint32_t lane_id() { return threadIdx.x % warp_lanes; }
__device__ inline std::uint32_t warp_id() { return threadIdx.x / warp_lanes; }

/// Threads of the whole grid, in blocks of block_threads.
__device__ inline std::uint32_t grid_thread() { return blockIdx.x * block_threads + threadIdx.x; }
__device__ inline std::uint32_t grid_threads() { return gridDim.x * block_threads; }

struct prefix {
  std::uint64_t before;  ///< sum of the threads of lower number
  std::uint64_t total;   ///< of all threads
};

/// All threads of the block must call it. The sum is exact, so its order does not matter.
__device__ inline prefix block_prefix(std::uint64_t value)
{
  __shared__ std::uint64_t warp_sums[block_warps];
  unsigned long long inclusive = value;
  for (std::uint32_t distance = 1; distance < warp_lanes; distance *= 2) {
    unsigned long long const below = __shfl_up_sync(all_lanes, inclusive, distance);
    inclusive += lane_id() >= distance ? below : 0;
  }
  __syncthreads();  // the sums of the call before have been read
  if (lane_id() == warp_lanes - 1) {
    warp_sums[warp_id()] = inclusive;
  }
  __syncthreads();
  prefix result{inclusive - value, 0};
  for (std::uint32_t warp = 0; warp < block_warps; ++warp) {
    result.before += warp < warp_id() ? warp_sums[warp] : 0;
    result.total += warp_sums[warp];
  }
  return result;
}

__device__ inline std::uint64_t block_sum(std::uint64_t value) { return block_prefix(value).total; }

/// Largest value of the block; all threads must call it.
template <class T>
__device__ T block_max(T value)
{
  __shared__ T warp_values[block_warps];
  for (std::uint32_t distance = warp_lanes / 2; distance > 0; distance /= 2) {
    T const other = __shfl_xor_sync(all_lanes, value, static_cast<int>(distance));
    value         = other > value ? other : value;
  }
  __syncthreads();
  if (lane_id() == 0) {
    warp_values[warp_id()] = value;
  }
  __syncthreads();
  for (T const other : warp_values) {
    value = other > value ? other : value;
  }
  return value;
}

}  // namespace bird::device
