/// Exact top-k with the algorithms of the standard library.
#pragma once

#include <cstddef>

#include "bird/span.hpp"
#include "sparse.hpp"

namespace bird::peers {

struct ordered_buffers {
  explicit ordered_buffers(std::size_t capacity) : keys{capacity}, kept{capacity} {}

  array<std::uint32_t> keys;
  sparse_buffer kept;
};

/// std::nth_element on a copy of the magnitudes, then one vectorised pass that keeps what is not smaller.
/// The standard's algorithm is sequential; the copy and the pass use all threads.
/// Exact, ascending in position, of equal elements those that come first. 1 <= k <= gradient.size()
sparse_view nth_element_select(span<float const> gradient, std::size_t k, ordered_buffers& buffers);

/// The same with libstdc++'s parallel nth_element.
sparse_view parallel_nth_element_select(span<float const> gradient, std::size_t k, ordered_buffers& buffers);

/// A heap of the k largest per thread, merged at the end. In no order.
sparse_view heap_top_k(span<float const> gradient, std::size_t k, ordered_buffers& buffers);

}  // namespace bird::peers
