/// sample, uniform: see uniform.cuh for the rule.
#include "uniform.cuh"

#include "host/sample.hpp"
#include "tile_norm.cuh"
#include "weight.cuh"

namespace bird::host {
namespace {

rule::tile_norm norm_of_tile(segment_work const& work, norm kind, std::uint64_t tile)
{
  segment_plan const& s     = *work.segment;
  std::uint64_t const first = tile * s.tile;
  return dispatch(work.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return rule::norm_of(kind, static_cast<T const*>(s.data) + first, std::min(s.tile, s.count - first));
  });
}

}  // namespace

segment_sample sample_uniform(segment_work const& work, compressor_options const& options)
{
  segment_plan const& s = *work.segment;
  chunk_list const chunks{s.slots, work.chunk_storage};
  std::uint64_t* const bad = work.chunk_storage + chunks.size();

  auto const tile_of = [&](std::uint64_t slot, rule::stratum& stratum) {
    stratum = rule::stratum_of(slot, s.tiles, s.slots);
    return rule::uniform_tile(stratum, rule::draw(work.key, s.number, rule::purpose::stratum, slot));
  };
  bool const many = s.slots * s.tile > parallel_elements;
  parallel_for(chunks.size(), many, [&](std::uint64_t c) {
    chunks[c] = 0;
    bad[c]    = 0;
    for (std::uint64_t slot = chunks.first(c); slot < chunks.first(c) + chunks.tiles(c); ++slot) {
      rule::stratum stratum{};
      rule::tile_norm const one  = norm_of_tile(work, options.norm, tile_of(slot, stratum));
      work.candidate_norms[slot] = one.norm;
      chunks[c] += one.norm > 0 ? 1 : 0;
      bad[c] += one.non_finite ? 1 : 0;
    }
  });
  std::uint64_t const kept = chunks.place();
  parallel_for(chunks.size(), many, [&](std::uint64_t c) {
    slot* out = work.slots + chunks[c];
    for (std::uint64_t slot = chunks.first(c); slot < chunks.first(c) + chunks.tiles(c); ++slot) {
      if (work.candidate_norms[slot] > 0) {
        rule::stratum stratum{};
        auto const tile = static_cast<std::uint32_t>(s.first_tile + tile_of(slot, stratum));
        *out++          = {tile, static_cast<float>(stratum.length)};
      }
    }
  });

  segment_sample sample;
  sample.slots            = static_cast<std::uint32_t>(kept);
  sample.non_finite       = std::any_of(bad, bad + chunks.size(), [](std::uint64_t n) { return n != 0; });
  sample.companion_factor = 1.0 / static_cast<double>(s.slots);
  float const largest     = *std::max_element(work.candidate_norms, work.candidate_norms + s.slots);
  sample.largest_norm     = largest;
  if (kept == 0) {
    return sample;
  }
  double const longest = static_cast<double>(rule::ceil_div(s.tiles, s.slots));
  if (options.values == values::sign) {
    // Sum over slots of stratum length times norm: its mean is the norm of the segment.
    rule::weight_scale const scale{largest, s.tiles};
    std::uint64_t total = 0;
    for (std::uint64_t slot = 0; slot < s.slots; ++slot) {
      total += rule::stratum_of(slot, s.tiles, s.slots).length * scale.weight(work.candidate_norms[slot]);
    }
    sample.scale =
      rule::to_finite_float(static_cast<double>(total) * scale.unit() / static_cast<double>(kept));
  } else {
    sample.largest_value = longest * static_cast<double>(largest);
  }
  return sample;
}

}  // namespace bird::host
