/// What one slot adds to its tile.
#pragma once

#include <vector>

#include "bird/packet.hpp"
#include "dispatch.hpp"
#include "packet.hpp"
#include "values.cuh"

namespace bird::host {

/// Values of one sampled or companion segment of a packet.
class slot_values {
 public:
  slot_values(packet_header const& header, segment_entry const& entry, std::byte const* region,
              std::uint64_t first_slot);

  /// Adds weight * value for elements [first, first + items) of a tile to sums[0 .. items).
  /// @param slot  number in the packet
  /// @param tile_items elements of this tile, which is shorter at a segment's end
  void add(std::uint64_t slot, std::uint32_t tile_items, std::uint32_t first, std::uint32_t items,
           float weight, float* sums) const
  {
    std::uint64_t const at = (slot - first_slot_) * stride_ + first;
    switch (stored_) {
      case stored_as::signs:
        add_signs(at, items, weight * magnitude(tile_items), sums);
        return;
      case stored_as::float32:
        add_values<float>(at, items, weight, sums);
        return;
      case stored_as::float16:
        add_values<rule::half16>(at, items, weight, sums);
        return;
      case stored_as::bfloat16:
        add_values<rule::bfloat16>(at, items, weight, sums);
        return;
    }
  }

  /// The stored values of a slot where they are floats, else null; times scale() they are its values.
  [[nodiscard]] float const* floats(std::uint64_t slot) const
  {
    return stored_ == stored_as::float32
             ? reinterpret_cast<float const*>(region_) + (slot - first_slot_) * stride_
             : nullptr;
  }
  [[nodiscard]] float scale() const { return scale_; }

  [[nodiscard]] std::uint64_t stride() const { return stride_; }

 private:
  enum class stored_as { signs, float32, float16, bfloat16 };

  [[nodiscard]] float magnitude(std::uint32_t tile_items) const
  {
    return companion_ ? scale_ : rule::sign_magnitude(norm_, scale_, tile_items);
  }

  void add_signs(std::uint64_t at, std::uint32_t items, float magnitude, float* sums) const
  {
    auto const* const bytes = reinterpret_cast<std::uint8_t const*>(region_);
    for (std::uint32_t i = 0; i < items; ++i) {
      bool const negative = (bytes[(at + i) / 8] >> (at + i) % 8 & 1) != 0;
      sums[i] += negative ? -magnitude : magnitude;
    }
  }

  // Nothing that is read overlaps the sums; saying so lets the compiler use vectors.
  template <class Stored>
  void add_values(std::uint64_t at, std::uint32_t items, float weight, float* __restrict__ sums) const
  {
    Stored const* __restrict__ const values = reinterpret_cast<Stored const*>(region_) + at;
    float const scale                       = scale_;
    for (std::uint32_t i = 0; i < items; ++i) {
      sums[i] += weight * (rule::widen(values[i]) * scale);
    }
  }

  std::byte const* region_;
  std::uint64_t first_slot_;
  std::uint64_t stride_;
  stored_as stored_;
  bool companion_;
  norm norm_;
  float scale_;
};

/// Where the segments of a packet lie: tiles, slots and values.
struct packet_map {
  struct segment {
    segment_entry entry;
    std::uint64_t first_tile;  ///< sampled: of its own tiles; companion: of its parent's
    std::uint64_t tiles;
    slot_values values;
    std::byte const* region;
  };
  explicit packet_map(packet_view const& packet);

  packet_view packet;
  std::vector<segment> segments;
};

}  // namespace bird::host
