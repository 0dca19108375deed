#include "host/slot_values.hpp"

#include "packet_layout.cuh"

namespace bird::host {
slot_values::slot_values(packet_header const& header, segment_entry const& entry, std::byte const* region,
                         std::uint64_t first_slot)
  : region_{region},
    first_slot_{first_slot},
    stride_{entry.role == segment_role::companion ? 1 : entry.tile},
    companion_{entry.role == segment_role::companion},
    norm_{header.norm},
    scale_{entry.scale}
{
  switch (header.values) {
    case values::sign:
      stored_ = stored_as::signs;
      return;
    case values::bf16:
      stored_ = stored_as::bfloat16;
      return;
    case values::full:
      stored_ = header.type == dtype::float32   ? stored_as::float32
                : header.type == dtype::float16 ? stored_as::float16
                                                : stored_as::bfloat16;
      return;
  }
}

packet_map::packet_map(packet_view const& view) : packet{view}
{
  packet_sections const sections = sections_of(view.header, view.segments);
  std::uint64_t tiles            = 0;
  std::uint64_t slots            = 0;
  std::uint64_t first_tile       = 0;  // of the last sampled segment, whose slots its companions share
  std::uint64_t first_slot       = 0;
  for (std::size_t number = 0; number < view.segments.size(); ++number) {
    segment_entry const& entry    = view.segments[number];
    std::byte const* const region = view.bytes.data() + sections.region_offset[number];
    std::uint64_t own             = 0;
    if (entry.role == segment_role::sampled) {
      own        = rule::tiles_of(entry.count, entry.tile);
      first_tile = tiles;
      first_slot = slots;
      tiles += own;
      slots += entry.slots;
    }
    segments.push_back({entry, first_tile, own, slot_values{view.header, entry, region, first_slot}, region});
  }
}

}  // namespace bird::host
