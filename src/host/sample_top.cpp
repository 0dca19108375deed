/// sample, top: the K tiles of largest norm, found by a radix select over the norms' bits.
///
/// Norms are not negative, so their bit patterns sort as they do. Three histograms (11, 10 and 10 bits) find
/// the K-th largest; of the tiles that equal it the first ones are kept.
#include "host/sample.hpp"
#include "weight.cuh"

#include <vector>

namespace bird::host {
namespace {

struct digit {
  std::uint32_t shift;
  std::uint32_t bits;
};
constexpr digit digits[] = {{20, 11}, {10, 10}, {0, 10}};

/// Histogram of a digit over the tiles whose higher bits are `prefix`. Tiles of norm 0 do not count.
std::vector<std::uint64_t> histogram(segment_work const& work, chunk_list const& chunks, digit d,
                                     std::uint32_t prefix)
{
  std::vector<std::uint64_t> bins(std::size_t{1} << d.bits, 0);
#pragma omp parallel if (work.many)
  {
    default_arithmetic const settings;
    std::vector<std::uint64_t> mine(bins.size(), 0);
    float buffer[sample_chunk_tiles];
#pragma omp for schedule(static)
    for (std::int64_t chunk = 0; chunk < static_cast<std::int64_t>(chunks.size()); ++chunk) {
      auto const c             = static_cast<std::uint64_t>(chunk);
      float const* const norms = work.norms.read(chunks.first(c), chunks.tiles(c), buffer);
      for (std::uint64_t i = 0; i < chunks.tiles(c); ++i) {
        std::uint32_t const bits = rule::bits_of(norms[i]);
        if (bits != 0 && static_cast<std::uint64_t>(bits) >> (d.shift + d.bits) == prefix) {
          ++mine[bits >> d.shift & ((1U << d.bits) - 1)];
        }
      }
    }
#pragma omp critical(bird_norm_bins)
    for (std::size_t bin = 0; bin < bins.size(); ++bin) {
      bins[bin] += mine[bin];
    }
  }
  return bins;
}

/// The K-th largest norm's bits, and how many tiles that equal it are kept.
struct cut {
  std::uint32_t bits = 0;
  std::uint64_t ties = 0;
};

cut find_cut(segment_work const& work, chunk_list const& chunks)
{
  std::uint64_t wanted = work.segment->slots;
  std::uint32_t prefix = 0;
  for (digit const d : digits) {
    std::vector<std::uint64_t> const bins = histogram(work, chunks, d, prefix);
    std::size_t bin                       = bins.size();
    while (bin > 0 && bins[bin - 1] < wanted) {
      wanted -= bins[--bin];
    }
    if (bin == 0) {  // fewer than K tiles have a norm at all
      return {};
    }
    prefix = prefix << d.bits | static_cast<std::uint32_t>(bin - 1);
  }
  return {prefix, wanted};
}

}  // namespace

segment_sample sample_top(segment_work const& work, compressor_options const& options)
{
  segment_plan const& s = *work.segment;
  chunk_list const above{s.tiles, work.chunk_storage};
  chunk_list const equal{s.tiles, work.chunk_storage + above.size()};
  cut const limit = find_cut(work, above);

  parallel_for(above.size(), work.many, [&](std::uint64_t c) {
    float buffer[sample_chunk_tiles];
    float const* const norms = work.norms.read(above.first(c), above.tiles(c), buffer);
    above[c]                 = 0;
    equal[c]                 = 0;
    for (std::uint64_t i = 0; i < above.tiles(c); ++i) {
      std::uint32_t const bits = rule::bits_of(norms[i]);
      above[c] += bits > limit.bits ? 1U : 0U;
      equal[c] += bits == limit.bits && bits != 0 ? 1U : 0U;
    }
  });
  std::uint64_t const larger = above.place();
  equal.place();

  rule::weight_scale const scale{work.largest, s.tiles};
  std::uint64_t total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total) if (work.many)
  for (std::int64_t chunk = 0; chunk < static_cast<std::int64_t>(above.size()); ++chunk) {
    default_arithmetic const settings;
    auto const c = static_cast<std::uint64_t>(chunk);
    float buffer[sample_chunk_tiles];
    float const* const norms = work.norms.read(above.first(c), above.tiles(c), buffer);
    std::uint64_t ties       = equal[c];
    slot* out                = work.slots + above[c] + std::min(ties, limit.ties);
    for (std::uint64_t i = 0; i < above.tiles(c); ++i) {
      std::uint32_t const bits = rule::bits_of(norms[i]);
      bool const tie           = bits == limit.bits && limit.bits != 0;
      if (bits > limit.bits || (tie && ties < limit.ties)) {
        *out++ = {static_cast<std::uint32_t>(s.first_tile + above.first(c) + i), 1.0F};
        total += scale.weight(norms[i]);
      }
      ties += tie ? 1 : 0;
    }
  }

  segment_sample sample;
  sample.slots            = static_cast<std::uint32_t>(larger + limit.ties);
  sample.companion_factor = 1.0 / static_cast<double>(s.tiles);
  if (options.values == values::sign) {
    sample.scale = rule::to_finite_float(rule::norm_per_slot(total, scale, sample.slots));
  }
  return sample;
}

}  // namespace bird::host
