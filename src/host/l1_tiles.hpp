/// Norms and maxima of whole stretches of elements, by the vector.
#pragma once

#include <cstdint>

#include "real.cuh"

namespace bird::host {

/// Sums of |x| of `tiles` whole tiles by the tree of rule::norm_of. A sum may be Inf or NaN.
void l1_tiles(float const* elements, std::uint64_t tile, std::uint64_t tiles, float* norms);
void l1_tiles(rule::half16 const* elements, std::uint64_t tile, std::uint64_t tiles, float* norms);
void l1_tiles(rule::bfloat16 const* elements, std::uint64_t tile, std::uint64_t tiles, float* norms);

/// Largest bit pattern of |x| as a float; at or above infinity's if any is Inf or NaN.
[[nodiscard]] std::uint32_t largest_bits(float const* elements, std::uint64_t count);
[[nodiscard]] std::uint32_t largest_bits(rule::half16 const* elements, std::uint64_t count);
[[nodiscard]] std::uint32_t largest_bits(rule::bfloat16 const* elements, std::uint64_t count);

}  // namespace bird::host
