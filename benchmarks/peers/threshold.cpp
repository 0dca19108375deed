#include "threshold.hpp"

#include <vector>

#include "prefetch.hpp"
#include "threads.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peers/threshold.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bird::peers::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t step = 64;  // elements between two prefetches: 256 bytes

/// Kept elements of [begin, end) go to index and value from their first place on; branch-free, since at a
/// density of a few percent a branch a vector is mispredicted too often.
std::size_t compress_range(float const* x, range r, std::uint32_t threshold, std::uint32_t* index,
                           float* value, prefetch_pattern const& pattern)
{
  hn::ScalableTag<float> const d;
  hn::RebindToUnsigned<decltype(d)> const du;
  hn::RebindToSigned<decltype(d)> const di;
  prefetch_pattern const ahead = pattern;
  std::size_t const lanes      = hn::Lanes(d);
  // Magnitudes are non-negative as signed integers, which every target can compare.
  auto const below     = hn::Set(di, static_cast<std::int32_t>(threshold) - 1);
  auto const magnitude = hn::Set(du, 0x7FFFFFFFU);
  auto const advance   = hn::Set(du, static_cast<std::uint32_t>(lanes));
  auto position        = hn::Iota(du, static_cast<std::uint32_t>(r.begin));
  std::size_t kept     = 0;
  std::size_t i        = r.begin;
  for (; i + step <= r.end; i += step) {
    ahead(x, i * sizeof(float));
    for (std::size_t j = 0; j < step; j += lanes) {
      auto const v    = hn::LoadU(d, x + i + j);
      auto const bits = hn::BitCast(di, hn::And(hn::BitCast(du, v), magnitude));
      auto const keep = hn::Gt(bits, below);
      // Compress and a whole store: the compressing store of some processors is microcoded.
      hn::StoreU(hn::Compress(v, hn::RebindMask(d, keep)), d, value + kept);
      hn::StoreU(hn::Compress(position, hn::RebindMask(du, keep)), du, index + kept);
      kept += hn::CountTrue(di, keep);
      position = hn::Add(position, advance);
    }
  }
  for (; i < r.end; ++i) {
    if (magnitude_bits(x[i]) >= threshold) {
      index[kept]   = static_cast<std::uint32_t>(i);
      value[kept++] = x[i];
    }
  }
  return kept;
}

tail sum_range(float const* x, range r, std::uint32_t threshold, prefetch_pattern const& pattern)
{
  hn::ScalableTag<float> const d;
  hn::RebindToSigned<decltype(d)> const di;
  prefetch_pattern const ahead  = pattern;
  std::size_t const lanes       = hn::Lanes(d);
  auto const below              = hn::Set(di, static_cast<std::int32_t>(threshold) - 1);
  constexpr std::size_t columns = 1U << 14U;  // floats are added up this long before they become a double
  tail total{0, 0};
  for (std::size_t first = r.begin; first < r.end; first += columns) {
    std::size_t const last = r.end < first + columns ? r.end : first + columns;
    auto even              = hn::Zero(d);
    auto odd               = hn::Zero(d);
    auto even_count        = hn::Zero(di);
    auto odd_count         = hn::Zero(di);
    std::size_t i          = first;
    for (; i + step <= last; i += step) {
      ahead(x, i * sizeof(float));
      for (std::size_t j = 0; j < step; j += 2 * lanes) {
        auto const a        = hn::Abs(hn::LoadU(d, x + i + j));
        auto const b        = hn::Abs(hn::LoadU(d, x + i + j + lanes));
        auto const a_counts = hn::Gt(hn::BitCast(di, a), below);
        auto const b_counts = hn::Gt(hn::BitCast(di, b), below);
        even                = hn::Add(even, hn::IfThenElseZero(hn::RebindMask(d, a_counts), a));
        odd                 = hn::Add(odd, hn::IfThenElseZero(hn::RebindMask(d, b_counts), b));
        even_count          = hn::Sub(even_count, hn::VecFromMask(di, a_counts));  // a true lane is -1
        odd_count           = hn::Sub(odd_count, hn::VecFromMask(di, b_counts));
      }
    }
    total.sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd))));
    total.count += static_cast<std::size_t>(hn::GetLane(hn::SumOfLanes(di, hn::Add(even_count, odd_count))));
    for (; i < last; ++i) {
      std::uint32_t const bits = magnitude_bits(x[i]);
      if (bits >= threshold) {
        total.sum += static_cast<double>(from_magnitude_bits(bits));
        ++total.count;
      }
    }
  }
  return total;
}

}  // namespace bird::peers::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bird::peers {

HWY_EXPORT(compress_range);
HWY_EXPORT(sum_range);

sparse_view compress_above(span<float const> gradient, std::uint32_t threshold, sparse_buffer& kept)
{
  prefetch_pattern const& pattern = best_prefetch();
  std::vector<part_result<std::size_t>> counts(static_cast<std::size_t>(parts_for(gradient.size())));
  for_each_chunk(gradient.size(), [&](int part, range r) {
    counts[static_cast<std::size_t>(part)].value = HWY_DYNAMIC_DISPATCH(compress_range)(
      gradient.data(), r, threshold, kept.index() + r.begin, kept.value() + r.begin, pattern);
  });
  return kept.first(kept.join(gradient.size(), counts));
}

tail sum_above(span<float const> gradient, std::uint32_t threshold)
{
  prefetch_pattern const& pattern = best_prefetch();
  std::vector<part_result<tail>> sums(static_cast<std::size_t>(parts_for(gradient.size())));
  for_each_chunk(gradient.size(), [&](int part, range r) {
    sums[static_cast<std::size_t>(part)].value =
      HWY_DYNAMIC_DISPATCH(sum_range)(gradient.data(), r, threshold, pattern);
  });
  tail total{0, 0};
  for (auto const& part : sums) {
    total.sum += part.value.sum;
    total.count += part.value.count;
  }
  return total;
}

std::size_t sample_runs(span<float const> gradient, std::size_t stride, std::uint32_t* sample)
{
  constexpr std::size_t run = 16;  // one cache line
  std::size_t const runs    = gradient.size() / (run * stride);
#pragma omp parallel for num_threads(parts_for(gradient.size())) schedule(static)
  for (std::size_t r = 0; r < runs; ++r) {
    for (std::size_t j = 0; j < run; ++j) {
      sample[r * run + j] = magnitude_bits(gradient[r * run * stride + j]);
    }
  }
  return runs * run;
}

}  // namespace bird::peers
#endif
