#include "gpu/peers.hpp"

#include "block.cuh"
#include "launch.hpp"
#include "real.cuh"

namespace bird::bench {
namespace {

using device::all_lanes;
using device::block_threads;
using device::grid_thread;
using device::grid_threads;
using device::lane_id;

constexpr std::uint32_t unroll = 4;

__global__ void copy_kernel(uint4 const* from, uint4* to, std::uint64_t count)
{
  std::uint64_t const stride = grid_threads();
  std::uint64_t i            = grid_thread();
  for (; i + (unroll - 1) * stride < count; i += unroll * stride) {
    uint4 several[unroll];
    for (std::uint32_t k = 0; k < unroll; ++k) {
      several[k] = from[i + k * stride];
    }
    for (std::uint32_t k = 0; k < unroll; ++k) {
      to[i + k * stride] = several[k];
    }
  }
  for (; i < count; i += stride) {
    to[i] = from[i];
  }
}

__global__ void fill_kernel(uint4* to, std::uint64_t count)
{
  for (std::uint64_t i = grid_thread(); i < count; i += grid_threads()) {
    to[i] = make_uint4(0, 0, 0, 0);
  }
}

/// Appends the elements of those lanes that have one: one atomic a warp.
__device__ void append(bool has, float value, std::uint32_t place, sparse_elements const& out)
{
  std::uint32_t const votes = __ballot_sync(all_lanes, has ? 1 : 0);
  std::uint32_t first       = 0;
  if (lane_id() == 0 && votes != 0) {
    first = atomicAdd(out.count, static_cast<std::uint32_t>(__popc(votes)));
  }
  first = __shfl_sync(all_lanes, first, 0);
  if (has) {
    std::uint32_t const at = first + static_cast<std::uint32_t>(__popc(votes & ((1U << lane_id()) - 1)));
    out.values[at]         = value;
    out.places[at]         = place;
  }
}

__device__ std::uint32_t key_of(float value) { return rule::bits_of(value) & ~rule::sign_mask; }

__global__ void select_threshold_kernel(float const* x, std::uint32_t count, float threshold,
                                        sparse_elements out)
{
  std::uint32_t const rounds = (count + grid_threads() - 1) / grid_threads();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    std::uint32_t const i = round * grid_threads() + grid_thread();
    float const value     = i < count ? x[i] : 0.0F;
    append(i < count && rule::magnitude(value) >= threshold, value, i, out);
  }
}

struct digit {
  std::uint32_t shift;
  std::uint32_t bits;
};
__device__ digit digit_of(std::uint32_t number)
{
  return number == 0 ? digit{20, 11} : number == 1 ? digit{9, 11} : digit{0, 9};
}

/// Keys of x (at first) or of the candidates, whose leading bits are all the same.
__global__ void histogram_kernel(float const* x, std::uint32_t count, std::uint32_t const* counted,
                                 std::uint32_t number, std::uint32_t k, radix_state* state)
{
  constexpr std::uint32_t bins = 2048;
  __shared__ std::uint32_t counts[bins];
  __shared__ bool last;
  digit const d             = digit_of(number);
  std::uint32_t const limit = counted != nullptr ? *counted : count;
  for (std::uint32_t bin = threadIdx.x; bin < bins; bin += block_threads) {
    counts[bin] = 0;
  }
  __syncthreads();
  for (std::uint32_t i = grid_thread(); i < limit; i += grid_threads()) {
    std::uint32_t const key = key_of(x[i]);
    if (number == 0 || key >> (d.shift + d.bits) == state->prefix) {
      atomicAdd(counts + (key >> d.shift & ((1U << d.bits) - 1)), 1U);
    }
  }
  __syncthreads();
  for (std::uint32_t bin = threadIdx.x; bin < bins; bin += block_threads) {
    if (counts[bin] != 0) {
      atomicAdd(state->histogram + bin, counts[bin]);
    }
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(&state->finished, 1U) + 1 == gridDim.x;
  }
  __syncthreads();
  if (!last) {
    return;
  }
  __threadfence();
  // The block that comes last finds the bin of the k-th and clears the histogram.
  constexpr std::uint32_t run = bins / block_threads;
  std::uint32_t const high    = bins - 1 - threadIdx.x * run;
  std::uint32_t const wanted  = number == 0 ? k : state->wanted;
  std::uint32_t own[run];
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < run; ++i) {
    own[i] = state->histogram[high - i];
    sum += own[i];
    state->histogram[high - i] = 0;
  }
  std::uint64_t const before = device::block_prefix(sum).before;
  if (before < wanted && wanted <= before + sum) {
    std::uint64_t above = before;
    std::uint32_t i     = 0;
    for (; above + own[i] < wanted; ++i) {
      above += own[i];
    }
    state->prefix = (number == 0 ? 0 : state->prefix << d.bits) | (high - i);
    state->wanted = static_cast<std::uint32_t>(wanted - above);
  }
  if (threadIdx.x == 0) {
    state->finished = 0;
  }
}

/// What is above the bin of the k-th goes out, what is in it becomes a candidate.
__global__ void filter_kernel(float const* x, std::uint32_t count, radix_state* state,
                              sparse_elements candidates, sparse_elements out)
{
  std::uint32_t const rounds = (count + grid_threads() - 1) / grid_threads();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    std::uint32_t const i    = round * grid_threads() + grid_thread();
    float const value        = i < count ? x[i] : 0.0F;
    std::uint32_t const lead = key_of(value) >> digit_of(0).shift;
    append(i < count && lead > state->prefix, value, i, out);
    append(i < count && lead == state->prefix, value, i, candidates);
  }
}

/// Of the candidates: those above the k-th, and as many ties as are wanted.
__global__ void finish_kernel(radix_state* state, sparse_elements candidates, sparse_elements out)
{
  std::uint32_t const count  = *candidates.count;
  std::uint32_t const rounds = (count + grid_threads() - 1) / grid_threads();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    std::uint32_t const i   = round * grid_threads() + grid_thread();
    float const value       = i < count ? candidates.values[i] : 0.0F;
    std::uint32_t const key = key_of(value);
    bool kept               = i < count && key > state->prefix;
    if (i < count && key == state->prefix) {
      kept = atomicAdd(&state->kept, 1U) < state->wanted;
    }
    append(kept, value, i < count ? candidates.places[i] : 0, out);
  }
}

__global__ void scatter_kernel(sparse_elements from, std::uint32_t count, float* dense)
{
  for (std::uint32_t i = grid_thread(); i < count; i += grid_threads()) {
    dense[from.places[i]] = from.values[i];
  }
}

__global__ void scatter_add_kernel(sparse_elements from, std::uint32_t count, float weight, float* dense)
{
  for (std::uint32_t i = grid_thread(); i < count; i += grid_threads()) {
    dense[from.places[i]] += weight * from.values[i];
  }
}

__global__ void axpy_kernel(float4 const* x, float weight, float4* y, std::uint64_t count)
{
  for (std::uint64_t i = grid_thread(); i < count; i += grid_threads()) {
    float4 const add = x[i];
    float4 sum       = y[i];
    sum.x += weight * add.x;
    sum.y += weight * add.y;
    sum.z += weight * add.z;
    sum.w += weight * add.w;
    y[i] = sum;
  }
}

device::launch_shape shape_for(std::uint64_t elements)
{
  return {device::grid_for((elements + block_threads - 1) / block_threads), block_threads, false};
}

void clear(void* memory, std::size_t bytes, cudaStream_t stream)
{
  device::check(cudaMemsetAsync(memory, 0, bytes, stream), "cudaMemsetAsync");
}

}  // namespace

void copy(void const* from, void* to, std::size_t bytes, cudaStream_t stream)
{
  device::launch("copy", copy_kernel, shape_for(bytes / 16), stream, static_cast<uint4 const*>(from),
                 static_cast<uint4*>(to), std::uint64_t{bytes / 16});
}

void fill_zeros(void* to, std::size_t bytes, cudaStream_t stream)
{
  device::launch("fill", fill_kernel, shape_for(bytes / 16), stream, static_cast<uint4*>(to),
                 std::uint64_t{bytes / 16});
}

void select_threshold(float const* x, std::uint32_t count, float threshold, sparse_elements out,
                      cudaStream_t stream)
{
  clear(out.count, sizeof *out.count, stream);
  device::launch("select_threshold", select_threshold_kernel, shape_for(count), stream, x, count, threshold,
                 out);
}

void radix_top_k(float const* x, std::uint32_t count, std::uint32_t k, radix_state* state,
                 sparse_elements candidates, sparse_elements out, cudaStream_t stream)
{
  auto const shape = shape_for(count);
  clear(state, sizeof *state, stream);
  clear(out.count, sizeof *out.count, stream);
  clear(candidates.count, sizeof *candidates.count, stream);
  std::uint32_t const* const all = nullptr;
  device::launch("histogram", histogram_kernel, shape, stream, x, count, all, 0U, k, state);
  device::launch("filter", filter_kernel, shape, stream, x, count, state, candidates, out);
  for (std::uint32_t number = 1; number < 3; ++number) {
    device::launch("histogram", histogram_kernel, shape_for(count / 64), stream,
                   static_cast<float const*>(candidates.values), count,
                   static_cast<std::uint32_t const*>(candidates.count), number, k, state);
  }
  device::launch("finish", finish_kernel, shape_for(count / 64), stream, state, candidates, out);
}

void scatter(sparse_elements from, std::uint32_t count, float* dense, std::size_t elements,
             cudaStream_t stream)
{
  clear(dense, elements * sizeof(float), stream);
  device::launch("scatter", scatter_kernel, shape_for(count), stream, from, count, dense);
}

void scatter_add(sparse_elements from, std::uint32_t count, float weight, float* dense, cudaStream_t stream)
{
  device::launch("scatter_add", scatter_add_kernel, shape_for(count), stream, from, count, weight, dense);
}

void axpy(float const* x, float weight, float* y, std::size_t count, cudaStream_t stream)
{
  device::launch("axpy", axpy_kernel, shape_for(count / 4), stream, reinterpret_cast<float4 const*>(x),
                 weight, reinterpret_cast<float4*>(y), std::uint64_t{count / 4});
}

}  // namespace bird::bench
