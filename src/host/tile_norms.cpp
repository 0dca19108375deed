/// tile_norms: the norm of every tile of a list, and the largest of each segment.
///
/// Sums of whole tiles come from l1_tiles; the exceptions (L2, a short last tile, a sum that is not finite)
/// from rule::norm_of, the specification.
#include <algorithm>
#include <vector>

#include "dispatch.hpp"
#include "host/l1_tiles.hpp"
#include "host/parallel.hpp"
#include "host/stages.hpp"
#include "tile_norm.cuh"

namespace bird::host {
namespace {

/// A stretch of one segment that one thread takes: whole tiles, or plain elements where there are none.
struct work_item {
  std::uint32_t segment;
  std::uint64_t first;  ///< tile, or element
  std::uint64_t count;
};

constexpr std::uint64_t item_elements =
  64 * 1024;  ///< 256 KiB of fp32: long enough for the prefetcher to settle

std::vector<work_item> cut(list_plan const& plan, bool norms_wanted, which_segments which)
{
  std::vector<work_item> items;
  for (std::uint32_t number = 0; number < plan.segments.size(); ++number) {
    segment_plan const& s = plan.segments[number];
    if (which == which_segments::not_sampled && s.role == segment_role::sampled) {
      continue;
    }
    bool const by_tile        = s.role == segment_role::sampled && norms_wanted;
    std::uint64_t const total = by_tile ? s.tiles : s.count;
    std::uint64_t const portion =
      by_tile && s.tile != 0 ? std::max(item_elements / s.tile, std::uint64_t{1}) : item_elements;
    for (std::uint64_t first = 0; first < total; first += portion) {
      items.push_back({number, first, std::min(portion, total - first)});
    }
  }
  return items;
}

/// Norms of tiles [first, first + count) of a segment.
template <class T>
norm_summary norms_of_tiles(segment_plan const& s, norm kind, std::uint64_t first, std::uint64_t count,
                            float* norms)
{
  T const* const elements   = static_cast<T const*>(s.data) + first * s.tile;
  bool const short_last     = (first + count) * s.tile > s.count;
  std::uint64_t const whole = short_last ? count - 1 : count;
  if (kind == norm::l1) {
    l1_tiles(elements, s.tile, whole, norms);
  }
  // Norms are not negative, so their largest bit pattern tells the largest norm and whether all are finite.
  std::uint32_t const largest = kind == norm::l1 ? largest_bits(norms, whole) : 0;
  bool const sound            = kind == norm::l1 && largest < rule::infinity_bits;
  norm_summary summary{sound ? rule::float_of(largest) : 0.0F, false};
  for (std::uint64_t i = sound ? whole : 0; i < count; ++i) {
    std::uint64_t const items = i < whole ? s.tile : s.count - (first + i) * s.tile;
    rule::tile_norm const one = rule::norm_of(kind, elements + i * s.tile, items);
    norms[i]                  = one.norm;
    summary.non_finite        = summary.non_finite || one.non_finite;
    summary.largest           = std::max(summary.largest, one.norm);
  }
  return summary;
}

/// Largest magnitude among elements [first, first + count) that are finite.
template <class T>
norm_summary largest_of_elements(segment_plan const& s, std::uint64_t first, std::uint64_t count)
{
  T const* const elements  = static_cast<T const*>(s.data) + first;
  std::uint32_t const bits = largest_bits(elements, count);
  if (bits < rule::infinity_bits) {
    return {rule::float_of(bits), false};
  }
  norm_summary summary{0, true};
  for (std::uint64_t i = 0; i < count; ++i) {
    float const value = rule::magnitude(rule::widen(elements[i]));
    if (rule::is_finite(value)) {
      summary.largest = std::max(summary.largest, value);
    }
  }
  return summary;
}

}  // namespace

void tile_norms(list_plan const& plan, norm kind, float* norms, which_segments which,
                span<norm_summary> summaries)
{
  std::vector<work_item> const items = cut(plan, norms != nullptr, which);
  std::vector<norm_summary> parts(items.size());
  dispatch(plan.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(items.size(), plan.elements > parallel_elements, [&](std::uint64_t i) {
      work_item const& item = items[i];
      segment_plan const& s = plan.segments[item.segment];
      bool const by_tile    = s.role == segment_role::sampled && norms != nullptr;
      parts[i]              = by_tile
                                ? norms_of_tiles<T>(s, kind, item.first, item.count, norms + s.first_tile + item.first)
                                : largest_of_elements<T>(s, item.first, item.count);
    });
  });
  for (norm_summary& summary : summaries) {
    summary = {};
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    norm_summary& summary = summaries[items[i].segment];
    summary.largest       = std::max(summary.largest, parts[i].largest);
    summary.non_finite    = summary.non_finite || parts[i].non_finite;
  }
}

}  // namespace bird::host
