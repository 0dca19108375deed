/// sample, systematic: see systematic.cuh for the rule.
#include "systematic.cuh"

#include "host/sample.hpp"
#include "host/weights.hpp"
#include "tile_norm.cuh"

namespace bird::host {
namespace {

/// Emits the slots of systematic sampling. Chunks know their running sums of weights and of certain tiles.
struct systematic_emitter {
  segment_work const& work;
  rule::weight_scale scale;
  rule::systematic light;
  rule::certain_tiles certain;

  void operator()(std::uint64_t first, std::uint64_t count, std::uint64_t sum,
                  std::uint64_t certain_before) const
  {
    weight_buffer weights;
    weights.fill(work, scale, first, count);
    bool const any_light     = light.slots != 0;
    std::uint64_t const slot = any_light ? light.slots_below(sum) : 0;
    rule::slot_walk walk{any_light ? light : rule::systematic{1, 0, 1}, slot};
    host::slot* out       = work.slots + certain_before + slot;
    auto const first_tile = static_cast<std::uint32_t>(work.segment->first_tile + first);
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint64_t const weight = weights[i];
      if (weight >= certain.threshold) {
        *out++ = {first_tile + i, 1.0F};
        continue;
      }
      sum += weight;
      if (any_light && walk.position() < sum) {
        float const multiplier = light.multiplier(weight);
        do {
          *out++ = {first_tile + i, multiplier};
          walk.advance();
        } while (walk.position() < sum);
      }
    }
  }
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
      weight_totals const totals = weights.totals(sums.tiles(c), threshold);
      sums[c]                    = totals.below;
      certain_counts[c]          = totals.at_least;
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
  systematic_emitter const emit{work, scale, light, certain};
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
