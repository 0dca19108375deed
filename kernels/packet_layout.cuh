/// packet_layout: where the sections of a packet lie. include/bird/packet_format.md is the specification.
///
///   header         64 bytes
///   segment table  32 bytes a segment
///   index          u32: 4 bytes a slot | bitmap: one bit a tile | elias_fano
///   starts         only bitmap + systematic: one bit a slot, set where a tile's first slot is
///   values         one region a segment: slots * tile elements as bits or values; dense: all elements
///
/// Every section starts at a multiple of 16 bytes and so do full value regions; regions of sign bits start
/// at multiples of 4. All padding is zero. Offsets follow from the slot counts of the segment table.
#pragma once

#include "bird/packet.hpp"
#include "elias_fano.cuh"

namespace bird::rule {

inline constexpr std::uint64_t section_alignment     = 16;
inline constexpr std::uint64_t sign_region_alignment = 4;

/// Largest number of tiles of a list: tile numbers are 32 bits and one value is kept free.
inline constexpr std::uint64_t max_tiles = 0xFFFFFFFFULL - 1;

/// Largest number of elements of a list. More than any memory holds, and small enough that no size that is
/// computed from a segment table overflows 64 bits.
inline constexpr std::uint64_t max_elements = 1ULL << 56;

/// Elements per tile of a sampled segment; `tile` is the option, 0 for rows. Never more than the segment has,
/// so that a short tensor does not pay for a long tile. A whole tensor as one row may exceed the 32 bits of
/// segment_entry::tile, which the caller refuses.
BIRD_RULE std::uint64_t segment_tile(std::uint32_t tile, std::uint32_t row, std::uint64_t count)
{
  std::uint64_t const wanted = tile != 0 ? tile : row;
  return wanted == 0 || wanted > count ? count : wanted;
}

/// Tiles of a sampled segment; the last one may be short.
BIRD_RULE std::uint64_t tiles_of(std::uint64_t count, std::uint64_t tile)
{
  return count == 0 ? 0 : ceil_div(count, tile);
}

/// Slots of a sampled segment at the most: ceil(ratio * tiles), at least one, where the product is
/// rounded to double first.
BIRD_RULE std::uint64_t slots_of(double ratio, std::uint64_t tiles)
{
  double const product = ratio * static_cast<double>(tiles);
  auto const floor     = static_cast<std::uint64_t>(product);
  auto const slots     = floor + (static_cast<double>(floor) < product ? 1 : 0);
  return slots == 0 && tiles != 0 ? 1 : (slots > tiles ? tiles : slots);
}

/// Only here may a tile have several slots; everywhere else slots name distinct tiles.
BIRD_RULE bool repeats_tiles(sampling how) { return how == sampling::systematic; }

BIRD_RULE bool has_starts(sampling how, index names) { return repeats_tiles(how) && names == index::bitmap; }

BIRD_RULE std::uint64_t index_bytes(index names, std::uint64_t tile_count, std::uint64_t slot_count)
{
  switch (names) {
    case index::u32:
      return 4 * slot_count;
    case index::bitmap:
      return 8 * ceil_div(tile_count, 64);
    case index::elias_fano:
      return 8 * elias_fano{tile_count, slot_count}.words();
  }
  return 0;
}

/// What index_bytes() does not exceed for this many slots or fewer.
BIRD_RULE std::uint64_t index_bytes_bound(index names, std::uint64_t tile_count, std::uint64_t slot_count)
{
  return names == index::elias_fano ? 8 * elias_fano{tile_count, slot_count}.words_bound()
                                    : index_bytes(names, tile_count, slot_count);
}

BIRD_RULE std::uint64_t starts_bytes(sampling how, index names, std::uint64_t slot_count)
{
  return has_starts(how, names) ? 8 * ceil_div(slot_count, 64) : 0;
}

/// Where the first three sections start, in bytes from the first byte of the packet.
struct section_offsets {
  std::uint64_t index;
  std::uint64_t starts;  ///< equals `values` where the packet has no such section
  std::uint64_t values;

  BIRD_RULE section_offsets(std::uint64_t segments, sampling how, bird::index names, std::uint64_t tiles,
                            std::uint64_t slots)
    : index{sizeof(packet_header) + segments * sizeof(segment_entry)},
      starts{round_up(index + index_bytes(names, tiles, slots), section_alignment)},
      values{round_up(starts + starts_bytes(how, names, slots), section_alignment)}
  {
    static_assert(sizeof(packet_header) % section_alignment == 0);
    static_assert(sizeof(segment_entry) % section_alignment == 0);
  }
};

/// Bytes of an element of a tensor, whose type has been checked.
BIRD_RULE std::uint32_t type_bytes(dtype type) { return type == dtype::float32 ? 4 : 2; }

/// Bytes of one stored element of a value region that is not sign bits.
BIRD_RULE std::uint32_t stored_element_bytes(values what, segment_role role,
                                             std::uint32_t tensor_element_bytes)
{
  return role != segment_role::dense && what == values::bf16 ? 2 : tensor_element_bytes;
}

/// Elements that a slot has in a segment's value region.
BIRD_RULE std::uint64_t slot_elements(segment_role role, std::uint32_t tile)
{
  return role == segment_role::sampled ? tile : role == segment_role::companion ? 1 : 0;
}

/// Bytes of a segment's value region, padding to the next region included.
/// `tile` is elements per slot, from slot_elements(); `slots` are ignored for a dense segment.
BIRD_RULE std::uint64_t region_bytes(values what, segment_role role, std::uint32_t tensor_element_bytes,
                                     std::uint64_t count, std::uint64_t tile, std::uint64_t slots)
{
  if (role == segment_role::dense) {
    return round_up(count * tensor_element_bytes, section_alignment);
  }
  if (what == values::sign) {
    return round_up(ceil_div(slots * tile, 8), sign_region_alignment);
  }
  return round_up(slots * tile * stored_element_bytes(what, role, tensor_element_bytes), section_alignment);
}

/// Sign-bit regions leave the next region aligned to 4; one that follows and holds values starts at 16.
BIRD_RULE std::uint64_t region_offset(std::uint64_t end_of_last, values what, segment_role role)
{
  return what == values::sign && role != segment_role::dense ? round_up(end_of_last, sign_region_alignment)
                                                             : round_up(end_of_last, section_alignment);
}

inline constexpr std::uint64_t checksum_step   = 0x9E3779B97F4A7C15ULL;  ///< 2^64 over the golden ratio
inline constexpr std::uint64_t checksum_factor = 0xFF51AFD7ED558CCDULL;  ///< of MurmurHash3's finalizer

/// One term of the checksum: position and content of a 64-bit word, mixed by steps that can be undone, so
/// that a change of one word always changes the sum (and its 32-bit fold all but once in 2^32). The sum of
/// all terms modulo 2^64 is independent of order, so a device can add them with atomics. One multiplication a
/// word: a stronger mix cost more than the codec's own work.
BIRD_RULE std::uint64_t checksum_term(std::uint64_t position, std::uint64_t word)
{
  std::uint64_t x = word + (position + 1) * checksum_step;
  x ^= x >> 32;
  x *= checksum_factor;
  return x ^ x >> 29;
}

/// The 32 bits of the header from the sum of terms.
BIRD_RULE std::uint32_t checksum_fold(std::uint64_t sum)
{
  return static_cast<std::uint32_t>(sum) ^ static_cast<std::uint32_t>(sum >> 32);
}

}  // namespace bird::rule
