/// Reads the index of a packet: which tile each slot names, in order, whatever the coding.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bird/packet.hpp"
#include "packet_layout.cuh"

namespace bird {

/// A section as 64-bit words; sections start at multiples of 16 bytes.
inline std::uint64_t const* section_words(packet_view const& packet, std::size_t offset)
{
  return reinterpret_cast<std::uint64_t const*>(packet.bytes.data() + offset);
}

/// Calls visit(position) for each set bit of a string, ascending.
template <class Visit>
void for_each_bit(std::uint64_t const* words, std::uint64_t bit_count, Visit&& visit)
{
  for (std::uint64_t word = 0; word < rule::ceil_div(bit_count, 64); ++word) {
    for (std::uint64_t rest = words[word]; rest != 0; rest &= rest - 1) {
      visit(word * 64 + static_cast<std::uint64_t>(__builtin_ctzll(rest)));
    }
  }
}

/// Calls visit(slot, tile) for each slot, ascending; `tile` is the number of a tile of the list.
/// The packet's bit strings must have as many set bits as its header says, as a parsed packet's do.
template <class Visit>
void for_each_slot(packet_view const& packet, Visit&& visit)
{
  packet_header const& header = packet.header;
  std::uint64_t slot          = 0;
  switch (header.index) {
    case index::u32: {
      auto const* tiles = reinterpret_cast<std::uint32_t const*>(packet.bytes.data() + packet.index_offset);
      for (; slot < header.slot_count; ++slot) {
        visit(slot, std::uint64_t{tiles[slot]});
      }
      return;
    }
    case index::bitmap: {
      auto const* bitmap = section_words(packet, packet.index_offset);
      if (!rule::has_starts(header.sampling, header.index)) {
        for_each_bit(bitmap, packet.tile_count, [&](std::uint64_t tile) { visit(slot++, tile); });
        return;
      }
      auto const* starts = section_words(packet, packet.starts_offset);
      for_each_bit(bitmap, packet.tile_count, [&](std::uint64_t tile) {
        do {
          visit(slot++, tile);
        } while (slot < header.slot_count && (starts[slot / 64] >> (slot % 64) & 1) == 0);
      });
      return;
    }
    case index::elias_fano: {
      rule::elias_fano const code{packet.tile_count, header.slot_count};
      auto const* upper = section_words(packet, packet.index_offset);
      auto const* lower = upper + code.upper_words();
      auto const width  = code.low_bits();
      for_each_bit(upper, code.upper_bits(), [&](std::uint64_t position) {
        visit(slot, code.number(position, slot, rule::read_bits(lower, slot * width, width)));
        ++slot;
      });
      return;
    }
  }
}

}  // namespace bird
