/// Exact top-k by quickselect on |x|: vectorised partitions, out of place, around the median of a sample.
#pragma once

#include <cstddef>

#include "bird/span.hpp"
#include "sparse.hpp"

namespace bird::peers {

/// Partitions read one of the three and write the other two.
struct quickselect_buffers {
  explicit quickselect_buffers(std::size_t capacity)
    : keys{array<std::uint32_t>{capacity}, array<std::uint32_t>{capacity}, array<std::uint32_t>{capacity}},
      kept{capacity}
  {
  }

  array<std::uint32_t> keys[3];
  sparse_buffer kept;
};

/// The k elements of largest magnitude, ascending in position; of equal ones those that come first.
/// The partitions run on one thread, the last pass on all. 1 <= k <= gradient.size()
sparse_view quickselect(span<float const> gradient, std::size_t k, quickselect_buffers& buffers);

}  // namespace bird::peers
