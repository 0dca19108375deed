/// Checks the segment table of a packet, and how packets are refused.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>

#include "bird/packet.hpp"
#include "packet_layout.cuh"

namespace bird::packet_check {

/// Throws bad_packet with a line such as "packet: version is 7; this library reads version 1".
template <class Field, class Value>
[[noreturn]] void refuse(Field const& field, Value value, std::string const& rule)
{
  std::ostringstream message;
  message << "packet: " << field << " is " << value << "; " << rule;
  throw bad_packet{message.str()};
}

inline std::string hex(std::uint64_t value)
{
  std::ostringstream text;
  text << "0x" << std::hex << value;
  return text.str();
}

inline std::string number(std::uint64_t value) { return std::to_string(value); }

template <class Code>
void check_code(char const* field, Code code, int largest)
{
  auto const value = static_cast<int>(code);
  if (value < 1 || value > largest) {
    refuse(field, value, "version 1 has 1 to " + std::to_string(largest));
  }
}

/// Checks the segment table, one entry after the other, and its sums.
class table_check {
 public:
  explicit table_check(packet_header const& header) : header_{header} {}

  void add(segment_entry const& segment)
  {
    check_fields(segment);
    switch (segment.role) {
      case segment_role::sampled:
        add_sampled(segment);
        break;
      case segment_role::companion:
        check_companion(segment);
        break;
      case segment_role::dense:
        expect("tile", segment.tile, 0, "a dense segment has no tiles");
        expect("slots", segment.slots, 0, "a dense segment has no slots");
        break;
    }
    check_scale(segment);
    ++number_;
  }

  void finish() const
  {
    if (header_.element_count != elements_) {
      refuse("element_count", header_.element_count, "the segments have " + number(elements_));
    }
    if (header_.slot_count != slots_) {
      refuse("slot_count", header_.slot_count, "the segments have " + number(slots_));
    }
    if ((header_.flags & header_flag::non_finite) != (flags_ & header_flag::non_finite)) {
      refuse("flags", hex(header_.flags), "the segments' flags together are " + hex(flags_));
    }
  }

 private:
  template <class Value>
  [[noreturn]] void refuse_entry(char const* field, Value value, std::string const& rule) const
  {
    refuse("segment " + number(number_) + ": " + field, value, rule);
  }

  void expect(char const* field, std::uint64_t value, std::uint64_t expected, char const* rule) const
  {
    if (value != expected) {
      refuse_entry(field, value, std::string{rule} + ", so it is " + number(expected));
    }
  }

  void check_fields(segment_entry const& segment)
  {
    auto const role = static_cast<int>(segment.role);
    if (role < 1 || role > 3) {
      refuse_entry("role", role, "version 1 has 1 to 3");
    }
    if ((segment.flags & ~header_flag::known) != 0) {
      refuse_entry("flags", hex(segment.flags), "version 1 knows bit 0 only");
    }
    if (segment.flags != 0 && segment.count == 0) {
      refuse_entry("flags", hex(segment.flags), "a segment without elements is finite");
    }
    expect("reserved", segment.reserved, 0, "bytes 14 and 15 are reserved");
    expect("reserved2", segment.reserved2, 0, "bytes 24 to 31 are reserved");
    if (segment.count > rule::max_elements - elements_) {
      refuse_entry("count", segment.count, "a list has at most 2^56 elements");
    }
    elements_ += segment.count;
    flags_ = static_cast<std::uint8_t>(flags_ | segment.flags);
  }

  void add_sampled(segment_entry const& segment)
  {
    if (header_.tile != 0) {
      expect("tile", segment.tile, std::min<std::uint64_t>(header_.tile, segment.count),
             "it is the header's tile or the count if that is less");
    } else if (segment.tile > segment.count || (segment.tile == 0 && segment.count != 0)) {
      refuse_entry("tile", segment.tile, "a row has 1 to count = " + number(segment.count) + " elements");
    }
    std::uint64_t const tiles = rule::tiles_of(segment.count, segment.tile);
    if (tiles > rule::max_tiles - tiles_) {
      refuse_entry("count", segment.count, "a list has at most 2^32 - 2 tiles");
    }
    if (segment.slots > tiles) {
      refuse_entry("slots", segment.slots, "the segment has " + number(tiles) + " tiles");
    }
    tiles_ += tiles;
    slots_ += segment.slots;
    parent_       = &segment;
    parent_tiles_ = tiles;
  }

  void check_companion(segment_entry const& segment) const
  {
    if (parent_ == nullptr) {
      refuse_entry("role", "companion", "a sampled segment must stand before it");
    }
    expect("tile", segment.tile, 0, "a companion has no tiles of its own");
    expect("count", segment.count, parent_tiles_, "a companion has an element for each tile of its segment");
    expect("slots", segment.slots, parent_->slots, "a companion shares the slots of its segment");
  }

  void check_scale(segment_entry const& segment) const
  {
    float const scale = segment.scale;
    if (segment.role == segment_role::dense) {
      if (scale != 1.0F) {
        refuse_entry("scale", scale, "a dense segment has 1");
      }
    } else if (header_.values == values::sign) {
      if (!std::isfinite(scale) || std::signbit(scale)) {
        refuse_entry("scale", scale, "a norm is finite and has no sign");
      }
    } else {
      int exponent = 0;
      if (!std::isnormal(scale) || std::frexp(scale, &exponent) != 0.5F) {
        refuse_entry("scale", scale, "the factor of stored values is a power of two");
      }
    }
  }

  packet_header const& header_;
  std::uint64_t number_        = 0;
  std::uint64_t elements_      = 0;
  std::uint64_t tiles_         = 0;
  std::uint64_t slots_         = 0;
  std::uint8_t flags_          = 0;
  segment_entry const* parent_ = nullptr;  ///< sampled segment that a companion would belong to
  std::uint64_t parent_tiles_  = 0;
};

}  // namespace bird::packet_check
