/// Checks packets: after parse_packet() everything that a packet says of itself is true of its bytes.
///
/// Nothing in a packet is believed before it is checked, in this order: header, segment table, sizes,
/// index, padding, checksum. Sums of what the table says cannot overflow, because each count is bounded by
/// rule::max_elements before it is used.
#include "packet.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "packet_index.hpp"
#include "packet_table.hpp"

namespace bird {
namespace {

using packet_check::check_code;
using packet_check::hex;
using packet_check::number;
using packet_check::refuse;
using packet_check::table_check;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "packets are little-endian and read in place");

constexpr std::uint64_t packet_alignment = 16;
constexpr std::uint64_t no_such_size     = 1ULL << 62;

packet_header read_header(span<std::byte const> bytes)
{
  if (bytes.size() < sizeof(packet_header)) {
    refuse("size", bytes.size(), "a header has 64 bytes");
  }
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % packet_alignment != 0) {
    refuse("address", static_cast<void const*>(bytes.data()), "it must be a multiple of 16");
  }
  packet_header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != packet_magic) {
    refuse("magic", hex(header.magic), "a packet starts with " + hex(packet_magic) + " (\"BIRD\")");
  }
  if (header.version != packet_version) {
    refuse("version", header.version, "this library reads version 1");
  }
  check_code("dtype", header.type, 3);
  if ((header.flags & ~header_flag::known) != 0) {
    refuse("flags", hex(header.flags), "version 1 knows bit 0 only");
  }
  check_code("sampling", header.sampling, 4);
  check_code("values", header.values, 3);
  check_code("index", header.index, 3);
  check_code("norm", header.norm, 2);
  return header;
}

span<segment_entry const> read_segments(span<std::byte const> bytes, packet_header const& header)
{
  if (header.segment_count > (bytes.size() - sizeof header) / sizeof(segment_entry)) {
    refuse("segment_count", header.segment_count,
           "the table does not lie inside " + number(bytes.size()) + " bytes");
  }
  return {reinterpret_cast<segment_entry const*>(bytes.data() + sizeof header), header.segment_count};
}

void check_capacity(packet_header const& header, span<segment_entry const> segments, std::uint64_t bytes)
{
  if (header.capacity < bytes) {
    refuse("capacity", header.capacity, "the packet has " + number(bytes) + " bytes");
  }
  // A receiver may reserve this much, so it is no more than the packet of all tiles takes.
  std::vector<segment_entry> full(segments.begin(), segments.end());
  std::uint32_t tiles = 0;
  for (segment_entry& segment : full) {
    if (segment.role == segment_role::sampled) {
      tiles = static_cast<std::uint32_t>(rule::tiles_of(segment.count, segment.tile));
    }
    segment.slots = segment.role == segment_role::dense ? 0 : tiles;
  }
  std::uint64_t const largest = capacity_of(header, full);
  if (header.capacity > largest) {
    refuse("capacity", header.capacity, "such a list never needs more than " + number(largest));
  }
}

/// What header and segment table say, checked without a look at the sections.
struct checked_table {
  packet_header header;
  span<segment_entry const> segments;
  packet_sections sections;
};

checked_table read_table(span<std::byte const> bytes)
{
  checked_table table;
  table.header   = read_header(bytes);
  table.segments = read_segments(bytes, table.header);
  table_check check{table.header};
  for (segment_entry const& segment : table.segments) {
    check.add(segment);
  }
  check.finish();
  table.sections = sections_of(table.header, table.segments);
  check_capacity(table.header, table.segments, table.sections.total_bytes);
  return table;
}

/// Checks that a run of bits of the packet, first to last, is padding.
void check_padding(packet_view const& packet, std::uint64_t first, std::uint64_t last, char const* where)
{
  auto const byte_at   = [&](std::uint64_t byte) { return std::to_integer<unsigned>(packet.bytes[byte]); };
  auto const refuse_at = [&](std::uint64_t byte) {
    refuse("byte " + number(byte), hex(byte_at(byte)), std::string{"padding of the "} + where + " is zero");
  };
  if (first == last) {
    return;
  }
  std::uint64_t byte = first / 8;
  if (byte == last / 8) {
    if ((byte_at(byte) >> (first % 8) & ((1U << (last - first)) - 1)) != 0) {
      refuse_at(byte);
    }
    return;
  }
  if (byte_at(byte) >> (first % 8) != 0) {
    refuse_at(byte);
  }
  while (++byte < last / 8) {
    if (byte_at(byte) != 0) {
      refuse_at(byte);
    }
  }
  if (last % 8 != 0 && (byte_at(byte) & ((1U << (last % 8)) - 1)) != 0) {
    refuse_at(byte);
  }
}

std::uint64_t count_bits(std::uint64_t const* words, std::uint64_t bit_count)
{
  std::uint64_t count = 0;
  for (std::uint64_t word = 0; word < rule::ceil_div(bit_count, 64); ++word) {
    count += static_cast<std::uint64_t>(__builtin_popcountll(words[word]));
  }
  return count;
}

void expect_bits(char const* what, std::uint64_t bits, std::uint64_t expected, char const* rule)
{
  if (bits != expected) {
    refuse(what, bits, std::string{rule} + number(expected));
  }
}

/// Checks the bit strings of index and starts, so that for_each_slot() stays inside them.
void check_index_bits(packet_view const& packet)
{
  packet_header const& header = packet.header;
  std::uint64_t const index   = packet.index_offset * 8;
  std::uint64_t const starts  = packet.starts_offset * 8;
  auto const* words           = section_words(packet, packet.index_offset);
  switch (header.index) {
    case index::u32:
      check_padding(packet, index + 32 * header.slot_count, starts, "index");
      return;
    case index::bitmap: {
      check_padding(packet, index + packet.tile_count, starts, "index");
      std::uint64_t const tiles = count_bits(words, packet.tile_count);
      if (!rule::has_starts(header.sampling, header.index)) {
        expect_bits("number of tiles in the bitmap", tiles, header.slot_count, "the header's slot_count is ");
        return;
      }
      auto const* first = section_words(packet, packet.starts_offset);
      check_padding(packet, starts + header.slot_count, packet.values_offset * 8, "starts");
      expect_bits("number of starts", count_bits(first, header.slot_count), tiles,
                  "the number of tiles in the bitmap is ");
      if (header.slot_count != 0 && (first[0] & 1) == 0) {
        refuse("starts bit 0", 0, "the first slot is its tile's first");
      }
      return;
    }
    case index::elias_fano: {
      rule::elias_fano const code{packet.tile_count, header.slot_count};
      std::uint64_t const lower = index + 64 * code.upper_words();
      check_padding(packet, index + code.upper_bits(), lower, "index (upper part)");
      check_padding(packet, lower + header.slot_count * code.low_bits(), starts, "index (lower part)");
      expect_bits("number of bits in the upper part of the index", count_bits(words, code.upper_bits()),
                  header.slot_count, "the header's slot_count is ");
      return;
    }
  }
}

/// Bits of one stored element of a segment's values.
std::uint64_t element_bits(packet_header const& header, segment_role role)
{
  if (role != segment_role::dense && header.values == values::sign) {
    return 1;
  }
  return 8 * rule::stored_element_bytes(header.values, role, element_bytes(header.type));
}

/// Checks the tile of every slot: sorted, in its segment, and with nothing stored beyond a short tile.
class slot_check {
 public:
  slot_check(packet_view const& packet, packet_sections const& sections)
    : packet_{packet}, sections_{sections}, repeats_{rule::repeats_tiles(packet.header.sampling)}
  {
  }

  void operator()(std::uint64_t slot, std::uint64_t tile)
  {
    while (slot - first_slot_ == slots_) {
      enter_next_segment();
    }
    if (tile < first_tile_ || tile - first_tile_ >= tiles_) {
      refuse("tile of slot " + number(slot), tile,
             "segment " + number(segment_) + " has tiles " + number(first_tile_) + " to " +
               number(first_tile_ + tiles_ - 1));
    }
    if (slot != 0 && (tile < last_tile_ || (tile == last_tile_ && !repeats_))) {
      refuse("tile of slot " + number(slot), tile,
             "it follows tile " + number(last_tile_) + ", and tiles " +
               (repeats_ ? "never descend" : "ascend strictly"));
    }
    last_tile_                 = tile;
    segment_entry const& entry = packet_.segments[segment_];
    if (tile - first_tile_ == tiles_ - 1 && entry.count % entry.tile != 0) {
      check_short_tile(entry, slot - first_slot_);
    }
  }

 private:
  /// There is one, since the slots of the table add up to the header's.
  void enter_next_segment()
  {
    first_slot_ += slots_;
    first_tile_ += tiles_;
    do {
      ++segment_;
    } while (packet_.segments[segment_].role != segment_role::sampled);
    slots_ = packet_.segments[segment_].slots;
    tiles_ = rule::tiles_of(packet_.segments[segment_].count, packet_.segments[segment_].tile);
  }

  void check_short_tile(segment_entry const& entry, std::uint64_t slot_of_segment) const
  {
    std::uint64_t const bits  = element_bits(packet_.header, entry.role);
    std::uint64_t const first = sections_.region_offset[segment_] * 8 + slot_of_segment * entry.tile * bits;
    check_padding(packet_, first + entry.count % entry.tile * bits, first + entry.tile * bits, "last tile");
  }

  packet_view const& packet_;
  packet_sections const& sections_;
  bool const repeats_;
  std::size_t segment_      = static_cast<std::size_t>(-1);  ///< the first call enters segment 0
  std::uint64_t first_slot_ = 0;
  std::uint64_t slots_      = 0;
  std::uint64_t first_tile_ = 0;
  std::uint64_t tiles_      = 0;
  std::uint64_t last_tile_  = 0;
};

/// Checks that nothing stands between the regions of values.
void check_value_padding(packet_view const& packet, packet_sections const& sections)
{
  for (std::size_t s = 0; s < packet.segments.size(); ++s) {
    segment_entry const& entry   = packet.segments[s];
    std::uint64_t const elements = entry.role == segment_role::dense
                                     ? entry.count
                                     : entry.slots * rule::slot_elements(entry.role, entry.tile);
    std::uint64_t const end =
      sections.region_offset[s] * 8 + elements * element_bits(packet.header, entry.role);
    std::uint64_t const next =
      s + 1 < packet.segments.size() ? sections.region_offset[s + 1] : sections.total_bytes;
    check_padding(packet, end, next * 8, "values");
  }
}

}  // namespace

packet_sections sections_of(packet_header const& header, span<segment_entry const> segments)
{
  packet_sections sections;
  for (segment_entry const& segment : segments) {
    if (segment.role == segment_role::sampled) {
      sections.tile_count += rule::tiles_of(segment.count, segment.tile);
      sections.slot_count += segment.slots;
    }
  }
  rule::section_offsets const offsets{segments.size(), header.sampling, header.index, sections.tile_count,
                                      sections.slot_count};
  sections.index_offset  = offsets.index;
  sections.starts_offset = offsets.starts;
  sections.values_offset = offsets.values;
  std::uint64_t end      = sections.values_offset;
  sections.region_offset.reserve(segments.size());
  for (segment_entry const& segment : segments) {
    sections.region_offset.push_back(rule::region_offset(end, header.values, segment.role));
    end = sections.region_offset.back() +
          rule::region_bytes(header.values, segment.role, element_bytes(header.type), segment.count,
                             rule::slot_elements(segment.role, segment.tile), segment.slots);
    end = std::min(end, no_such_size);
  }
  sections.total_bytes = end;
  return sections;
}

std::uint64_t capacity_of(packet_header const& header, span<segment_entry const> segments)
{
  packet_sections const sections = sections_of(header, segments);
  // The values start after an index of the bound's size; all later offsets move with them.
  std::uint64_t const bound = rule::round_up(
    rule::index_bytes_bound(header.index, sections.tile_count, sections.slot_count), rule::section_alignment);
  return sections.total_bytes + bound - (sections.starts_offset - sections.index_offset);
}

std::size_t packet_bytes(span<std::byte const> bytes) { return read_table(bytes).sections.total_bytes; }

packet_view parse_packet(span<std::byte const> bytes)
{
  checked_table const table       = read_table(bytes);
  packet_sections const& sections = table.sections;
  if (bytes.size() < sections.total_bytes) {
    refuse("size", bytes.size(), "the packet has " + number(sections.total_bytes) + " bytes");
  }
  packet_view const packet{table.header,          table.segments,        bytes.first(sections.total_bytes),
                           sections.tile_count,   sections.index_offset, sections.starts_offset,
                           sections.values_offset};
  check_index_bits(packet);
  for_each_slot(packet, slot_check{packet, sections});
  check_value_padding(packet, sections);
  std::uint32_t const checksum = packet_checksum(packet.bytes);
  if (table.header.checksum != checksum) {
    refuse("checksum", hex(table.header.checksum), "its bytes have " + hex(checksum));
  }
  return packet;
}

}  // namespace bird
