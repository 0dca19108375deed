/// compact: writes the packet of a sample. The layout is that of packet_layout.cuh and packet_format.md.
///
/// Chunks of slots are written independently: they are multiples of 64 slots, so bits of the values, the low
/// bits of the index and the starts of two chunks never share a word. Where words may be shared (upper bits
/// of Elias-Fano, bitmap) they are set by atomic or.
#include <cstring>
#include <type_traits>

#include "dispatch.hpp"
#include "host/bits.hpp"
#include "host/gather.hpp"
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

/// Where the measured part of a sample ends: so many elements make omega exact to a few percent, and reading
/// all kept ones twice would not be free.
constexpr std::uint64_t measured_elements = 128 * 1024;

/// Sums over one tile, in lanes that a compiler can keep in vectors. `unit` brings the elements near 1, so
/// that squares neither overflow nor vanish.
template <class T>
void moments(T const* elements, std::uint32_t count, float unit, double& squares, double& magnitudes)
{
  constexpr std::uint32_t lanes = 16;
  float square_lanes[lanes]     = {};
  float magnitude_lanes[lanes]  = {};
  std::uint32_t i               = 0;
  for (; i + lanes <= count; i += lanes) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      float const x = rule::magnitude(rule::widen(elements[i + lane])) * unit;
      square_lanes[lane] += x * x;
      magnitude_lanes[lane] += x;
    }
  }
  for (; i < count; ++i) {
    float const x = rule::magnitude(rule::widen(elements[i])) * unit;
    square_lanes[i % lanes] += x * x;
    magnitude_lanes[i % lanes] += x;
  }
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    squares += static_cast<double>(square_lanes[lane]);
    magnitudes += static_cast<double>(magnitude_lanes[lane]);
  }
}

/// One slot's part of the Horvitz-Thompson sums, in units of unit^-2. The number of slots M of a tile has
/// mean p = 1 / multiplier and, being floor(p) or floor(p) + 1, variance f (1 - f) with f the fraction of p.
template <class T>
void add_noise(noise_estimate& noise, T const* elements, std::uint32_t count, values what, float multiplier,
               double magnitude, float unit)
{
  double squares = 0;
  double norm    = 0;
  moments(elements, count, unit, squares, norm);
  double const inverse  = static_cast<double>(multiplier);
  double const p        = 1.0 / inverse;
  double const f        = p - static_cast<double>(static_cast<std::int64_t>(p));
  double const variance = multiplier == 1.0F ? 0.0 : f * (1 - f);
  noise.energy += squares * inverse;
  if (what == values::sign) {
    double const v = magnitude * static_cast<double>(unit);
    noise.error += (v * v * count * (variance + p * p) - 2 * p * v * norm + squares) * inverse;
  } else {
    noise.error += squares * variance * inverse * inverse * inverse;
  }
}

/// Noise of a sampled segment, from evenly spread chunks of its slots; `top` needs the sum over all of them.
template <class T>
noise_estimate noise_of(packet_writer const& w, segment_plan const& s, segment_sample const& sample)
{
  noise_estimate total;
  if (sample.slots == 0) {
    return total;
  }
  bool const all             = w.options.sampling == sampling::top;
  std::uint64_t const run    = all ? sample.slots : std::max<std::uint64_t>(1, 4096 / s.tile);
  std::uint64_t const wanted = std::max<std::uint64_t>(1, measured_elements / s.tile);
  std::uint64_t const step = all || sample.slots <= wanted ? run : run * rule::ceil_div(sample.slots, wanted);
  float const unit         = rule::power_of_two_near_inverse(sample.largest_norm);
  std::uint64_t measured_slots = 0;
  for (std::uint64_t first = 0; first < sample.slots; first += step) {
    for (std::uint64_t i = first; i < std::min<std::uint64_t>(first + run, sample.slots); ++i) {
      slot const& one        = w.slots[sample.first_slot + i];
      std::uint64_t const at = (one.tile - s.first_tile) * s.tile;
      auto const items       = static_cast<std::uint32_t>(std::min(s.tile, s.count - at));
      double const magnitude = static_cast<double>(rule::sign_magnitude(w.options.norm, sample.scale, items));
      add_noise(total, static_cast<T const*>(s.data) + at, items, w.options.values, one.multiplier, magnitude,
                unit);
      ++measured_slots;
    }
  }
  double const share = measured_slots == 0
                         ? 0
                         : static_cast<double>(sample.slots) / static_cast<double>(measured_slots) /
                             (static_cast<double>(unit) * static_cast<double>(unit));
  return {total.energy * share, total.error * share};
}

/// Value region of a sampled segment.
void write_sampled(packet_writer const& w, segment_plan const& s, segment_sample const& sample,
                   std::byte* region)
{
  dtype const wire            = w.options.values == values::bf16 ? dtype::bfloat16 : w.plan.wire;
  std::uint64_t const element = element_bytes(wire);
  parallel_for(rule::ceil_div(sample.slots, chunk_slots), w.many, [&](std::uint64_t chunk) {
    std::uint64_t const first = chunk * chunk_slots;
    auto const count          = static_cast<std::uint32_t>(std::min(chunk_slots, sample.slots - first));
    gather_work const work{w.slots + sample.first_slot + first,
                           count,
                           static_cast<std::uint32_t>(s.first_tile),
                           s.number,
                           s.tile,
                           s.count,
                           s.data,
                           sample.scale};
    if (w.options.values == values::sign) {
      gather_signs(work, w.plan.type, w.key, reinterpret_cast<std::uint32_t*>(region) + first * s.tile / 32);
    } else {
      gather_values(work, w.plan.type, wire, region + first * s.tile * element);
    }
  });
}

/// Value region of a companion: one entry a slot of its parent. An entry that is not finite becomes zero; the
/// segment's flag tells of it.
template <class T, class Stored>
void write_companion(packet_writer const& w, segment_plan const& s, segment_sample const& sample,
                     std::byte* region)
{
  std::uint64_t const first_tile = w.plan.segments[s.parent].first_tile;
  bit_appender<std::uint32_t> bits{reinterpret_cast<std::uint32_t*>(region)};
  for (std::uint32_t i = 0; i < sample.slots; ++i) {
    slot const& one   = w.slots[sample.first_slot + i];
    auto const entry  = static_cast<std::uint32_t>(one.tile - first_tile);
    float const value = rule::widen(static_cast<T const*>(s.data)[entry]);
    if (w.options.values == values::sign) {
      bool const zero = (rule::bits_of(value) & ~rule::sign_mask) == 0;
      bits.append(zero ? rule::zero_sign_bit(w.key, s.number, entry, 0) : rule::bits_of(value) >> 31, 1);
    } else {
      reinterpret_cast<Stored*>(region)[i] =
        rule::is_finite(value) ? rule::narrow_saturating<Stored>(value * (one.multiplier / sample.scale))
                               : Stored{};
    }
  }
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

/// Signs: the one magnitude. Values: the power of two that keeps those of the kept entries in range.
template <class T>
float companion_scale(list_plan const& plan, segment_plan const& s, values what, segment_sample const& sample,
                      slot const* slots)
{
  T const* const entries = static_cast<T const*>(s.data);
  if (what == values::sign) {
    rule::tile_norm const sum = rule::norm_of(norm::l1, entries, s.count);
    return rule::to_finite_float(static_cast<double>(sum.norm) * sample.companion_factor);
  }
  double largest = 0;
  for (std::uint32_t i = 0; i < sample.slots; ++i) {
    slot const& one   = slots[sample.first_slot + i];
    float const value = rule::widen(entries[one.tile - plan.segments[s.parent].first_tile]);
    if (rule::is_finite(value)) {
      largest =
        std::max(largest, static_cast<double>(rule::magnitude(value)) * static_cast<double>(one.multiplier));
    }
  }
  return rule::stored_scale(what, plan.wire, largest);
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
  packet_header header = plain_header(plan, options, name, capacity);
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
      using T = typename decltype(tag)::type;
      if (s.role == segment_role::sampled) {
        write_sampled(w, s, samples[number], region);
        noise_estimate const part = noise_of<T>(w, s, samples[number]);
        noise.energy += part.energy;
        noise.error += part.error;
        return;
      }
      bool const rounded = s.role == segment_role::companion && w.options.values == values::bf16;
      dispatch(rounded ? dtype::bfloat16 : w.plan.wire, [&](auto wire_tag) {
        using Stored = typename decltype(wire_tag)::type;
        if (s.role == segment_role::dense) {
          write_dense<T, Stored>(s, region);
        } else {
          write_companion<T, Stored>(w, s, samples[number], region);
        }
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
        return companion_scale<typename decltype(tag)::type>(plan, s, options.values, samples[number], slots);
      });
    }
    entries.push_back(entry_of(s, completed[number]));
  }
  packet_header header = header_of(plan, options, name, capacity, entries);
  packet_writer const w{
    plan, options, key, slots, packet, sections_of(header, entries), header.slot_count > 4 * chunk_slots};
  std::copy(entries.begin(), entries.end(), reinterpret_cast<segment_entry*>(packet + sizeof header));
  std::memset(packet + w.sections.index_offset, 0, w.sections.values_offset - w.sections.index_offset);
  write_index(w);
  noise = write_values(w, completed);
  std::memcpy(packet, &header, sizeof header);
  header.checksum = packet_checksum({packet, w.sections.total_bytes});
  std::memcpy(packet, &header, sizeof header);
  return w.sections.total_bytes;
}

}  // namespace bird::host
