/// A decoder written from include/bird/packet_format.md alone: slow, and sharing no code with the library.
///
/// It trusts its packet (the library's parser is tested by itself) and uses no name of the library, so
/// that agreement of the two shows that the specification says enough.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace reference {

using bytes = std::vector<std::uint8_t>;

/// A little-endian number of `width` bytes.
inline std::uint64_t number(std::uint8_t const* packet, std::uint64_t offset, int width)
{
  std::uint64_t value = 0;
  for (int i = width; i-- > 0;) {
    value = value << 8 | packet[offset + static_cast<std::uint64_t>(i)];
  }
  return value;
}

inline bool bit(std::uint8_t const* packet, std::uint64_t offset, std::uint64_t b)
{
  return (packet[offset + b / 8] >> (b % 8) & 1) != 0;
}

inline std::uint64_t round_up(std::uint64_t offset, std::uint64_t multiple)
{
  return (offset + multiple - 1) / multiple * multiple;
}

/// Floor of the binary logarithm.
inline std::uint64_t log2_floor(std::uint64_t value)
{
  std::uint64_t result = 0;
  while (value >>= 1) {
    ++result;
  }
  return result;
}

inline std::uint32_t checksum(std::uint8_t const* packet, std::uint64_t size)
{
  std::uint64_t sum = 0;
  for (std::uint64_t k = 0; 8 * k < size; ++k) {
    std::uint64_t const w = 8 * k + 8 > size || k == 7 ? number(packet, 8 * k, 4) : number(packet, 8 * k, 8);
    std::uint64_t x       = w + (k + 1) * 0x9E3779B97F4A7C15;
    x                     = (x ^ x >> 32) * 0xFF51AFD7ED558CCD;
    sum += x ^ x >> 29;
  }
  return static_cast<std::uint32_t>((sum & 0xFFFFFFFF) ^ sum >> 32);
}

inline float binary32(std::uint64_t bits)
{
  auto const low = static_cast<std::uint32_t>(bits);
  float value;
  std::memcpy(&value, &low, sizeof value);
  return value;
}

inline float binary16(std::uint64_t bits)
{
  int const exponent    = static_cast<int>(bits >> 10 & 0x1F);
  auto const mantissa   = static_cast<float>(bits & 0x3FF);
  float const magnitude = exponent == 0    ? std::ldexp(mantissa, -24)
                          : exponent == 31 ? (mantissa == 0 ? std::numeric_limits<float>::infinity()
                                                            : std::numeric_limits<float>::quiet_NaN())
                                           : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// Codes of the format.
enum : unsigned { role_sampled = 1, role_dense = 2, role_companion = 3 };
enum : unsigned { dtype_binary32 = 1, dtype_binary16 = 2, dtype_bfloat16 = 3 };
enum : unsigned { values_sign = 1, values_full = 2, values_bf16 = 3 };
enum : unsigned { index_u32 = 1, index_bitmap = 2, index_elias_fano = 3 };
enum : unsigned { sampling_systematic = 2, norm_l2 = 2 };

struct segment {
  std::uint64_t count, tile, slots;
  unsigned role;
  bool non_finite;
  float scale;
  std::uint64_t tiles;       ///< of a sampled segment, or of the one that a companion belongs to
  std::uint64_t first_tile;  ///< number of its first tile in the list
  std::uint64_t first_slot;
};

struct decoded_packet {
  std::vector<segment> segments;
  std::vector<std::uint64_t> slots;          ///< tile number of each
  std::vector<std::vector<float>> elements;  ///< of each segment
  std::uint64_t bytes = 0;                   ///< of the packet
};

class decoder {
 public:
  explicit decoder(std::uint8_t const* packet) : packet_{packet} {}

  decoded_packet decode()
  {
    read_segments();
    std::uint64_t const index  = round_up(64 + 32 * result_.segments.size(), 16);
    std::uint64_t const starts = round_up(index + read_index(index), 16);
    std::uint64_t offset       = round_up(starts + read_starts(starts), 16);
    for (segment const& s : result_.segments) {
      offset = read_region(s, offset);
    }
    result_.bytes = offset;
    return result_;
  }

  /// Adds weight times the packet to the elements of segment number `s`; decode() comes first.
  void apply(std::size_t s, float weight, std::vector<float>& elements) const
  {
    add(result_.segments[s], regions_[s], weight, elements);
  }

 private:
  void read_segments()
  {
    std::uint64_t tile_number = 0, slot_number = 0;
    segment parent{};
    for (std::uint64_t i = 0; i < number(packet_, 12, 4); ++i) {
      std::uint64_t const at = 64 + 32 * i;
      segment s{};
      s.count      = number(packet_, at, 8);
      s.tile       = number(packet_, at + 8, 4);
      s.role       = packet_[at + 12];
      s.non_finite = packet_[at + 13] != 0;
      s.slots      = number(packet_, at + 16, 4);
      s.scale      = binary32(number(packet_, at + 20, 4));
      if (s.role == role_sampled) {
        s.tiles      = s.count == 0 ? 0 : (s.count + s.tile - 1) / s.tile;
        s.first_tile = tile_number;
        s.first_slot = slot_number;
        tile_number += s.tiles;
        slot_number += s.slots;
        parent = s;
      } else if (s.role == role_companion) {
        s.tiles      = parent.tiles;
        s.first_tile = parent.first_tile;
        s.first_slot = parent.first_slot;
      }
      result_.segments.push_back(s);
    }
    tiles_ = tile_number;
    slots_ = slot_number;
  }

  /// @returns bytes of the section
  std::uint64_t read_index(std::uint64_t at)
  {
    if (code(10) == index_u32) {
      for (std::uint64_t i = 0; i < slots_; ++i) {
        result_.slots.push_back(number(packet_, at + 4 * i, 4));
      }
      return 4 * slots_;
    }
    if (code(10) == index_bitmap) {
      for (std::uint64_t x = 0; x < tiles_; ++x) {
        if (bit(packet_, at, x)) {
          result_.slots.push_back(x);  // read_starts() repeats them
        }
      }
      return (tiles_ + 63) / 64 * 8;
    }
    if (slots_ == 0) {
      return 0;
    }
    std::uint64_t const l           = log2_floor(tiles_ / slots_);
    std::uint64_t const upper_bits  = slots_ + (tiles_ >> l) + 1;
    std::uint64_t const upper_bytes = (upper_bits + 63) / 64 * 8;
    for (std::uint64_t p = 0, i = 0; p < upper_bits; ++p) {
      if (bit(packet_, at, p)) {
        std::uint64_t low = 0;
        for (std::uint64_t b = 0; b < l; ++b) {
          low |= std::uint64_t{bit(packet_, at + upper_bytes, i * l + b)} << b;
        }
        result_.slots.push_back((p - i) * (std::uint64_t{1} << l) + low);
        ++i;
      }
    }
    return upper_bytes + (slots_ * l + 63) / 64 * 8;
  }

  std::uint64_t read_starts(std::uint64_t at)
  {
    if (code(10) != index_bitmap || code(8) != sampling_systematic) {
      return 0;
    }
    std::vector<std::uint64_t> const tiles = result_.slots;
    result_.slots.clear();
    std::uint64_t tile = 0;
    for (std::uint64_t i = 0; i < slots_; ++i) {
      tile += bit(packet_, at, i) ? 1U : 0U;
      result_.slots.push_back(tiles[tile - 1]);
    }
    return (slots_ + 63) / 64 * 8;
  }

  unsigned code(std::uint64_t offset) const { return packet_[offset]; }

  std::uint64_t element_bytes(segment const& s) const
  {
    bool const two =
      s.role == role_dense ? code(6) != dtype_binary32 : code(9) == values_bf16 || code(6) != dtype_binary32;
    return two ? 2 : 4;
  }

  /// Element number `i` of a region that holds values.
  float stored(segment const& s, std::uint64_t region, std::uint64_t i) const
  {
    std::uint64_t const width = element_bytes(s);
    std::uint64_t const bits  = number(packet_, region + width * i, static_cast<int>(width));
    if (width == 4) {
      return binary32(bits);
    }
    bool const brain =
      s.role == role_dense ? code(6) == dtype_bfloat16 : code(9) == values_bf16 || code(6) == dtype_bfloat16;
    return brain ? binary32(bits << 16) : binary16(bits);
  }

  float magnitude(segment const& s, std::uint64_t length) const
  {
    if (s.role == role_companion) {
      return s.scale;
    }
    auto const n = static_cast<float>(length);
    return s.scale / (code(11) == norm_l2 ? std::sqrt(n) : n);
  }

  /// Adds weight times what the packet holds of a segment whose region starts at `region`.
  void add(segment const& s, std::uint64_t region, float weight, std::vector<float>& elements) const
  {
    if (s.role == role_dense) {
      for (std::uint64_t e = 0; e < s.count; ++e) {
        elements[e] += weight * stored(s, region, e);
      }
    }
    bool const sign          = code(9) == values_sign;
    std::uint64_t const tile = s.role == role_companion ? 1 : s.tile;
    for (std::uint64_t i = 0; i < s.slots; ++i) {
      std::uint64_t const first  = (result_.slots[s.first_slot + i] - s.first_tile) * tile;
      std::uint64_t const length = s.count - first < tile ? s.count - first : tile;
      for (std::uint64_t e = 0; e < length; ++e) {
        float const value = !sign                                ? stored(s, region, i * tile + e) * s.scale
                            : bit(packet_, region, i * tile + e) ? -magnitude(s, length)
                                                                 : magnitude(s, length);
        elements[first + e] += weight * value;
      }
    }
    if (s.non_finite) {
      elements[0] = std::numeric_limits<float>::quiet_NaN();
    }
  }

  /// @returns where the region after it would start
  std::uint64_t read_region(segment const& s, std::uint64_t offset)
  {
    bool const sign            = s.role != role_dense && code(9) == values_sign;
    std::uint64_t const region = round_up(offset, sign ? 4 : 16);
    std::uint64_t const tile   = s.role == role_companion ? 1 : s.tile;
    // A dense segment is copied: -0 + -0 is -0 and -0 + x is x.
    std::vector<float> elements(s.count, s.role == role_dense ? -0.0F : 0.0F);
    add(s, region, 1, elements);
    result_.elements.push_back(std::move(elements));
    regions_.push_back(region);
    std::uint64_t const items = s.role == role_dense ? s.count : s.slots * tile;
    return sign ? region + round_up((items + 7) / 8, 4) : region + round_up(items * element_bytes(s), 16);
  }

  std::uint8_t const* packet_;
  std::uint64_t tiles_ = 0;
  std::uint64_t slots_ = 0;
  decoded_packet result_;
  std::vector<std::uint64_t> regions_;  ///< offset of each segment's values
};

inline decoded_packet decode(std::uint8_t const* packet) { return decoder{packet}.decode(); }

}  // namespace reference
