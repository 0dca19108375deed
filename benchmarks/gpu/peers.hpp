/// What the kernels are compared with: limits of the memory, and other ways to the same end. All enqueue.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace bird::bench {

/// Sixteen bytes a thread at a time, as many blocks as are resident. `bytes` is a multiple of 16.
void copy(void const* from, void* to, std::size_t bytes, cudaStream_t stream);
void fill_zeros(void* to, std::size_t bytes, cudaStream_t stream);

/// Elements of a sparse vector, unordered.
struct sparse_elements {
  float* values;
  std::uint32_t* places;
  std::uint32_t* count;
};

/// All elements with |x| >= threshold: what a method that guesses the threshold (SIDCo, DGC) does at the
/// least. `out` has room for `count`.
void select_threshold(float const* x, std::uint32_t count, float threshold, sparse_elements out,
                      cudaStream_t stream);

/// Exact top-k in the manner of AIR top-k (adaptive radix: Zhang et al., SC 2023): a histogram of the leading
/// 11 bits of |x|, then one pass that keeps what lies above the bin of the k-th and gathers its candidates,
/// and the other digits over the candidates alone.
struct radix_state {
  std::uint32_t histogram[2048];
  std::uint32_t prefix;
  std::uint32_t wanted;      ///< still to be found in the bin of the k-th
  std::uint32_t candidates;  ///< in that bin
  std::uint32_t kept;        ///< in `out`
  std::uint32_t finished;    ///< blocks
};
void radix_top_k(float const* x, std::uint32_t count, std::uint32_t k, radix_state* state,
                 sparse_elements candidates, sparse_elements out, cudaStream_t stream);

/// dense[place] = value, after zeros everywhere; dense[place] += weight * value.
void scatter(sparse_elements from, std::uint32_t count, float* dense, std::size_t elements,
             cudaStream_t stream);
void scatter_add(sparse_elements from, std::uint32_t count, float weight, float* dense, cudaStream_t stream);

/// y += weight * x
void axpy(float const* x, float weight, float* y, std::size_t count, cudaStream_t stream);

}  // namespace bird::bench
