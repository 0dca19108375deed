/// weight: norms of a segment as integers, so that their sums are exact in any order.
///
///   weight of a tile = its norm / unit, cut to an integer, and at least 1 if the norm is not 0
///   unit             = a power of two, chosen so that the largest norm of the segment gets
///                      weight_bits(tiles) bits
///
/// The sum of all weights of a segment stays below 2^62. A tile of the least norm still has weight 1, hence
/// a positive probability, and since that probability is known exactly, dividing by it is exact as well.
#pragma once

#include "real.cuh"

namespace bird::rule {

inline constexpr std::uint32_t largest_weight_bits = 40;  // 16 more than a float's mantissa
inline constexpr std::uint32_t weight_sum_bits     = 62;

/// Bits of the largest weight among `tiles` tiles.
BIRD_RULE std::uint32_t weight_bits(std::uint64_t tiles)
{
  std::uint32_t const room = weight_sum_bits - bit_width(tiles);
  return room < largest_weight_bits ? room : largest_weight_bits;
}

struct weight_scale {
  std::int32_t shift;  ///< added to a norm's exponent field it gives the shift of the norm's mantissa

  /// @param largest norm of the segment, > 0
  BIRD_RULE weight_scale(float largest, std::uint64_t tiles)
    : shift{static_cast<std::int32_t>(weight_bits(tiles)) - 24 - exponent(bits_of(largest))}
  {
  }

  BIRD_RULE std::uint64_t weight(float norm) const
  {
    std::uint32_t const bits = bits_of(norm);
    if (bits == 0) {
      return 0;
    }
    std::int32_t const places    = shift + exponent(bits);
    std::uint64_t const mantissa = (bits & 0x7FFFFFU) | (bits >= 0x800000U ? 0x800000U : 0U);
    std::uint64_t const weight   = places >= 0 ? mantissa << places : places > -24 ? mantissa >> -places : 0;
    return weight == 0 ? 1 : weight;
  }

  /// The norm that one unit of weight stands for.
  BIRD_RULE double unit() const { return power_of_two(-150 - shift); }

  /// Exponent field of a float without its sign; a sub-normal counts as 1, which makes its value
  /// mantissa * 2^(1 - 150) like that of any other.
  static BIRD_RULE std::int32_t exponent(std::uint32_t bits)
  {
    std::uint32_t const field = bits >> 23;
    return static_cast<std::int32_t>(field == 0 ? 1U : field);
  }
};

/// The norm that each of `slots` slots carries when they share a sum of weights.
BIRD_RULE double norm_per_slot(std::uint64_t total, weight_scale const& scale, std::uint64_t slots)
{
  return static_cast<double>(total) * scale.unit() / static_cast<double>(slots);
}

/// Bins of a histogram over weights: eight to an octave, so weights of one bin differ by less than 1/8.
inline constexpr std::uint32_t weight_bins = (largest_weight_bits + 1) * 8;

BIRD_RULE std::uint32_t weight_bin(std::uint64_t weight)
{
  std::uint32_t const width = bit_width(weight);
  std::uint64_t const three = width > 4 ? weight >> (width - 4) : weight << (4 - width);  // 1xyz
  return width * 8 + static_cast<std::uint32_t>(three & 7U);
}

/// The least weight of a bin.
BIRD_RULE std::uint64_t bin_floor(std::uint32_t bin)
{
  std::uint32_t const width = bin / 8;
  std::uint64_t const three = bin % 8 + 8;
  return width > 4 ? three << (width - 4) : ceil_div(three, std::uint64_t{1} << (4 - width));
}

}  // namespace bird::rule
