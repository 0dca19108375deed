/// rule::norm_of is the specification; what follows is the same tree by the vector. Lane l of the rule is
/// lane l % N of accumulator l / N, so halving the 64 lanes is adding accumulators first and lanes after.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/l1_tiles.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "host/l1_tiles.hpp"
#include "host/load-inl.hpp"
#include "host/prefetch.hpp"
#include "tile_norm.cuh"

HWY_BEFORE_NAMESPACE();
namespace bird::host::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if BIRD_FIXED_VECTORS
/// Lane i += lane i + N / 2, halving down to one lane.
template <class D>
HWY_INLINE float halve(D d, hn::Vec<D> lanes)
{
  constexpr std::size_t count = hn::MaxLanes(D{});
  if constexpr (count > 4) {
    hn::Half<D> const half;
    return halve(half, hn::Add(hn::LowerHalf(half, lanes), hn::UpperHalf(half, lanes)));
  } else {
    lanes = hn::Add(lanes, hn::Shuffle1032(lanes));
    return hn::GetLane(hn::Add(lanes, hn::Shuffle2301(lanes)));
  }
}

/// The tree over fewer than one row of elements that do not fill whole vectors.
template <class T>
HWY_INLINE float short_sum(T const* elements, std::uint32_t count)
{
  float lanes[rule::norm_lanes] = {};
  std::uint32_t width           = 1;
  while (width < count) {
    width *= 2;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    lanes[i] = rule::magnitude(rule::widen(elements[i]));
  }
  for (width /= 2; width > 0; width /= 2) {
    for (std::uint32_t lane = 0; lane < width; ++lane) {
      lanes[lane] += lanes[lane + width];
    }
  }
  return lanes[0];
}

/// One row of at most 64 elements, cut into vectors and added to the accumulators.
template <class D, class T>
HWY_INLINE void add_tail(D d, T const* elements, std::uint32_t count, hn::Vec<D>* sums)
{
  constexpr std::uint32_t lanes = hn::MaxLanes(D{});
  std::uint32_t vector          = 0;
  for (; (vector + 1) * lanes <= count; ++vector) {
    sums[vector] = hn::Add(sums[vector], hn::Abs(load(d, elements + vector * lanes)));
  }
  if (vector * lanes < count) {  // the elements past the end count as zero
    T rest[lanes] = {};
    for (std::uint32_t i = 0; vector * lanes + i < count; ++i) {
      rest[i] = elements[vector * lanes + i];
    }
    sums[vector] = hn::Add(sums[vector], hn::Abs(load(d, rest)));
  }
}

template <class D, class T>
HWY_INLINE float chunk_sum(D d, T const* elements, std::uint32_t count, stream_prefetch& prefetch)
{
  constexpr std::uint32_t lanes   = hn::MaxLanes(D{});
  constexpr std::uint32_t vectors = rule::norm_lanes / lanes;
  hn::Vec<D> sums[vectors];
  for (std::uint32_t v = 0; v < vectors; ++v) {
    sums[v] = hn::Zero(d);
  }
  std::uint32_t row = 0;
  for (; row + rule::norm_lanes <= count; row += rule::norm_lanes) {
    prefetch(elements + row);
    for (std::uint32_t v = 0; v < vectors; ++v) {
      sums[v] = hn::Add(sums[v], hn::Abs(load(d, elements + row + v * lanes)));
    }
  }
  if (row < count) {
    prefetch(elements + row);
    add_tail(d, elements + row, count - row, sums);
  }
  for (std::uint32_t half = vectors / 2; half > 0; half /= 2) {
    for (std::uint32_t v = 0; v < half; ++v) {
      sums[v] = hn::Add(sums[v], sums[v + half]);
    }
  }
  return halve(d, sums[0]);
}

template <class D, class T>
HWY_INLINE double l1_sum(D d, T const* elements, std::uint64_t count, stream_prefetch& prefetch)
{
  if (count <= rule::chunk_items) {
    return static_cast<double>(chunk_sum(d, elements, static_cast<std::uint32_t>(count), prefetch));
  }
  double sum = 0;
  for (std::uint64_t first = 0; first < count; first += rule::chunk_items) {
    auto const items = static_cast<std::uint32_t>(HWY_MIN(count - first, std::uint64_t{rule::chunk_items}));
    sum += static_cast<double>(chunk_sum(d, elements + first, items, prefetch));
  }
  return sum;
}

/// A tile of exactly one vector: the small tiles of a fine-grained sample.
template <class D, class T>
HWY_INLINE void vector_tiles(D d, T const* elements, std::uint64_t tiles, float* norms,
                             stream_prefetch& prefetch)
{
  constexpr std::uint64_t lanes = hn::MaxLanes(D{});
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    T const* const first = elements + tile * lanes;
    prefetch(first);
    norms[tile] = halve(d, hn::Abs(load(d, first)));
  }
}
#endif  // BIRD_FIXED_VECTORS

/// Sums of |x| of `tiles` whole tiles, still without the test for Inf and NaN.
template <class T>
void l1_tiles(T const* elements, std::uint64_t tile, std::uint64_t tiles, float* norms)
{
#if BIRD_FIXED_VECTORS
  stream_prefetch prefetch{elements, elements + tile * tiles, prefetch_pattern_of_cpu()};
  hn::CappedTag<float, 16> const d;
  if (tile == 8 && hn::MaxLanes(hn::CappedTag<float, 8>{}) == 8) {
    vector_tiles(hn::CappedTag<float, 8>{}, elements, tiles, norms, prefetch);
    return;
  }
  if (tile == 4) {
    vector_tiles(hn::CappedTag<float, 4>{}, elements, tiles, norms, prefetch);
    return;
  }
  for (std::uint64_t i = 0; i < tiles; ++i) {
    T const* const first = elements + i * tile;
    if (tile < 16) {
      prefetch(first);
      norms[i] = short_sum(first, static_cast<std::uint32_t>(tile));
    } else {
      norms[i] = static_cast<float>(l1_sum(d, first, tile, prefetch));
    }
  }
#else
  for (std::uint64_t i = 0; i < tiles; ++i) {
    double sum = 0;
    for (std::uint64_t first = 0; first < tile; first += rule::chunk_items) {
      auto const items = static_cast<std::uint32_t>(HWY_MIN(tile - first, std::uint64_t{rule::chunk_items}));
      sum += static_cast<double>(rule::chunk_sum<float>(elements + i * tile + first, items));
    }
    norms[i] = static_cast<float>(sum);
  }
#endif
}

void l1_tiles_float(float const* x, std::uint64_t tile, std::uint64_t tiles, float* norms)
{
  l1_tiles(x, tile, tiles, norms);
}
void l1_tiles_half(rule::half16 const* x, std::uint64_t tile, std::uint64_t tiles, float* norms)
{
  l1_tiles(x, tile, tiles, norms);
}
void l1_tiles_bfloat(rule::bfloat16 const* x, std::uint64_t tile, std::uint64_t tiles, float* norms)
{
  l1_tiles(x, tile, tiles, norms);
}

/// Largest bit pattern of |x|; at or above infinity's if any is Inf or NaN.
template <class T>
std::uint32_t largest_bits(T const* elements, std::uint64_t count)
{
  std::uint64_t i       = 0;
  std::uint32_t largest = 0;
#if BIRD_FIXED_VECTORS
  hn::CappedTag<float, 16> const d;
  hn::RebindToUnsigned<decltype(d)> const bits;
  constexpr std::uint64_t lanes = hn::MaxLanes(decltype(d){});
  stream_prefetch prefetch{elements, elements + count, prefetch_pattern_of_cpu()};
  auto first  = hn::Zero(bits);
  auto second = hn::Zero(bits);
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    prefetch(elements + i);
    first  = hn::Max(first, hn::BitCast(bits, hn::Abs(load(d, elements + i))));
    second = hn::Max(second, hn::BitCast(bits, hn::Abs(load(d, elements + i + lanes))));
  }
  std::uint32_t all[lanes];
  hn::StoreU(hn::Max(first, second), bits, all);
  for (std::uint32_t value : all) {
    largest = HWY_MAX(largest, value);
  }
#endif
  for (; i < count; ++i) {
    largest = HWY_MAX(largest, rule::bits_of(rule::magnitude(rule::widen(elements[i]))));
  }
  return largest;
}

std::uint32_t largest_float(float const* x, std::uint64_t count) { return largest_bits(x, count); }
std::uint32_t largest_half(rule::half16 const* x, std::uint64_t count) { return largest_bits(x, count); }
std::uint32_t largest_bfloat(rule::bfloat16 const* x, std::uint64_t count) { return largest_bits(x, count); }

}  // namespace bird::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace bird::host {

prefetch_pattern prefetch_pattern_of_cpu()
{
  static prefetch_pattern const pattern = [] {
#if defined(__x86_64__)
    unsigned int leaf = 0, b = 0, c = 0, d = 0;
    bool const intel = __get_cpuid(0, &leaf, &b, &c, &d) != 0 && b == 0x756E6547U;  // "Genu", GenuineIntel
    return intel ? prefetch_pattern::four_pages : prefetch_pattern::page_ahead;
#else
    return prefetch_pattern::page_ahead;
#endif
  }();
  return pattern;
}

HWY_EXPORT(l1_tiles_float);
HWY_EXPORT(l1_tiles_half);
HWY_EXPORT(l1_tiles_bfloat);
HWY_EXPORT(largest_float);
HWY_EXPORT(largest_half);
HWY_EXPORT(largest_bfloat);

void l1_tiles(float const* x, std::uint64_t tile, std::uint64_t tiles, float* norms)
{
  HWY_DYNAMIC_DISPATCH(l1_tiles_float)(x, tile, tiles, norms);
}
void l1_tiles(rule::half16 const* x, std::uint64_t tile, std::uint64_t tiles, float* norms)
{
  HWY_DYNAMIC_DISPATCH(l1_tiles_half)(x, tile, tiles, norms);
}
void l1_tiles(rule::bfloat16 const* x, std::uint64_t tile, std::uint64_t tiles, float* norms)
{
  HWY_DYNAMIC_DISPATCH(l1_tiles_bfloat)(x, tile, tiles, norms);
}
std::uint32_t largest_bits(float const* x, std::uint64_t n)
{
  return HWY_DYNAMIC_DISPATCH(largest_float)(x, n);
}
std::uint32_t largest_bits(rule::half16 const* x, std::uint64_t n)
{
  return HWY_DYNAMIC_DISPATCH(largest_half)(x, n);
}
std::uint32_t largest_bits(rule::bfloat16 const* x, std::uint64_t n)
{
  return HWY_DYNAMIC_DISPATCH(largest_bfloat)(x, n);
}

}  // namespace bird::host
#endif  // HWY_ONCE
