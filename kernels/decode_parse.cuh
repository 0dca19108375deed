/// decode, parse: header and table of a packet against the tensors, and where its parts lie.
///
/// Nothing that a packet says is used as an address before it has been bounded here.
#pragma once

#include "atomics.cuh"
#include "block.cuh"
#include "decode.cuh"
#include "real.cuh"

namespace bird::device {

__device__ inline void fail(decode_work const& w, std::uint32_t packet, decode_failure why)
{
  raise(&w.control->failure, encode_failure(packet, why));
}

__device__ inline segment_layout* layouts_of(decode_work const& w, std::uint32_t packet)
{
  return w.layouts + std::size_t{packet} * w.output_count;
}

/// By all threads of one block.
class packet_parser {
 public:
  __device__ packet_parser(decode_work const& work, output const* outputs) : w_{work}, outputs_{outputs} {}

  __device__ void parse(std::uint32_t p)
  {
    packet_input const& input   = w_.inputs[p];
    packet_header const& header = *reinterpret_cast<packet_header const*>(input.bytes);
    decode_failure why          = decode_failure::none;
    if (input.size < sizeof(packet_header) || !is_sound(header)) {
      why = decode_failure::header;
    } else if (header.segment_count != w_.output_count) {
      why = decode_failure::segments;
    } else if (!has_table(p)) {
      why = decode_failure::length;
    } else if (!table_is_sound(p, header)) {
      why = decode_failure::table;
    } else {
      why = lay_out(p, header);
    }
    if (threadIdx.x == 0 && why != decode_failure::none) {
      fail(w_, p, why);
    }
  }

 private:
  [[nodiscard]] static __device__ bool is_sound(packet_header const& h)
  {
    auto const code = [](auto value) { return static_cast<std::uint32_t>(value); };
    return h.magic == packet_magic && h.version == packet_version && code(h.type) - 1 < 3 &&
           code(h.sampling) - 1 < 4 && code(h.values) - 1 < 3 && code(h.index) - 1 < 3 &&
           code(h.norm) - 1 < 2 && (h.flags & ~header_flag::known) == 0;
  }

  /// A segment against the tensor that it is decoded into.
  [[nodiscard]] static __device__ bool is_sound(packet_header const& h, segment_entry const& e,
                                                std::uint64_t count)
  {
    bool const sampled = e.role == segment_role::sampled;
    if (static_cast<std::uint32_t>(e.role) - 1 >= 3 || e.count != count || e.reserved != 0 ||
        e.reserved2 != 0 || (e.flags & ~header_flag::known) != 0) {
      return false;
    }
    if (e.role == segment_role::dense) {
      return e.tile == 0 && e.slots == 0 && e.scale == 1.0F;
    }
    bool const has_tile = !sampled      ? e.tile == 0
                          : h.tile != 0 ? e.tile == rule::segment_tile(h.tile, 0, e.count)
                                        : e.tile <= e.count && (e.tile != 0 || e.count == 0);
    if (!has_tile) {  // and so the number of tiles is none
      return false;
    }
    std::uint32_t const scale   = rule::bits_of(e.scale);
    bool const power            = (scale & 0x807FFFFFU) == 0 && scale != 0 && scale < rule::infinity_bits;
    bool const scaled           = h.values == values::sign ? scale < rule::infinity_bits : power;
    std::uint64_t const at_most = sampled ? rule::tiles_of(e.count, e.tile) : e.count;
    return at_most <= rule::max_tiles && e.slots <= at_most && scaled;
  }

  [[nodiscard]] __device__ segment_entry const* table(std::uint32_t p) const
  {
    return reinterpret_cast<segment_entry const*>(w_.inputs[p].bytes + sizeof(packet_header));
  }

  /// Whether the buffer reaches to the end of the table of as many segments as there are tensors.
  [[nodiscard]] __device__ bool has_table(std::uint32_t p) const
  {
    return w_.inputs[p].size >=
           sizeof(packet_header) + std::uint64_t{w_.output_count} * sizeof(segment_entry);
  }

  [[nodiscard]] __device__ bool table_is_sound(std::uint32_t p, packet_header const& header) const
  {
    // Roles of packet 0 hold for all, as far as its table lies in its buffer.
    bool const first_has_table = has_table(0);
    bool sound                 = true;
    for (std::uint32_t i = threadIdx.x; i < w_.output_count; i += block_threads) {
      segment_entry const entry = table(p)[i];
      sound                     = sound && is_sound(header, entry, outputs_[i].count) &&
              (!first_has_table || entry.role == table(0)[i].role);
    }
    return __syncthreads_and(sound ? 1 : 0) != 0;
  }

  /// Sums over the table, by one thread: each entry's place depends on all before it.
  __device__ decode_failure lay_out(std::uint32_t p, packet_header const& header)
  {
    __shared__ decode_failure why;
    if (threadIdx.x == 0) {
      packet_state state{};
      state.header = header;
      why          = place_segments(p, state);
      if (why == decode_failure::none) {
        why = place_sections(p, state);
      }
      w_.packets[p] = state;
    }
    __syncthreads();
    decode_failure const result = why;
    __syncthreads();
    return result;
  }

  __device__ decode_failure place_segments(std::uint32_t p, packet_state& state)
  {
    std::uint64_t tiles = 0;
    std::uint64_t slots = 0;
    segment_layout parent{};
    bool has_parent = false;
    for (std::uint32_t i = 0; i < w_.output_count; ++i) {
      segment_entry const entry = table(p)[i];
      segment_layout layout     = parent;  // what a companion shares
      if (entry.role == segment_role::companion &&
          (!has_parent || entry.count != parent.tiles || entry.slots != parent.slots)) {
        return decode_failure::table;
      }
      if (entry.role != segment_role::companion) {
        layout.first_tile = static_cast<std::uint32_t>(tiles);
        layout.first_slot = static_cast<std::uint32_t>(slots);
        layout.tiles      = static_cast<std::uint32_t>(
          entry.role == segment_role::sampled ? rule::tiles_of(entry.count, entry.tile) : 0);
        layout.slots = entry.slots;
      }
      layout.slots_before = static_cast<std::uint32_t>(slots);
      layout.tile         = static_cast<std::uint32_t>(rule::slot_elements(entry.role, entry.tile));
      layout.scale        = entry.scale;
      layout.role         = entry.role;
      layout.flags        = entry.flags;
      if (entry.role == segment_role::sampled) {
        tiles += layout.tiles;
        slots += layout.slots;
        parent     = layout;
        has_parent = true;
      }
      if (tiles > rule::max_tiles) {
        return decode_failure::table;
      }
      layouts_of(w_, p)[i] = layout;
    }
    state.tiles = static_cast<std::uint32_t>(tiles);
    state.slots = static_cast<std::uint32_t>(slots);
    return slots == state.header.slot_count ? decode_failure::none : decode_failure::table;
  }

  __device__ decode_failure place_sections(std::uint32_t p, packet_state& state)
  {
    packet_header const& h = state.header;
    rule::section_offsets const offsets{w_.output_count, h.sampling, h.index, state.tiles, state.slots};
    state.index_offset  = offsets.index;
    state.starts_offset = offsets.starts;
    std::uint64_t end   = offsets.values;
    for (std::uint32_t i = 0; i < w_.output_count; ++i) {
      segment_layout& layout = layouts_of(w_, p)[i];
      layout.region_offset   = rule::region_offset(end, h.values, layout.role);
      end = layout.region_offset + rule::region_bytes(h.values, layout.role, rule::type_bytes(h.type),
                                                      outputs_[i].count, layout.tile, layout.slots);
      if (end > w_.inputs[p].size) {  // also keeps the sum from wrapping
        return decode_failure::length;
      }
    }
    state.total_bytes = end;
    if (end > w_.inputs[p].size) {
      return decode_failure::length;
    }
    return place_scratch(p, state);
  }

  __device__ decode_failure place_scratch(std::uint32_t p, packet_state& state)
  {
    packet_header const& h = state.header;
    index_area const area{h.sampling, h.index, state.tiles, state.slots};
    if (area.bytes() > w_.area_bytes) {
      return decode_failure::scratch;
    }
    auto* at            = reinterpret_cast<std::uint32_t*>(w_.areas + p * w_.area_bytes);
    state.chunks        = static_cast<std::uint32_t>(area.chunks);
    state.starts_chunks = static_cast<std::uint32_t>(area.starts_chunks);
    state.chunk_sums    = at;
    state.starts_sums   = at + state.chunks;
    state.names         = state.starts_sums + state.starts_chunks;
    state.set           = state.names + state.slots;  // only with starts
    return decode_failure::none;
  }

  decode_work const& w_;
  output const* outputs_;
};

}  // namespace bird::device
