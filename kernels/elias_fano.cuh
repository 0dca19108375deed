/// elias_fano: a sorted list of `count` numbers below `universe`, repeats allowed.
///
/// Elias, "Efficient storage and retrieval by content and address of static files" (JACM 1974), 2;
/// Vigna, "Quasi-succinct indices" (WSDM 2013), 3. Each number is cut at bit l = floor(log2(universe /
/// count)):
///
///   upper  bit string; number i sets bit (x_i >> l) + i            count + (universe >> l) + 1 bits
///   lower  the l low bits of each number, one after the other      count * l bits
///
/// Both parts start at a multiple of 8 bytes and their unused bits are zero. The size follows from
/// (universe, count) alone, and every number can be written by itself: number i touches upper bit
/// (x_i >> l) + i and lower bits [i * l, (i + 1) * l).
#pragma once

#include "rule.cuh"

namespace bird::rule {

struct elias_fano {
  std::uint64_t universe;
  std::uint64_t count;

  /// l: low bits kept of each number.
  BIRD_RULE std::uint32_t low_bits() const
  {
    return count == 0 || universe <= count ? 0 : bit_width(universe / count) - 1;
  }
  BIRD_RULE std::uint64_t upper_bits() const { return count == 0 ? 0 : count + (universe >> low_bits()) + 1; }
  BIRD_RULE std::uint64_t upper_words() const { return ceil_div(upper_bits(), 64); }
  BIRD_RULE std::uint64_t lower_words() const { return ceil_div(count * low_bits(), 64); }
  BIRD_RULE std::uint64_t words() const { return upper_words() + lower_words(); }

  /// What words() does not exceed for this count or a smaller one. The bits of both parts together grow
  /// with count, but words() itself may fall by one when l does, because each part is padded.
  BIRD_RULE std::uint64_t words_bound() const
  {
    return count == 0 ? 0 : ceil_div(upper_bits() + count * low_bits(), 64) + 1;
  }

  /// Bit of the upper part that number `x`, the i-th, sets.
  BIRD_RULE std::uint64_t upper_position(std::uint64_t x, std::uint64_t i) const
  {
    return (x >> low_bits()) + i;
  }
  /// The i-th number, when its bit is at `position` of the upper part.
  BIRD_RULE std::uint64_t number(std::uint64_t position, std::uint64_t i, std::uint64_t low) const
  {
    return (position - i) << low_bits() | low;
  }
};

/// Reads `width` (at most 32) bits at bit `position` of a little-endian word string.
BIRD_RULE std::uint64_t read_bits(std::uint64_t const* words, std::uint64_t position, std::uint32_t width)
{
  if (width == 0) {
    return 0;
  }
  std::uint64_t const word  = position / 64;
  std::uint32_t const shift = position % 64;
  std::uint64_t value       = words[word] >> shift;
  if (shift + width > 64) {
    value |= words[word + 1] << (64 - shift);
  }
  return value & ((std::uint64_t{1} << width) - 1);
}

}  // namespace bird::rule
