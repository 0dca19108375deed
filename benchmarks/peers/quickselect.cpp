#include "quickselect.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "prefetch.hpp"
#include "threshold.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peers/quickselect.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bird::peers::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Magnitudes of `in` that are at least pivot go to `large`, the others to `small`, both in order.
/// @returns how many are large
std::size_t partition_magnitudes(std::uint32_t const* in, std::size_t count, std::uint32_t pivot,
                                 std::uint32_t* large, std::uint32_t* small, prefetch_pattern const& pattern)
{
  constexpr std::size_t step = 64;
  hn::ScalableTag<std::uint32_t> const d;
  hn::RebindToSigned<decltype(d)> const di;
  prefetch_pattern const ahead = pattern;
  std::size_t const lanes      = hn::Lanes(d);
  auto const below             = hn::Set(di, static_cast<std::int32_t>(pivot) - 1);
  auto const magnitude         = hn::Set(d, 0x7FFFFFFFU);
  std::size_t hits             = 0;
  std::size_t i                = 0;
  for (; i + step <= count; i += step) {
    ahead(in, i * sizeof(std::uint32_t));
    for (std::size_t j = 0; j < step; j += lanes) {
      auto const key = hn::And(hn::LoadU(d, in + i + j), magnitude);
      auto const hit = hn::RebindMask(d, hn::Gt(hn::BitCast(di, key), below));
      hn::StoreU(hn::Compress(key, hit), d, large + hits);
      hn::StoreU(hn::Compress(key, hn::Not(hit)), d, small + (i + j - hits));
      hits += hn::CountTrue(d, hit);
    }
  }
  for (; i < count; ++i) {
    std::uint32_t const key = in[i] & 0x7FFFFFFFU;
    if (key >= pivot) {
      large[hits++] = key;
    } else {
      small[i - hits] = key;
    }
  }
  return hits;
}

}  // namespace bird::peers::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bird::peers {
namespace {

HWY_EXPORT(partition_magnitudes);

constexpr std::size_t small_problem = 4096;  // std::nth_element finishes what is smaller
constexpr std::size_t sample_size   = 255;

std::uint32_t sample_median(std::uint32_t const* keys, std::size_t count)
{
  std::array<std::uint32_t, sample_size> sample{};
  for (std::size_t i = 0; i < sample_size; ++i) {
    sample[i] = keys[count / sample_size * i] & 0x7FFFFFFFU;
  }
  std::nth_element(sample.begin(), sample.begin() + sample_size / 2, sample.end());
  return sample[sample_size / 2];
}

/// Bits of the k-th largest magnitude.
std::uint32_t select_magnitude(std::uint32_t const* in, std::size_t count, std::size_t k,
                               quickselect_buffers& buffers)
{
  std::uint32_t* large = buffers.keys[0].data();
  std::uint32_t* small = buffers.keys[1].data();
  std::uint32_t* next  = buffers.keys[2].data();
  while (count > small_problem) {
    std::uint32_t const pivot = sample_median(in, count);
    std::size_t const hits =
      HWY_DYNAMIC_DISPATCH(partition_magnitudes)(in, count, pivot, large, small, best_prefetch());
    if (hits == count) {  // the pivot is the least; leave out its equals or end
      auto const* const end = std::remove(large, large + count, pivot);
      auto const greater    = static_cast<std::size_t>(end - large);
      if (k > greater) {
        return pivot;
      }
      in    = large;
      count = greater;
      std::swap(large, next);
    } else if (k <= hits) {
      in    = large;
      count = hits;
      std::swap(large, next);
    } else {
      in = small;
      count -= hits;
      k -= hits;
      std::swap(small, next);
    }
  }
  std::transform(in, in + count, large, [](std::uint32_t bits) { return bits & 0x7FFFFFFFU; });
  std::nth_element(large, large + (k - 1), large + count, std::greater<>{});
  return large[k - 1];
}

}  // namespace

sparse_view quickselect(span<float const> gradient, std::size_t k, quickselect_buffers& buffers)
{
  auto const* const bits        = reinterpret_cast<std::uint32_t const*>(gradient.data());
  std::uint32_t const threshold = select_magnitude(bits, gradient.size(), k, buffers);
  std::size_t const count       = compress_above(gradient, threshold, buffers.kept).count;
  return buffers.kept.first(drop_ties(buffers.kept, count, threshold, k));
}

}  // namespace bird::peers
#endif
