/// sample, systematic: see systematic.cuh for the rule.
#include "systematic.cuh"

#include "host/sample.hpp"
#include "host/weights.hpp"
#include "tile_norm.cuh"

namespace bird::host {
namespace {

/// What a chunk's norms and weights need: a thread's own cache.
struct chunk_buffers {
  alignas(64) std::uint64_t weights[sample_chunk_tiles];
  alignas(64) float norms[sample_chunk_tiles];
  std::uint32_t certain[sample_chunk_tiles + 1];  ///< numbers of the certain tiles
};

/// The norms at which a tile is certain: `least` is the bit pattern of the smallest.
struct certain_norms {
  std::uint32_t least = rule::infinity_bits;  ///< no norm is as large
};

/// A chunk's slots. Chunks know their running sums of weights and of certain tiles.
///
/// Slots are fewer than tiles, so each looks for its tile: first the group of eight whose running sum passes
/// its position, then the place within. Certain tiles are merged in by order.
class systematic_emitter {
 public:
  systematic_emitter(segment_work const& work, rule::weight_scale scale, rule::systematic light,
                     certain_norms certain)
    : work_{work}, scale_{scale}, light_{light}, certain_{certain}
  {
  }

  void operator()(std::uint64_t first, std::uint64_t count, std::uint64_t sum,
                  std::uint64_t certain_before) const
  {
    chunk_buffers b;
    float const* const norms = work_.norms.read_signed(first, count, b.norms);
    weights_of(scale_, norms, count, b.weights);
    std::uint32_t const certain_count =
      find_at_least(certain_.least, norms, static_cast<std::uint32_t>(count), b.certain);
    for (std::uint32_t i = 0; i < certain_count; ++i) {
      b.weights[b.certain[i]] = 0;
    }
    b.certain[certain_count] = 0xFFFFFFFFU;

    alignas(64) std::uint64_t sums[sample_chunk_tiles];
    std::uint64_t const before = sum;
    for (std::uint64_t i = 0; i < count; ++i) {
      sum += b.weights[i];
      sums[i] = sum;
    }
    std::fill(sums + count, sums + rule::round_up(count, group), sum);

    auto const first_tile   = static_cast<std::uint32_t>(work_.segment->first_tile + first);
    std::uint32_t next      = 0;  // of the certain tiles
    std::uint64_t const end = light_.slots == 0 ? 0 : light_.slots_below(sum);
    std::uint64_t slot      = light_.slots == 0 ? 0 : light_.slots_below(before);
    host::slot* out         = work_.slots + certain_before + slot;
    rule::slot_walk walk{light_.slots == 0 ? rule::systematic{1, 0, 1} : light_, slot};
    for (std::uint32_t tile = 0; slot < end; ++slot, walk.advance()) {
      tile = find(sums, tile, walk.position());
      for (; b.certain[next] < tile; ++next) {
        *out++ = {first_tile + b.certain[next], 1.0F};
      }
      *out++ = {first_tile + tile, light_.multiplier(b.weights[tile])};
    }
    for (; next < certain_count; ++next) {
      *out++ = {first_tile + b.certain[next], 1.0F};
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
  certain_norms certain_;
};

/// Histogram of the weights of at least bin_floor(lowest), which lie in the bins from `lowest` up.
void add_bins(segment_work const& work, rule::weight_scale scale, chunk_list const& chunks,
              std::uint32_t lowest, rule::weight_bin_sum* bins)
{
  std::uint32_t const least = least_norm_bits(scale, work.largest, rule::bin_floor(lowest));
#pragma omp parallel if (work.many)
  {
    default_arithmetic const settings;
    rule::weight_bin_sum mine[rule::weight_bins] = {};
    chunk_buffers b;
#pragma omp for schedule(static)
    for (std::int64_t chunk = 0; chunk < static_cast<std::int64_t>(chunks.size()); ++chunk) {
      auto const c              = static_cast<std::uint64_t>(chunk);
      auto const count          = static_cast<std::uint32_t>(chunks.tiles(c));
      float const* const norms  = work.norms.read_signed(chunks.first(c), count, b.norms);
      std::uint32_t const found = find_at_least(least, norms, count, b.certain);
      for (std::uint32_t i = 0; i < found; ++i) {
        std::uint64_t const weight = scale.weight(rule::magnitude(norms[b.certain[i]]));
        rule::weight_bin_sum& bin  = mine[rule::weight_bin(weight)];
        bin.sum += weight;
        ++bin.count;
      }
    }
#pragma omp critical(bird_weight_bins)
    for (std::uint32_t bin = 0; bin < rule::weight_bins; ++bin) {
      bins[bin].sum += mine[bin].sum;
      bins[bin].count += mine[bin].count;
    }
  }
}

/// The certain tiles, by a histogram of the weights from `lowest` up. All below stand in the lowest bin of
/// all, from which no tile is ever certain while tiles are more than slots.
/// @param enough false when even the tiles of bin `lowest` are certain, so that lower ones might be as well
rule::certain_tiles choose_from(segment_work const& work, rule::weight_scale scale, chunk_list const& chunks,
                                weight_sum all, std::uint32_t lowest, bool& enough)
{
  rule::weight_bin_sum bins[rule::weight_bins] = {};
  add_bins(work, scale, chunks, lowest, bins);
  rule::weight_bin_sum listed{0, 0};
  for (rule::weight_bin_sum const& bin : bins) {
    listed.sum += bin.sum;
    listed.count += bin.count;
  }
  rule::weight_bin_sum& rest = bins[rule::weight_bin(1)];
  rest.sum += all.sum - listed.sum;
  rest.count += all.non_zero - listed.count;
  rule::certain_tiles const certain =
    rule::choose_certain(bins, {all.sum, all.non_zero}, work.segment->slots);
  enough = certain.count < listed.count || lowest == rule::weight_bin(1);
  return certain;
}

/// The certain tiles of a segment. Only weights from a quarter of the mean of a slot on are looked at first:
/// what is certain lies above, unless the weights are very uneven.
rule::certain_tiles find_certain(segment_work const& work, rule::weight_scale scale, chunk_list const& chunks,
                                 weight_sum all)
{
  std::uint64_t const slots = work.segment->slots;
  if (all.non_zero <= slots) {
    return {1, all.non_zero, all.sum};
  }
  bool enough                 = false;
  std::uint32_t const lowest  = rule::weight_bin(std::max<std::uint64_t>(1, all.sum / slots / 4));
  rule::certain_tiles certain = choose_from(work, scale, chunks, all, lowest, enough);
  if (!enough) {
    certain = choose_from(work, scale, chunks, all, rule::weight_bin(1), enough);
  }
  return certain;
}

/// Takes the weights of certain tiles out of the chunks' sums, and counts them.
void take_out_certain(segment_work const& work, rule::weight_scale scale, certain_norms certain,
                      chunk_list const& sums, chunk_list const& counts)
{
  parallel_for(sums.size(), work.many, [&](std::uint64_t c) {
    chunk_buffers b;
    auto const count         = static_cast<std::uint32_t>(sums.tiles(c));
    float const* const norms = work.norms.read_signed(sums.first(c), count, b.norms);
    counts[c]                = find_at_least(certain.least, norms, count, b.certain);
    for (std::uint64_t i = 0; i < counts[c]; ++i) {
      sums[c] -= scale.weight(rule::magnitude(norms[b.certain[i]]));
    }
  });
}

/// Sums of the weights of each chunk. @returns those of all
weight_sum sum_chunks(segment_work const& work, rule::weight_scale scale, chunk_list const& sums,
                      chunk_list const& non_zero)
{
  parallel_for(sums.size(), work.many, [&](std::uint64_t c) {
    float buffer[sample_chunk_tiles];
    weight_sum const chunk =
      sum_weights(scale, work.norms.read_signed(sums.first(c), sums.tiles(c), buffer), sums.tiles(c));
    sums[c]     = chunk.sum;
    non_zero[c] = chunk.non_zero;
  });
  weight_sum all;
  for (std::uint64_t c = 0; c < sums.size(); ++c) {
    all.sum += sums[c];
    all.non_zero += non_zero[c];
    non_zero[c] = 0;  // from here on: certain tiles
  }
  return all;
}

}  // namespace

segment_sample sample_systematic(segment_work const& work, compressor_options const& options)
{
  segment_plan const& s = *work.segment;
  auto const scale      = rule::weight_scale{work.largest, s.tiles};
  chunk_list const sums{s.tiles, work.chunk_storage};
  chunk_list const certain_counts{s.tiles, work.chunk_storage + sums.size()};

  weight_sum const all = sum_chunks(work, scale, sums, certain_counts);
  rule::certain_tiles certain{rule::no_threshold, 0, 0};
  certain_norms certain_norm;
  bool const largest_owns_more = static_cast<rule::uint128>(scale.weight(work.largest)) * s.slots > all.sum;
  if (options.values != values::sign && largest_owns_more) {
    certain = find_certain(work, scale, sums, all);
    if (certain.count != 0) {
      certain_norm.least = least_norm_bits(scale, work.largest, certain.threshold);
      take_out_certain(work, scale, certain_norm, sums, certain_counts);
    }
  }
  std::uint64_t const total = sums.place();
  certain_counts.place();

  auto const light_slots = total == 0 ? 0 : static_cast<std::uint32_t>(s.slots - certain.count);
  rule::systematic const light{total, total == 0 ? 0 : rule::systematic_offset(work.key, s.number, total),
                               light_slots};
  systematic_emitter const emit{work, scale, light, certain_norm};
  parallel_for(sums.size(), work.many,
               [&](std::uint64_t c) { emit(sums.first(c), sums.tiles(c), sums[c], certain_counts[c]); });

  segment_sample sample;
  sample.slots      = static_cast<std::uint32_t>(certain.count + light_slots);
  double const norm = rule::norm_per_slot(total, scale, s.slots);
  if (options.values == values::sign) {
    sample.scale            = rule::to_finite_float(norm);
    sample.companion_factor = 1.0 / static_cast<double>(s.slots);
  } else {
    sample.largest_value = norm;  // |x| <= a_j, so no value exceeds the norm that one slot carries
  }
  return sample;
}

}  // namespace bird::host
