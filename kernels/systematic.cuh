/// systematic: exactly K slots, each tile's expected number of them proportional to its weight.
///
///   weights laid end to end   |--w0--|-w1-|----w2----|w3|---- ... ----|   total W
///   slots at                      ^        ^        ^        ^           position(s) = (s W + r) / K, r
///   uniform in [0, W)
///
/// Tile j owns the slots whose positions fall into its stretch. Over the W values of r it owns
/// exactly K w_j of them in all, so the expected number is exactly K w_j / W: no rounding anywhere.
/// The running sum of the weights also gives a tile's first slot, so the scan that samples compacts.
/// (Systematic sampling with probability proportional to size: Madow, Ann. Math. Stat. 20, 1949.)
///
/// `certain` tiles stand outside this: with values that are sent in full, a tile that would own more than
/// one slot gets exactly one and the rest of the slots go to the others (Cochran, "Sampling techniques",
/// 3rd ed., 9A.10: units drawn with certainty). The certain tiles are those of the highest bins of the weight
/// histogram, taken while every tile of the bin would own a slot; tiles that remain may own up to 9/8 slots.
#pragma once

#include "draw.cuh"
#include "weight.cuh"

namespace bird::rule {

struct systematic {
  std::uint64_t total;   ///< W: sum of the weights of the tiles that are not certain
  std::uint64_t offset;  ///< r
  std::uint32_t slots;   ///< K: slots that these tiles share

  /// (slot * W + r) / K without a number of more than 64 bits: of W and r in units of K, only the rests are
  /// multiplied, and (K - 1)^2 + K - 1 < 2^64.
  BIRD_RULE std::uint64_t position(std::uint64_t slot) const
  {
    return slot * (total / slots) + offset / slots + (slot * (total % slots) + offset % slots) / slots;
  }

  /// Number of slots that lie below a running sum of weights.
  BIRD_RULE std::uint64_t slots_below(std::uint64_t sum) const
  {
    uint128 const scaled = static_cast<uint128>(sum) * slots;
    return scaled <= offset ? 0 : static_cast<std::uint64_t>((scaled - offset + total - 1) / total);
  }

  /// One over the expected number of slots of a tile.
  BIRD_RULE float multiplier(std::uint64_t weight) const
  {
    return static_cast<float>(static_cast<double>(total) / static_cast<double>(slots) /
                              static_cast<double>(weight));
  }
};

/// The random offset r of a segment.
BIRD_RULE std::uint64_t systematic_offset(philox_key key, std::uint32_t segment, std::uint64_t total)
{
  philox_block const block = draw_block(key, segment, purpose::offset, 0);
  return below(total, static_cast<std::uint64_t>(block.word[1]) << 32 | block.word[0]);
}

/// Positions of successive slots without a division each: position(s + 1) = position(s) + W / K.
class slot_walk {
 public:
  BIRD_RULE slot_walk(systematic const& s, std::uint64_t slot)
    : step_{s.total / s.slots}, rest_{s.total % s.slots}, slots_{s.slots}
  {
    uint128 const scaled = static_cast<uint128>(slot) * s.total + s.offset;
    position_            = static_cast<std::uint64_t>(scaled / s.slots);
    remainder_           = static_cast<std::uint64_t>(scaled % s.slots);
  }
  [[nodiscard]] BIRD_RULE std::uint64_t position() const { return position_; }
  BIRD_RULE void advance()
  {
    position_ += step_;
    remainder_ += rest_;
    if (remainder_ >= slots_) {
      remainder_ -= slots_;
      ++position_;
    }
  }

 private:
  std::uint64_t step_, rest_, slots_, position_, remainder_;
};

/// What is known of one bin of the weight histogram.
struct weight_bin_sum {
  std::uint64_t sum;
  std::uint64_t count;
};

/// The certain tiles of a segment: those with weight >= threshold.
struct certain_tiles {
  std::uint64_t threshold;  ///< above every weight when there are none
  std::uint64_t count;
  std::uint64_t sum;  ///< of their weights
};

inline constexpr std::uint64_t no_threshold = ~std::uint64_t{0};

/// @param bins  weight_bins entries; what they hold of all tiles together is in `all`
/// @param slots K of the segment
BIRD_RULE certain_tiles choose_certain(weight_bin_sum const* bins, weight_bin_sum all, std::uint64_t slots)
{
  if (all.count <= slots) {  // a slot for everybody
    return {1, all.count, all.sum};
  }
  certain_tiles certain{no_threshold, 0, 0};
  for (std::uint32_t bin = weight_bins; bin-- > 8;) {
    if (bins[bin].count == 0) {
      continue;
    }
    std::uint64_t const rest = all.sum - certain.sum;
    bool const all_own_one   = static_cast<uint128>(bin_floor(bin)) * (slots - certain.count) >= rest;
    if (!all_own_one) {
      break;
    }
    certain = {bin_floor(bin), certain.count + bins[bin].count, certain.sum + bins[bin].sum};
  }
  return certain;
}

}  // namespace bird::rule
