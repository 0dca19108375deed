/// tile_norm: the norm of a tile, added up in one fixed order.
///
///   tile        [ chunk 0: 1024 elements | chunk 1 | ... | short chunk ]
///   chunk       row 0: x0 .. x63, row 1: x64 .. x127, ...          (lane l takes x_l, x_(l+64), ...)
///   lanes       64 running sums, then lane l += lane l+32, l+16, l+8, l+4, l+2, l+1
///   tile norm   chunk sums added in order, in double, rounded to float once
///
/// Sixty-four lanes suit 16 lanes of AVX-512 times four accumulators, and 16 CUDA threads with 16-byte
/// loads. A missing element counts as zero, and x + 0 = x, so a tile of 8 is a tree of 8.
/// L1 adds |x| in float; L2 adds x * x in double (exact products, no overflow), then takes the root.
#pragma once

#include "bird/packet.hpp"
#include "real.cuh"

namespace bird::rule {

inline constexpr std::uint32_t norm_lanes  = 64;
inline constexpr std::uint32_t chunk_items = 1024;

template <class Sum>
BIRD_RULE Sum reduce_lanes(Sum* lanes)
{
  for (std::uint32_t width = norm_lanes / 2; width > 0; width /= 2) {
    for (std::uint32_t lane = 0; lane < width; ++lane) {
      lanes[lane] += lanes[lane + width];
    }
  }
  return lanes[0];
}

BIRD_RULE void add_term(float& sum, float value) { sum += magnitude(value); }
BIRD_RULE void add_term(double& sum, float value)
{
  sum += static_cast<double>(value) * static_cast<double>(value);
}

/// Sum of |x| (Sum = float) or x * x (Sum = double) over one chunk.
template <class Sum, class T>
BIRD_RULE Sum chunk_sum(T const* elements, std::uint32_t count)
{
  Sum lanes[norm_lanes] = {};
  std::uint32_t row     = 0;
  for (; row + norm_lanes <= count; row += norm_lanes) {
    for (std::uint32_t lane = 0; lane < norm_lanes; ++lane) {
      add_term(lanes[lane], widen(elements[row + lane]));
    }
  }
  for (std::uint32_t lane = 0; row + lane < count; ++lane) {
    add_term(lanes[lane], widen(elements[row + lane]));
  }
  return reduce_lanes(lanes);
}

template <class T>
BIRD_RULE bool has_non_finite(T const* elements, std::uint64_t count)
{
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!is_finite(widen(elements[i]))) {
      return true;
    }
  }
  return false;
}

struct tile_norm {
  float norm;  ///< 0 for a tile with an Inf or NaN: it is never sampled
  bool non_finite;
};

/// Finishes a tile from its sum of chunks. Only a sum that overflowed makes it look at the elements
/// again, so the test for Inf and NaN is free.
template <class T>
BIRD_RULE tile_norm finish_norm(norm kind, double sum, T const* elements, std::uint64_t count)
{
  bool const overflowed = !(sum <= static_cast<double>(largest_float));  // also true for NaN
  if (overflowed && has_non_finite(elements, count)) {
    return {0.0F, true};
  }
  if (kind == norm::l2) {
#if defined(__CUDA_ARCH__)
    return {to_finite_float(__dsqrt_rn(sum)), false};
#else
    return {to_finite_float(__builtin_sqrt(sum)), false};
#endif
  }
  return {to_finite_float(sum), false};
}

/// The specification, one tile at a time.
template <class T>
BIRD_RULE tile_norm norm_of(norm kind, T const* elements, std::uint64_t count)
{
  double sum = 0;
  for (std::uint64_t first = 0; first < count; first += chunk_items) {
    auto const items = static_cast<std::uint32_t>(count - first < chunk_items ? count - first : chunk_items);
    sum += kind == norm::l1 ? static_cast<double>(chunk_sum<float>(elements + first, items))
                            : chunk_sum<double>(elements + first, items);
  }
  return finish_norm(kind, sum, elements, count);
}

}  // namespace bird::rule
