/// sample, bi_random: see bi_random.cuh for the rule.
#include "bi_random.cuh"

#include "host/philox.hpp"
#include "host/sample.hpp"
#include "weight.cuh"

namespace bird::host {
namespace {

/// Stage 1 of one chunk: calls survive(tile of the segment, threshold) in order.
template <class Survive>
void draw_chunk(segment_work const& work, double gamma, std::uint64_t first, std::uint64_t count,
                Survive const& survive)
{
  float buffer[sample_chunk_tiles];
  std::uint32_t words[sample_chunk_tiles];
  float const* const norms = work.norms.read(first, count, buffer);
  philox_fill(work.key, work.segment->number, rule::purpose::survive, first / 4,
              {words, rule::round_up(count, 4)});
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t const threshold = rule::survival_threshold(norms[i], work.largest, gamma);
    if (words[i] < threshold) {
      survive(first + i);
    }
  }
}

/// Sums over all tiles that BIRD+'s one magnitude needs.
struct segment_sums {
  std::uint64_t weights    = 0;
  std::uint64_t thresholds = 0;
};

segment_sums sum_segment(segment_work const& work, double gamma, rule::weight_scale scale,
                         chunk_list const& chunks)
{
  std::uint64_t weights    = 0;
  std::uint64_t thresholds = 0;
#pragma omp parallel for schedule(static) reduction(+ : weights, thresholds) if (work.many)
  for (std::int64_t chunk = 0; chunk < static_cast<std::int64_t>(chunks.size()); ++chunk) {
    default_arithmetic const settings;
    auto const c = static_cast<std::uint64_t>(chunk);
    float buffer[sample_chunk_tiles];
    float const* const norms = work.norms.read(chunks.first(c), chunks.tiles(c), buffer);
    for (std::uint64_t i = 0; i < chunks.tiles(c); ++i) {
      weights += scale.weight(norms[i]);
      thresholds += rule::survival_threshold(norms[i], work.largest, gamma);
    }
  }
  return {weights, thresholds};
}

}  // namespace

segment_sample sample_bi_random(segment_work const& work, compressor_options const& options)
{
  segment_plan const& s = *work.segment;
  chunk_list const chunks{s.tiles, work.chunk_storage};
  parallel_for(chunks.size(), work.many, [&](std::uint64_t c) {
    std::uint64_t survivors = 0;
    draw_chunk(work, options.gamma, chunks.first(c), chunks.tiles(c), [&](std::uint64_t) { ++survivors; });
    chunks[c] = survivors;
  });
  std::uint64_t const survivors = chunks.place();
  std::uint64_t const kept      = std::min(survivors, s.slots);

  // A survivor as one number, so that order is (random word, tile).
  parallel_for(chunks.size(), work.many, [&](std::uint64_t c) {
    std::uint64_t* out = work.survivors + chunks[c];
    draw_chunk(work, options.gamma, chunks.first(c), chunks.tiles(c), [&](std::uint64_t tile) {
      std::uint64_t const word =
        survivors > kept ? rule::draw(work.key, s.number, rule::purpose::thin, tile) : 0;
      *out++ = word << 32 | tile;
    });
  });
  if (survivors > kept) {
    std::nth_element(work.survivors, work.survivors + kept, work.survivors + survivors);
    std::sort(work.survivors, work.survivors + kept, [](std::uint64_t a, std::uint64_t b) {
      return static_cast<std::uint32_t>(a) < static_cast<std::uint32_t>(b);
    });
  }

  rule::weight_scale const scale{work.largest, s.tiles};
  segment_sums const sums = sum_segment(work, options.gamma, scale, chunks);
  rule::bi_random const drawn{survivors, kept, sums.thresholds};
  for (std::uint64_t i = 0; i < kept; ++i) {
    auto const tile               = static_cast<std::uint32_t>(work.survivors[i]);
    float buffer                  = 0;
    float const norm              = *work.norms.read(tile, 1, &buffer);
    std::uint64_t const threshold = rule::survival_threshold(norm, work.largest, options.gamma);
    work.slots[i] = {static_cast<std::uint32_t>(s.first_tile) + tile, drawn.multiplier(threshold)};
  }

  segment_sample sample;
  sample.slots            = static_cast<std::uint32_t>(kept);
  sample.companion_factor = drawn.companion_factor();
  if (options.values == values::sign) {
    sample.scale = drawn.scale(options.gamma, work.largest, static_cast<double>(sums.weights) * scale.unit());
  } else {
    sample.largest_value = drawn.largest_value(work.largest);
  }
  return sample;
}

}  // namespace bird::host
