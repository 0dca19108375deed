/// sample, systematic: see systematic.cuh for the rule.
#include "systematic.cuh"

#include "host/sample.hpp"
#include "host/weights.hpp"
#include "tile_norm.cuh"

namespace bird::host {
namespace {

/// A chunk's slots. Chunks know their running sums of weights and of certain tiles.
///
/// Slots are fewer than tiles, so each looks for its tile: first the group of eight whose running sum passes
/// its position, then the place within. Certain tiles are merged in by order.
class systematic_emitter {
 public:
  systematic_emitter(segment_work const& work, rule::weight_scale scale, rule::systematic light,
                     std::uint64_t threshold)
    : work_{work}, scale_{scale}, light_{light}, threshold_{threshold}
  {
  }

  void operator()(std::uint64_t first, std::uint64_t count, std::uint64_t sum,
                  std::uint64_t certain_before) const
  {
    weight_buffer weights;
    weights.fill(work_, scale_, first, count);
    alignas(64) std::uint64_t sums[sample_chunk_tiles];  // running sums of the tiles that are not certain
    std::uint32_t certain[sample_chunk_tiles + 1];       // numbers of those that are
    std::uint32_t certain_count = 0;
    std::uint64_t const before  = sum;
    for (std::uint32_t i = 0; i < count; ++i) {
      bool const is_certain  = weights[i] >= threshold_;
      certain[certain_count] = i;
      certain_count += is_certain ? 1 : 0;
      sum += is_certain ? 0 : weights[i];
      sums[i] = sum;
    }
    certain[certain_count] = 0xFFFFFFFFU;
    std::fill(sums + count, sums + rule::round_up(count, group), sum);

    auto const first_tile   = static_cast<std::uint32_t>(work_.segment->first_tile + first);
    std::uint32_t next      = 0;  // of the certain tiles
    std::uint64_t const end = light_.slots == 0 ? 0 : light_.slots_below(sum);
    std::uint64_t slot      = light_.slots == 0 ? 0 : light_.slots_below(before);
    host::slot* out         = work_.slots + certain_before + slot;
    rule::slot_walk walk{light_.slots == 0 ? rule::systematic{1, 0, 1} : light_, slot};
    for (std::uint32_t tile = 0; slot < end; ++slot, walk.advance()) {
      tile = find(sums, tile, walk.position());
      for (; certain[next] < tile; ++next) {
        *out++ = {first_tile + certain[next], 1.0F};
      }
      *out++ = {first_tile + tile, light_.multiplier(weights[tile])};
    }
    for (; next < certain_count; ++next) {
      *out++ = {first_tile + certain[next], 1.0F};
    }
  }

 private:
  static constexpr std::uint32_t group = 8;
  static_assert(sample_chunk_tiles % group == 0);

  /// The first tile, not before `from`, whose running sum exceeds `position`; there is one.
  static std::uint32_t find(std::uint64_t const* sums, std::uint32_t from, std::uint64_t position)
  {
    std::uint32_t base = from / group * group;
    while (sums[base + group - 1] <= position) {
      base += group;
    }
    std::uint32_t behind = 0;
    for (std::uint32_t i = 0; i < group; ++i) {
      behind += sums[base + i] <= position ? 1U : 0U;
    }
    return base + behind;
  }

  segment_work const& work_;
  rule::weight_scale scale_;
  rule::systematic light_;
  std::uint64_t threshold_;
};

rule::certain_tiles find_certain(segment_work const& work, rule::weight_scale scale, chunk_list const& chunks)
{
  rule::weight_bin_sum bins[rule::weight_bins] = {};
#pragma omp parallel if (work.many)
  {
    default_arithmetic const settings;
    rule::weight_bin_sum mine[rule::weight_bins] = {};
    weight_buffer weights;
#pragma omp for schedule(static)
    for (std::int64_t chunk = 0; chunk < static_cast<std::int64_t>(chunks.size()); ++chunk) {
      auto const c = static_cast<std::uint64_t>(chunk);
      weights.fill(work, scale, chunks.first(c), chunks.tiles(c));
      for (std::uint32_t i = 0; i < chunks.tiles(c); ++i) {
        if (weights[i] != 0) {
          rule::weight_bin_sum& bin = mine[rule::weight_bin(weights[i])];
          bin.sum += weights[i];
          ++bin.count;
        }
      }
    }
#pragma omp critical(bird_weight_bins)
    for (std::uint32_t bin = 0; bin < rule::weight_bins; ++bin) {
      bins[bin].sum += mine[bin].sum;
      bins[bin].count += mine[bin].count;
    }
  }
  return rule::choose_certain(bins, work.segment->slots);
}

}  // namespace

segment_sample sample_systematic(segment_work const& work, compressor_options const& options)
{
  segment_plan const& s = *work.segment;
  auto const scale      = rule::weight_scale{work.largest, s.tiles};
  auto const largest    = scale.weight(work.largest);
  chunk_list const sums{s.tiles, work.chunk_storage};
  chunk_list const certain_counts{s.tiles, work.chunk_storage + sums.size()};

  auto const sum_below = [&](std::uint64_t threshold) {
    parallel_for(sums.size(), work.many, [&](std::uint64_t c) {
      weight_buffer weights;
      weights.fill(work, scale, sums.first(c), sums.tiles(c));
      std::uint64_t below   = 0;
      std::uint64_t certain = 0;
      for (std::uint64_t i = 0; i < sums.tiles(c); ++i) {
        bool const is_below = weights[i] < threshold;
        below += is_below ? weights[i] : 0;
        certain += is_below ? 0 : 1;
      }
      sums[c]           = below;
      certain_counts[c] = certain;
    });
    return sums.place();
  };
  rule::certain_tiles certain{rule::no_threshold, 0, 0};
  std::uint64_t total = sum_below(certain.threshold);
  if (options.values != values::sign && static_cast<rule::uint128>(largest) * s.slots > total) {
    certain = find_certain(work, scale, sums);
    total   = sum_below(certain.threshold);
  }
  certain_counts.place();

  auto const light_slots = total == 0 ? 0 : static_cast<std::uint32_t>(s.slots - certain.count);
  rule::systematic const light{total, total == 0 ? 0 : rule::systematic_offset(work.key, s.number, total),
                               light_slots};
  systematic_emitter const emit{work, scale, light, certain.threshold};
  parallel_for(sums.size(), work.many,
               [&](std::uint64_t c) { emit(sums.first(c), sums.tiles(c), sums[c], certain_counts[c]); });

  segment_sample sample;
  sample.slots = static_cast<std::uint32_t>(certain.count + light_slots);
  if (options.values == values::sign) {
    sample.scale =
      rule::to_finite_float(static_cast<double>(total) * scale.unit() / static_cast<double>(s.slots));
    sample.companion_factor = 1.0 / static_cast<double>(s.slots);
  } else {
    // |x| <= a_j, so no value exceeds the norm that one slot carries.
    sample.largest_value = static_cast<double>(total) * scale.unit() / static_cast<double>(s.slots);
  }
  return sample;
}

}  // namespace bird::host
