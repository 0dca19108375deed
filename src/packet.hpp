/// Where the sections of a packet lie, for its writer and its parser alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bird/packet.hpp"
#include "bird/span.hpp"

namespace bird {

/// Offsets are in bytes from the first byte of the packet.
struct packet_sections {
  std::uint64_t tile_count    = 0;  ///< of all sampled segments
  std::uint64_t slot_count    = 0;  ///< of all sampled segments
  std::uint64_t index_offset  = 0;
  std::uint64_t starts_offset = 0;  ///< equals values_offset where the packet has no such section
  std::uint64_t values_offset = 0;
  std::uint64_t total_bytes   = 0;           ///< of the packet, a multiple of 4
  std::vector<std::uint64_t> region_offset;  ///< of each segment's values
};

/// Lays out a packet from the codings and dtype of its header and from its segment table.
/// Sizes saturate at 2^62 bytes, which no buffer has; counts must be checked against rule::max_elements.
[[nodiscard]] packet_sections sections_of(packet_header const& header, span<segment_entry const> segments);

/// Bytes that no packet of such a list exceeds, when the table holds the most slots of each segment
/// (rule::slots_of). Never falls when slots rise.
[[nodiscard]] std::uint64_t capacity_of(packet_header const& header, span<segment_entry const> segments);

/// What header.checksum must be: of all words of the packet, with that field taken as zero.
/// @param packet 4-byte aligned, of a multiple of 4 bytes and at least a header
[[nodiscard]] std::uint32_t packet_checksum(span<std::byte const> packet);

}  // namespace bird
