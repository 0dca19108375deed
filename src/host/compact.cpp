/// compact: writes the packet of a sample. The layout is that of packet_layout.cuh and packet_format.md.
///
/// Chunks of slots are written independently: they are multiples of 64 slots, so bits of the values, the low
/// bits of the index and the starts of two chunks never share a word. Where words may be shared (upper bits
/// of Elias-Fano, bitmap) they are set by atomic or.
#include <cstring>
#include <type_traits>

#include "host/bits.hpp"
#include "host/dispatch.hpp"
#include "host/parallel.hpp"
#include "host/stages.hpp"
#include "packet.hpp"
#include "packet_layout.cuh"
#include "tile_norm.cuh"
#include "values.cuh"

namespace bird::host {
namespace {

constexpr std::uint64_t chunk_slots = 1024;

/// Everything that a writer of sections needs.
struct packet_writer {
  list_plan const& plan;
  compressor_options const& options;
  rule::philox_key key;
  slot const* slots;
  std::byte* packet;
  packet_sections sections;
  bool many;
};

void write_elias_fano(packet_writer const& w)
{
  rule::elias_fano const code{w.sections.tile_count, w.sections.slot_count};
  auto* const upper = reinterpret_cast<std::uint64_t*>(w.packet + w.sections.index_offset);
  auto* const lower = upper + code.upper_words();
  parallel_for(rule::ceil_div(code.count, chunk_slots), w.many, [&](std::uint64_t chunk) {
    std::uint64_t const first = chunk * chunk_slots;
    std::uint64_t const end   = std::min(first + chunk_slots, code.count);
    bit_setter high{upper};
    bit_appender<std::uint64_t> low{lower + first * code.low_bits() / 64};
    std::uint64_t const mask = (std::uint64_t{1} << code.low_bits()) - 1;
    for (std::uint64_t i = first; i < end; ++i) {
      std::uint64_t const tile = w.slots[i].tile;
      high.set(code.upper_position(tile, i));
      low.append(tile & mask, code.low_bits());
    }
  });
}

void write_bitmap(packet_writer const& w)
{
  auto* const bitmap    = reinterpret_cast<std::uint64_t*>(w.packet + w.sections.index_offset);
  auto* const starts    = reinterpret_cast<std::uint64_t*>(w.packet + w.sections.starts_offset);
  bool const has_starts = rule::has_starts(w.options.sampling, w.options.index);
  parallel_for(rule::ceil_div(w.sections.slot_count, chunk_slots), w.many, [&](std::uint64_t chunk) {
    std::uint64_t const first = chunk * chunk_slots;
    std::uint64_t const end   = std::min(first + chunk_slots, w.sections.slot_count);
    bit_setter tiles{bitmap};
    bit_setter firsts{starts};
    for (std::uint64_t i = first; i < end; ++i) {
      tiles.set(w.slots[i].tile);
      if (has_starts && (i == 0 || w.slots[i].tile != w.slots[i - 1].tile)) {
        firsts.set(i);
      }
    }
  });
}

void write_index(packet_writer const& w)
{
  switch (w.options.index) {
    case index::elias_fano:
      write_elias_fano(w);
      return;
    case index::bitmap:
      write_bitmap(w);
      return;
    case index::u32:
      auto* const numbers = reinterpret_cast<std::uint32_t*>(w.packet + w.sections.index_offset);
      parallel_for(w.sections.slot_count, false, [&](std::uint64_t i) { numbers[i] = w.slots[i].tile; });
      return;
  }
}

/// A segment's values, seen slot by slot: tiles of a sampled segment, single entries of a companion.
struct value_source {
  segment_plan const& segment;
  std::uint64_t first_tile;  ///< of the segment whose tiles are named
  std::uint64_t stride;      ///< elements of a full tile

  value_source(list_plan const& plan, segment_plan const& s)
    : segment{s},
      first_tile{s.role == segment_role::companion ? plan.segments[s.parent].first_tile : s.first_tile},
      stride{s.role == segment_role::companion ? 1 : s.tile}
  {
  }
  [[nodiscard]] std::uint32_t tile(slot const& one) const
  {
    return one.tile - static_cast<std::uint32_t>(first_tile);
  }
  [[nodiscard]] std::uint32_t items(std::uint32_t tile) const
  {
    return static_cast<std::uint32_t>(std::min(stride, segment.count - tile * stride));
  }
};

/// Sum of squares and of magnitudes, in eight lanes that a compiler can keep in vectors.
template <class T>
noise_estimate moments(T const* elements, std::uint32_t count)
{
  double squares[8]    = {};
  double magnitudes[8] = {};
  std::uint32_t i      = 0;
  for (; i + 8 <= count; i += 8) {
    for (std::uint32_t lane = 0; lane < 8; ++lane) {
      auto const x = static_cast<double>(rule::widen(elements[i + lane]));
      squares[lane] += x * x;
      magnitudes[lane] += x < 0 ? -x : x;
    }
  }
  for (; i < count; ++i) {
    auto const x = static_cast<double>(rule::widen(elements[i]));
    squares[i % 8] += x * x;
    magnitudes[i % 8] += x < 0 ? -x : x;
  }
  noise_estimate sums;
  for (int lane = 0; lane < 8; ++lane) {
    sums.energy += squares[lane];
    sums.error += magnitudes[lane];  // here: the L1 norm
  }
  return sums;
}

/// One slot's part of the Horvitz-Thompson sums. The number of slots M of a tile has mean p = 1 / multiplier
/// and, being floor(p) or floor(p) + 1, variance f (1 - f) with f the fraction of p.
template <class T>
void add_noise(noise_estimate& noise, T const* elements, std::uint32_t count, values what, float multiplier,
               float magnitude)
{
  noise_estimate const tile = moments(elements, count);
  double const inverse      = static_cast<double>(multiplier);
  double const p            = 1.0 / inverse;
  double const f            = p - static_cast<double>(static_cast<std::int64_t>(p));
  double const variance     = multiplier == 1.0F ? 0.0 : f * (1 - f);
  noise.energy += tile.energy * inverse;
  if (what == values::sign) {
    auto const v = static_cast<double>(magnitude);
    noise.error += (v * v * count * (variance + p * p) - 2 * p * v * tile.error + tile.energy) * inverse;
  } else {
    noise.error += tile.energy * variance * inverse * inverse * inverse;
  }
}

template <class T>
void append_signs(packet_writer const& w, segment_plan const& s, std::uint32_t tile, T const* elements,
                  std::uint32_t items, std::uint64_t stride, bit_appender<std::uint32_t>& bits)
{
  for (std::uint64_t first = 0; first < stride; first += 32) {
    auto const width   = static_cast<std::uint32_t>(std::min<std::uint64_t>(32, stride - first));
    auto const end     = static_cast<std::uint32_t>(std::min<std::uint64_t>(items, first + width));
    std::uint32_t word = 0;
    for (auto i = static_cast<std::uint32_t>(first); i < end; ++i) {
      std::uint32_t const pattern = rule::bits_of(rule::widen(elements[i]));
      bool const zero             = (pattern & ~rule::sign_mask) == 0;
      std::uint32_t const bit     = zero ? rule::zero_sign_bit(w.key, s.number, tile, i) : pattern >> 31;
      word |= bit << (i - first);
    }
    bits.append(word, width);
  }
}

template <class T, class Stored>
void store_values(T const* elements, std::uint32_t items, std::uint64_t stride, float factor, Stored* out)
{
  for (std::uint32_t i = 0; i < items; ++i) {
    float const value = rule::widen(elements[i]);
    out[i]            = rule::is_finite(value) ? rule::narrow_saturating<Stored>(value * factor) : Stored{};
  }
  for (std::uint64_t i = items; i < stride; ++i) {
    out[i] = Stored{};
  }
}

/// Value region of one sampled or companion segment: elements T, stored in full as Stored. @returns its noise
template <class T, class Stored>
noise_estimate write_region(packet_writer const& w, segment_plan const& s, segment_sample const& sample,
                            std::byte* region)
{
  value_source const source{w.plan, s};
  T const* const data = static_cast<T const*>(s.data);
  bool const counted  = s.role == segment_role::sampled;
  std::vector<noise_estimate> parts(rule::ceil_div(sample.slots, chunk_slots));
  parallel_for(parts.size(), w.many, [&](std::uint64_t chunk) {
    std::uint64_t const first = chunk * chunk_slots;
    std::uint64_t const end   = std::min<std::uint64_t>(first + chunk_slots, sample.slots);
    bit_appender<std::uint32_t> bits{reinterpret_cast<std::uint32_t*>(region) + first * source.stride / 32};
    for (std::uint64_t i = first; i < end; ++i) {
      slot const& one           = w.slots[sample.first_slot + i];
      std::uint32_t const tile  = source.tile(one);
      std::uint32_t const items = source.items(tile);
      T const* const elements   = data + tile * source.stride;
      float const factor        = one.multiplier / sample.scale;  // exact: scale is a power of two
      switch (w.options.values) {
        case values::sign:
          append_signs(w, s, tile, elements, items, source.stride, bits);
          break;
        case values::full:
          store_values(elements, items, source.stride, factor,
                       reinterpret_cast<Stored*>(region) + i * source.stride);
          break;
        case values::bf16:
          store_values(elements, items, source.stride, factor,
                       reinterpret_cast<rule::bfloat16*>(region) + i * source.stride);
          break;
      }
      if (counted) {
        add_noise(parts[chunk], elements, items, w.options.values, one.multiplier,
                  rule::sign_magnitude(w.options.norm, sample.scale, items));
      }
    }
  });
  noise_estimate sum;
  for (noise_estimate const& part : parts) {
    sum.energy += part.energy;
    sum.error += part.error;
  }
  return sum;
}

/// All elements as they are; narrowed where a residual is sent in the tensor's own type.
template <class T, class Stored>
void write_dense(segment_plan const& s, std::byte* region)
{
  T const* const elements = static_cast<T const*>(s.data);
  if constexpr (std::is_same_v<T, Stored>) {
    if (s.count != 0) {
      std::memcpy(region, elements, s.count * sizeof(T));
    }
  } else {
    for (std::uint64_t i = 0; i < s.count; ++i) {
      reinterpret_cast<Stored*>(region)[i] = rule::narrow_to<Stored>::from(rule::widen(elements[i]));
    }
  }
}

template <class T>
float companion_scale(segment_plan const& s, values what, double factor)
{
  if (what != values::sign) {
    return 1.0F;
  }
  rule::tile_norm const sum = rule::norm_of(norm::l1, static_cast<T const*>(s.data), s.count);
  return rule::to_finite_float(static_cast<double>(sum.norm) * factor);
}

segment_entry entry_of(segment_plan const& s, segment_sample const& sample)
{
  segment_entry entry{};
  entry.count = s.count;
  entry.tile  = static_cast<std::uint32_t>(s.tile);
  entry.role  = s.role;
  entry.flags = sample.non_finite ? header_flag::non_finite : std::uint8_t{0};
  entry.slots = sample.slots;
  entry.scale = sample.scale;
  return entry;
}

packet_header header_of(list_plan const& plan, compressor_options const& options, sample_key const& name,
                        std::uint64_t capacity, span<segment_entry const> entries)
{
  packet_header header{};
  header.magic         = packet_magic;
  header.version       = packet_version;
  header.type          = plan.wire;
  header.sampling      = options.sampling;
  header.values        = options.values;
  header.index         = options.index;
  header.norm          = options.norm;
  header.segment_count = static_cast<std::uint32_t>(plan.segments.size());
  header.element_count = plan.elements;
  header.capacity      = capacity;
  header.seed          = name.seed;
  header.step          = name.step;
  header.tensor_id     = name.tensor_id;
  header.tile          = options.tile;
  for (segment_entry const& entry : entries) {
    header.flags = header.flags | entry.flags;
    header.slot_count += entry.role == segment_role::sampled ? entry.slots : 0;
  }
  return header;
}

/// Values of all segments; whatever padding lies between them becomes zero.
noise_estimate write_values(packet_writer const& w, span<segment_sample const> samples)
{
  noise_estimate noise;
  for (std::size_t number = 0; number < w.plan.segments.size(); ++number) {
    segment_plan const& s   = w.plan.segments[number];
    std::byte* const region = w.packet + w.sections.region_offset[number];
    std::uint64_t const next =
      number + 1 < w.plan.segments.size() ? w.sections.region_offset[number + 1] : w.sections.total_bytes;
    std::uint64_t const length = next - w.sections.region_offset[number];
    std::memset(w.packet + next - std::min<std::uint64_t>(length, rule::section_alignment), 0,
                std::min<std::uint64_t>(length, rule::section_alignment));
    dispatch(w.plan.type, [&](auto tag) {
      dispatch(w.plan.wire, [&](auto wire_tag) {
        using T      = typename decltype(tag)::type;
        using Stored = typename decltype(wire_tag)::type;
        if (s.role == segment_role::dense) {
          write_dense<T, Stored>(s, region);
          return;
        }
        noise_estimate const part = write_region<T, Stored>(w, s, samples[number], region);
        noise.energy += part.energy;
        noise.error += part.error;
      });
    });
  }
  return noise;
}

}  // namespace

std::uint64_t compact(list_plan const& plan, compressor_options const& options, sample_key const& name,
                      rule::philox_key key, std::uint64_t capacity, span<segment_sample const> samples,
                      slot const* slots, std::byte* packet, noise_estimate& noise)
{
  std::vector<segment_sample> completed(samples.begin(), samples.end());
  std::vector<segment_entry> entries;
  for (std::size_t number = 0; number < plan.segments.size(); ++number) {
    segment_plan const& s = plan.segments[number];
    if (s.role == segment_role::companion) {
      completed[number].scale = dispatch(plan.type, [&](auto tag) {
        return companion_scale<typename decltype(tag)::type>(s, options.values,
                                                             samples[number].companion_factor);
      });
    }
    entries.push_back(entry_of(s, completed[number]));
  }
  packet_header header = header_of(plan, options, name, capacity, entries);
  packet_writer const w{
    plan, options, key, slots, packet, sections_of(header, entries), header.slot_count > 4 * chunk_slots};
  std::memcpy(packet + sizeof header, entries.data(), entries.size() * sizeof(segment_entry));
  std::memset(packet + w.sections.index_offset, 0, w.sections.values_offset - w.sections.index_offset);
  write_index(w);
  noise = write_values(w, completed);
  std::memcpy(packet, &header, sizeof header);
  header.checksum = packet_checksum({packet, w.sections.total_bytes});
  std::memcpy(packet, &header, sizeof header);
  return w.sections.total_bytes;
}

}  // namespace bird::host
