/// Top-k by a threshold that is estimated instead of searched for.
///
/// Re-implementations of published ideas, not their authors' code: "-like".
#pragma once

#include <cstddef>

#include "bird/span.hpp"
#include "radix_select.hpp"
#include "sparse.hpp"

namespace bird::peers {

struct sampled_buffers {
  explicit sampled_buffers(std::size_t capacity) : sample{capacity, pages::small}, kept{capacity} {}

  array<std::uint32_t> sample;
  sparse_buffer kept;
};

/// How the k-th magnitude of a sample is found.
enum class sample_select { nth_element, radix };

/// Deep Gradient Compression (ICLR 2018), 3: the threshold is the k-th of a sample of 1 % of the elements;
/// if many more pass than wanted, those are selected from exactly. The sample is whole cache lines, one in a
/// hundred, so that it costs one hundredth of a pass.
/// @returns between about 0.7 k and 1.3 k elements, ascending in position
sparse_view dgc_like(span<float const> gradient, std::size_t k, sample_select how, sampled_buffers& buffers);

/// SIDCo (MLSys 2021), 2: magnitudes are taken for exponential; two fits, of all and of those beyond the
/// first threshold (a quarter), give the second threshold.
/// @returns roughly k elements, ascending in position
sparse_view sidco_like(span<float const> gradient, std::size_t k, sampled_buffers& buffers);

/// Exact top-k in one pass over the data, usually: a sample gives a threshold that is too low by five
/// standard deviations, one pass collects what reaches it, and the k largest of those are found. (Floyd and
/// Rivest, "Expected time bounds for selection", CACM 1975.) Ascending in position, of equal elements the
/// first.
sparse_view sampled_select(span<float const> gradient, std::size_t k, sampled_buffers& buffers);

}  // namespace bird::peers
