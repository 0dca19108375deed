/// Exact top-k by radix select: a histogram of the leading bits of |x|, one filtering pass, and the rest of
/// the digits on what is left.
#pragma once

#include <cstddef>

#include "bird/span.hpp"
#include "sparse.hpp"

namespace bird::peers {

/// Room that a radix select works in.
struct radix_buffers {
  explicit radix_buffers(std::size_t capacity) : kept{capacity}, candidates{capacity} {}

  sparse_buffer kept;        ///< elements that are surely among the k largest
  sparse_buffer candidates;  ///< elements of the one bin that holds the k-th
};

/// The k elements of largest magnitude; of equal ones those that come first. k <= gradient.size().
sparse_view radix_select(span<float const> gradient, std::size_t k, radix_buffers& buffers);

/// The k-th largest of `keys` (k from 1), each less than 2^31. May reorder nothing and copies what it needs.
std::uint32_t kth_largest(span<std::uint32_t const> keys, std::size_t k);

}  // namespace bird::peers
