/// Writes packets by hand, from include/bird/packet_format.md alone, so that the parser can be tested with
/// any content: sound packets, and packets that no encoder would write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bird/span.hpp"
#include "reference_decoder.hpp"

namespace reference {

/// A buffer whose first byte lies at a multiple of 16.
class aligned_bytes {
 public:
  explicit aligned_bytes(bytes const& content) : storage_((content.size() + 15) / 16), size_{content.size()}
  {
    if (size_ != 0) {
      std::memcpy(storage_.data(), content.data(), size_);
    }
  }
  bird::span<std::byte const> span() const
  {
    return {reinterpret_cast<std::byte const*>(storage_.data()), size_};
  }

 private:
  struct alignas(16) block {
    std::uint8_t bytes[16];
  };
  std::vector<block> storage_;
  std::size_t size_;
};

struct segment_recipe {
  unsigned role       = role_sampled;
  std::uint64_t count = 0;
  std::uint64_t tile  = 0;            ///< as it stands in the table
  std::vector<std::uint64_t> tiles;   ///< of each slot, numbered within this segment
  std::vector<std::uint64_t> stored;  ///< bits of each stored element
  float scale     = 1;
  bool non_finite = false;
};

struct packet_recipe {
  unsigned dtype          = dtype_binary32;
  unsigned sampling       = sampling_systematic;
  unsigned values         = values_full;
  unsigned index          = index_u32;
  unsigned norm           = 1;
  std::uint64_t tile      = 0;
  std::uint64_t seed      = 0;
  std::uint64_t step      = 0;
  std::uint64_t tensor_id = 0;
  std::vector<segment_recipe> segments;
};

inline void put(bytes& packet, std::uint64_t offset, std::uint64_t value, int width)
{
  for (int i = 0; i < width; ++i) {
    packet[offset + static_cast<std::uint64_t>(i)] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

inline void set_bit(bytes& packet, std::uint64_t offset, std::uint64_t b)
{
  packet[offset + b / 8] = static_cast<std::uint8_t>(packet[offset + b / 8] | 1U << (b % 8));
}

inline void seal(bytes& packet) { put(packet, 60, checksum(packet.data(), packet.size()), 4); }

inline std::uint64_t bits_of(float value)
{
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// The bytes of a recipe, whether or not they make a sound packet.
class builder {
 public:
  explicit builder(packet_recipe const& recipe) : recipe_{recipe} {}

  bytes build()
  {
    lay_out_table();
    write_header();
    write_index();
    write_starts();
    packet_.resize(round_up(packet_.size(), 16));
    for (segment_recipe const& s : recipe_.segments) {
      write_region(s);
    }
    put(packet_, 24, packet_.size(), 8);  // a capacity of exactly this packet
    seal(packet_);
    return packet_;
  }

 private:
  void lay_out_table()
  {
    packet_.resize(round_up(64 + 32 * recipe_.segments.size(), 16));
    std::uint64_t parent_slots = 0;
    for (std::size_t i = 0; i < recipe_.segments.size(); ++i) {
      segment_recipe const& s = recipe_.segments[i];
      std::uint64_t const at  = 64 + 32 * i;
      if (s.role == role_sampled) {
        parent_slots = s.tiles.size();
        for (std::uint64_t tile : s.tiles) {
          slots_.push_back(tiles_ + tile);
        }
        tiles_ += s.count == 0 ? 0 : (s.count + s.tile - 1) / s.tile;
      }
      elements_ += s.count;
      non_finite_ = non_finite_ || s.non_finite;
      put(packet_, at, s.count, 8);
      put(packet_, at + 8, s.tile, 4);
      put(packet_, at + 12, s.role, 1);
      put(packet_, at + 13, s.non_finite ? 1 : 0, 1);
      put(packet_, at + 16, s.role == role_dense ? 0 : parent_slots, 4);
      put(packet_, at + 20, bits_of(s.scale), 4);
    }
  }

  void write_header()
  {
    std::memcpy(packet_.data(), "BIRD", 4);
    put(packet_, 4, 1, 2);
    put(packet_, 6, recipe_.dtype, 1);
    put(packet_, 7, non_finite_ ? 1 : 0, 1);
    put(packet_, 8, recipe_.sampling, 1);
    put(packet_, 9, recipe_.values, 1);
    put(packet_, 10, recipe_.index, 1);
    put(packet_, 11, recipe_.norm, 1);
    put(packet_, 12, recipe_.segments.size(), 4);
    put(packet_, 16, elements_, 8);
    put(packet_, 32, slots_.size(), 8);
    put(packet_, 40, recipe_.seed, 8);
    put(packet_, 48, recipe_.step, 4);
    put(packet_, 52, recipe_.tensor_id, 4);
    put(packet_, 56, recipe_.tile, 4);
  }

  void write_index()
  {
    std::uint64_t const at = packet_.size();
    if (recipe_.index == index_u32) {
      packet_.resize(at + 4 * slots_.size());
      for (std::size_t i = 0; i < slots_.size(); ++i) {
        put(packet_, at + 4 * i, slots_[i], 4);
      }
    } else if (recipe_.index == index_bitmap) {
      packet_.resize(at + (tiles_ + 63) / 64 * 8);
      for (std::uint64_t tile : slots_) {
        set_bit(packet_, at, tile);
      }
    } else if (!slots_.empty()) {
      std::uint64_t const l     = log2_floor(tiles_ / slots_.size());
      std::uint64_t const lower = at + (slots_.size() + (tiles_ >> l) + 1 + 63) / 64 * 8;
      packet_.resize(lower + (slots_.size() * l + 63) / 64 * 8);
      for (std::uint64_t i = 0; i < slots_.size(); ++i) {
        set_bit(packet_, at, (slots_[i] >> l) + i);
        for (std::uint64_t b = 0; b < l; ++b) {
          if ((slots_[i] >> b & 1) != 0) {
            set_bit(packet_, lower, i * l + b);
          }
        }
      }
    }
    packet_.resize(round_up(packet_.size(), 16));
  }

  void write_starts()
  {
    if (recipe_.index != index_bitmap || recipe_.sampling != sampling_systematic) {
      return;
    }
    std::uint64_t const at = packet_.size();
    packet_.resize(at + (slots_.size() + 63) / 64 * 8);
    for (std::uint64_t i = 0; i < slots_.size(); ++i) {
      if (i == 0 || slots_[i] != slots_[i - 1]) {
        set_bit(packet_, at, i);
      }
    }
  }

  void write_region(segment_recipe const& s)
  {
    bool const sign        = s.role != role_dense && recipe_.values == values_sign;
    std::uint64_t const at = round_up(packet_.size(), sign ? 4 : 16);
    if (sign) {
      packet_.resize(at + round_up((s.stored.size() + 7) / 8, 4));
      for (std::size_t i = 0; i < s.stored.size(); ++i) {
        if (s.stored[i] != 0) {
          set_bit(packet_, at, i);
        }
      }
      return;
    }
    bool const two =
      recipe_.dtype != dtype_binary32 || (s.role != role_dense && recipe_.values == values_bf16);
    int const width = two ? 2 : 4;
    auto const step = static_cast<std::uint64_t>(width);
    packet_.resize(at + round_up(s.stored.size() * step, 16));
    for (std::size_t i = 0; i < s.stored.size(); ++i) {
      put(packet_, at + i * step, s.stored[i], width);
    }
  }

  packet_recipe const& recipe_;
  bytes packet_;
  std::vector<std::uint64_t> slots_;
  std::uint64_t tiles_    = 0;
  std::uint64_t elements_ = 0;
  bool non_finite_        = false;
};

inline bytes build(packet_recipe const& recipe) { return builder{recipe}.build(); }

}  // namespace reference
