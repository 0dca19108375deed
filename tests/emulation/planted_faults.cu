/// Small kernels, each with a fault that can be planted. Without it they are right.
#include "planted_faults.hpp"

namespace planted {
namespace {

constexpr unsigned threads = 64;

__device__ bool is_planted(fault planted, fault one) { return planted == one; }

/// Sum of a block's numbers through shared memory, twice, with the same buffer.
__global__ void block_sums(fault planted, unsigned const* numbers, unsigned count, unsigned* sums)
{
  __shared__ unsigned values[threads];
  for (unsigned round = 0; round < 2; ++round) {
    unsigned const i = (blockIdx.x * 2 + round) * threads + threadIdx.x;
    if (round != 0 && !is_planted(planted, fault::no_barrier_before_reuse)) {
      __syncthreads();
    }
    unsigned const last = is_planted(planted, fault::read_past_the_end) ? count + 1 : count;
    values[threadIdx.x] = i < last ? numbers[i] : 0;
    if (!is_planted(planted, fault::no_barrier_before_read)) {
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      unsigned sum = 0;
      for (unsigned const value : values) {
        sum += value;
      }
      sums[blockIdx.x * 2 + round] = sum;
    }
  }
}

/// A warp reverses its numbers through shared memory.
__global__ void reverse_warps(fault planted, unsigned const* numbers, unsigned* reversed)
{
  __shared__ unsigned values[threads];
  unsigned const first = threadIdx.x / 32 * 32;
  values[threadIdx.x]  = numbers[threadIdx.x];
  if (!is_planted(planted, fault::no_warp_barrier)) {
    __syncwarp();
  }
  reversed[threadIdx.x] = values[first + 31 - threadIdx.x % 32];
}

/// The largest number of a warp's first half.
__global__ void half_warps(fault planted, unsigned const* numbers, unsigned* largest)
{
  if (threadIdx.x % 32 < 16) {
    unsigned const mask = is_planted(planted, fault::full_mask_for_half_a_warp) ? 0xFFFFFFFFU : 0xFFFFU;
    unsigned value      = numbers[threadIdx.x];
    for (int distance = 8; distance > 0; distance /= 2) {
      unsigned const other = __shfl_xor_sync(mask, value, distance);
      value                = other > value ? other : value;
    }
    largest[threadIdx.x] = value;
  } else {
    __syncwarp(0xFFFF0000U);
  }
}

/// Running sum over blocks: each waits for the one before it.
__global__ void look_back(fault planted, unsigned const* numbers, unsigned* ticket, unsigned* flags,
                          unsigned* sums)
{
  __shared__ unsigned tile;
  if (threadIdx.x == 0) {
    tile = is_planted(planted, fault::tile_by_block_number) ? blockIdx.x : atomicAdd(ticket, 1U);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned before = 0;
    if (tile != 0) {
      int const order =
        is_planted(planted, fault::relaxed_load_of_a_flag) ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE;
      while ((order == __ATOMIC_RELAXED ? __atomic_load_n(flags + tile - 1, __ATOMIC_RELAXED)
                                        : __atomic_load_n(flags + tile - 1, __ATOMIC_ACQUIRE)) == 0) {
        __nanosleep(20);
      }
      before = sums[tile - 1];
    }
    sums[tile] = before + numbers[tile];
    if (is_planted(planted, fault::relaxed_store_of_a_flag)) {
      __atomic_store_n(flags + tile, 1U, __ATOMIC_RELAXED);
    } else {
      __atomic_store_n(flags + tile, 1U, __ATOMIC_RELEASE);
    }
  }
}

/// The block that ends last adds up what all have left.
__global__ void last_block(fault planted, unsigned const* numbers, unsigned* parts, unsigned* ended,
                           unsigned* sum)
{
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = numbers[blockIdx.x];
    if (!is_planted(planted, fault::no_fence_before_the_last_block)) {
      __threadfence();
    }
    if (atomicAdd(ended, 1U) == gridDim.x - 1) {
      __threadfence();
      unsigned all = 0;
      for (unsigned i = 0; i < gridDim.x; ++i) {
        all += parts[i];
      }
      *sum = all;
    }
  }
}

/// Every block writes its own place, or all the same.
__global__ void write_places(fault planted, unsigned* places)
{
  if (threadIdx.x == 0) {
    places[is_planted(planted, fault::blocks_write_one_place) ? 0 : blockIdx.x] = blockIdx.x;
  }
}

__global__ void copy(unsigned const* from, unsigned* to, unsigned count)
{
  if (threadIdx.x < count) {
    to[threadIdx.x] = from[threadIdx.x];
  }
}

template <class... Parameters, class... Arguments>
cudaError_t start(void (*kernel)(Parameters...), unsigned blocks, cudaStream_t stream, Arguments... arguments)
{
  cudaLaunchConfig_t config{};
  config.gridDim  = dim3(blocks);
  config.blockDim = dim3(threads);
  config.stream   = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace

cudaError_t run(kernel which, fault planted, memory const& m, cudaStream_t stream)
{
  switch (which) {
    case kernel::block_sums:
      return start(block_sums, 4, stream, planted, m.input, m.count, m.output);
    case kernel::reverse_warps:
      return start(reverse_warps, 1, stream, planted, m.input, m.output);
    case kernel::half_warps:
      return start(half_warps, 1, stream, planted, m.input, m.output);
    case kernel::look_back:
      return start(look_back, 12, stream, planted, m.input, m.counter, m.flags, m.output);
    case kernel::last_block:
      return start(last_block, 8, stream, planted, m.input, m.flags, m.counter, m.output);
    case kernel::write_places:
      return start(write_places, 8, stream, planted, m.output);
    case kernel::copy:
      return start(copy, 1, stream, m.input, m.output, 16U);
  }
  return cudaErrorInvalidValue;
}

}  // namespace planted
