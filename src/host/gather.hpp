/// Collects the kept tiles of one sampled segment into its value region, by the vector.
///
/// The specification is one line an element: narrow_saturating(x * multiplier / scale), or the sign bit of x.
/// Sampled tiles hold no Inf and no NaN.
#pragma once

#include "bird/packet.hpp"
#include "host/stages.hpp"

namespace bird::host {

/// Slots of one chunk, and the tensor that they take their tiles from.
struct gather_work {
  slot const* slots;
  std::uint32_t count;
  std::uint32_t first_tile;  ///< of the segment
  std::uint32_t segment;     ///< its number, for the draws of zero signs
  std::uint64_t stride;      ///< elements of a full tile
  std::uint64_t elements;    ///< of the segment
  void const* data;
  float scale;  ///< a power of two

  [[nodiscard]] std::uint32_t tile(std::uint32_t i) const { return slots[i].tile - first_tile; }
  [[nodiscard]] std::uint32_t items(std::uint32_t tile) const
  {
    std::uint64_t const left = elements - tile * stride;
    return static_cast<std::uint32_t>(left < stride ? left : stride);
  }
};

/// Values of the slots, `stride` a slot, as elements of type `wire` or as bf16.
void gather_values(gather_work const& work, dtype source, dtype wire, std::byte* out);

/// Sign bits of the slots, `stride` a slot, from a word's first bit on.
void gather_signs(gather_work const& work, dtype source, rule::philox_key key, std::uint32_t* out);

}  // namespace bird::host
