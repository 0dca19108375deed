/// sample: draws the slots of every segment, sorted by tile.
///
/// Each sampler makes two passes over the norms in chunks of sample_chunk_tiles: the first counts what a
/// chunk will emit, a prefix sum gives every chunk its place, the second emits. Counts are integers, so
/// chunks may run in any order.
#include "host/sample.hpp"

#include <algorithm>

#include "values.cuh"

namespace bird::host {

std::uint64_t exclusive_sum(std::uint64_t* values, std::uint64_t count)
{
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t const value = values[i];
    values[i]                 = sum;
    sum += value;
  }
  return sum;
}

namespace {

segment_sample sample_segment(segment_work const& work, compressor_options const& options)
{
  switch (options.sampling) {
    case sampling::bi_random:
      return sample_bi_random(work, options);
    case sampling::systematic:
      return sample_systematic(work, options);
    case sampling::uniform:
      return sample_uniform(work, options);
    case sampling::top:
      return sample_top(work, options);
  }
  return {};
}

}  // namespace

std::uint64_t sample(list_plan const& plan, compressor_options const& options, rule::philox_key key,
                     span<norm_summary const> summaries, scratch_view const& scratch,
                     span<segment_sample> samples)
{
  std::uint64_t kept = 0;
  for (std::size_t number = 0; number < plan.segments.size(); ++number) {
    segment_plan const& s = plan.segments[number];
    samples[number]       = segment_sample{};
    if (s.role == segment_role::companion) {
      segment_sample const& parent     = samples[s.parent];
      samples[number].first_slot       = parent.first_slot;
      samples[number].slots            = parent.slots;
      samples[number].companion_factor = parent.companion_factor;
    } else if (s.role == segment_role::sampled && s.tiles != 0 &&
               (summaries[number].largest > 0 || options.sampling == sampling::uniform)) {
      segment_work const work{&s,
                              plan.type,
                              key,
                              summaries[number].largest,
                              s.tiles > parallel_tiles,
                              norm_reader{s, plan.type, scratch.norms, summaries[number].non_finite},
                              scratch.slots + kept,
                              scratch.candidate_norms,
                              scratch.survivors,
                              scratch.chunks};
      samples[number]              = sample_segment(work, options);
      samples[number].first_slot   = kept;
      samples[number].largest_norm = std::max(samples[number].largest_norm, summaries[number].largest);
      kept += samples[number].slots;
      if (options.values != values::sign) {
        samples[number].scale = rule::stored_scale(options.values, plan.wire, samples[number].largest_value);
      }
    }
    samples[number].non_finite = samples[number].non_finite || summaries[number].non_finite;
  }
  return kept;
}

}  // namespace bird::host
