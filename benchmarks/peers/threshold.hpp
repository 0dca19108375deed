/// Elements above a threshold: the inner loop of every threshold compressor, in one vectorised pass.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bird/span.hpp"
#include "sparse.hpp"

namespace bird::peers {

/// Elements with magnitude_bits(x) >= threshold, in ascending order of position.
sparse_view compress_above(span<float const> gradient, std::uint32_t threshold, sparse_buffer& kept);

/// Sum of |x| over the elements with magnitude_bits(x) >= threshold, and how many those are.
struct tail {
  double sum;
  std::size_t count;
};
tail sum_above(span<float const> gradient, std::uint32_t threshold);

/// Copies magnitude_bits of runs of 16 elements, one run of every `stride` runs, to `sample`.
/// @returns elements copied
std::size_t sample_runs(span<float const> gradient, std::size_t stride, std::uint32_t* sample);

}  // namespace bird::peers
