/// sample, uniform: see uniform.cuh for the rule.
#include "uniform.cuh"

#include "host/l1_tiles.hpp"
#include "host/philox.hpp"
#include "host/sample.hpp"
#include "tile_norm.cuh"
#include "weight.cuh"

namespace bird::host {
namespace {

/// Norm of one drawn tile: by the vector where the rule's sum is plain, else by the rule itself.
template <class T>
rule::tile_norm norm_of_tile(segment_plan const& s, norm kind, std::uint64_t tile)
{
  T const* const elements   = static_cast<T const*>(s.data) + tile * s.tile;
  std::uint64_t const items = std::min(s.tile, s.count - tile * s.tile);
  float norm                = 0;
  if (kind == norm::l1) {
    l1_tiles(elements, items, 1, &norm);
  }
  return kind == norm::l1 && rule::is_finite(norm) ? rule::tile_norm{norm, false}
                                                   : rule::norm_of(kind, elements, items);
}

/// The tiles that the slots of one chunk draw.
struct drawn_tiles {
  drawn_tiles(segment_work const& work, std::uint64_t first, std::uint64_t count)
  {
    segment_plan const& s = *work.segment;
    std::uint32_t words[sample_chunk_tiles];
    philox_fill(work.key, s.number, rule::purpose::stratum, first / 4, {words, rule::round_up(count, 4)});
    for (std::uint64_t i = 0; i < count; ++i) {
      rule::stratum const stratum = rule::stratum_of(first + i, s.tiles, s.slots);
      tile[i]                     = static_cast<std::uint32_t>(rule::uniform_tile(stratum, words[i]));
      length[i]                   = static_cast<std::uint32_t>(stratum.length);
    }
  }
  std::uint32_t tile[sample_chunk_tiles];
  std::uint32_t length[sample_chunk_tiles];
};

struct candidate_counts {
  std::uint64_t kept       = 0;
  std::uint64_t non_finite = 0;
};

/// Norms of the drawn tiles of one chunk. They lie apart, so each is asked for some tiles ahead.
template <class T>
candidate_counts norms_of_drawn(segment_work const& work, norm kind, std::uint64_t first, std::uint64_t count)
{
  constexpr std::uint64_t ahead    = 8;
  constexpr std::uint64_t farthest = 1024;  // bytes; from there on the hardware follows by itself
  segment_plan const& s            = *work.segment;
  std::uint64_t const bytes        = std::min(s.tile * sizeof(T), farthest);
  drawn_tiles const drawn{work, first, count};
  candidate_counts counts;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i + ahead < count) {
      auto const* const next =
        reinterpret_cast<char const*>(static_cast<T const*>(s.data) + drawn.tile[i + ahead] * s.tile);
      for (std::uint64_t at = 0; at < bytes; at += 64) {
        __builtin_prefetch(next + at);
      }
    }
    rule::tile_norm const one       = norm_of_tile<T>(s, kind, drawn.tile[i]);
    work.candidate_norms[first + i] = one.norm;
    counts.kept += one.norm > 0 ? 1 : 0;
    counts.non_finite += one.non_finite ? 1 : 0;
  }
  return counts;
}

}  // namespace

segment_sample sample_uniform(segment_work const& work, compressor_options const& options)
{
  segment_plan const& s = *work.segment;
  chunk_list const chunks{s.slots, work.chunk_storage};
  std::uint64_t* const bad = work.chunk_storage + chunks.size();
  bool const many          = s.slots * s.tile > parallel_elements;
  parallel_for(chunks.size(), many, [&](std::uint64_t c) {
    candidate_counts const counts = dispatch(work.type, [&](auto tag) {
      return norms_of_drawn<typename decltype(tag)::type>(work, options.norm, chunks.first(c),
                                                          chunks.tiles(c));
    });
    chunks[c]                     = counts.kept;
    bad[c]                        = counts.non_finite;
  });
  std::uint64_t const kept = chunks.place();
  parallel_for(chunks.size(), many, [&](std::uint64_t c) {
    drawn_tiles const drawn{work, chunks.first(c), chunks.tiles(c)};
    slot* out = work.slots + chunks[c];
    for (std::uint64_t i = 0; i < chunks.tiles(c); ++i) {
      if (work.candidate_norms[chunks.first(c) + i] > 0) {
        *out++ = {static_cast<std::uint32_t>(s.first_tile) + drawn.tile[i],
                  static_cast<float>(drawn.length[i])};
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
    sample.scale = rule::to_finite_float(rule::norm_per_slot(total, scale, kept));
  } else {
    sample.largest_value = longest * static_cast<double>(largest);
  }
  return sample;
}

}  // namespace bird::host
