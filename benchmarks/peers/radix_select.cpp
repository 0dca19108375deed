#include "radix_select.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "prefetch.hpp"
#include "threads.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peers/radix_select.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// Included once per target, so what all targets share is guarded.
#ifndef BIRD_PEERS_RADIX_SELECT_SHARED
#define BIRD_PEERS_RADIX_SELECT_SHARED
namespace bird::peers {

inline constexpr std::uint32_t digit_shift = 20;  // 31 - 11: the first digit has 11 bits
inline constexpr std::size_t bins          = 1U << (31U - digit_shift);
inline constexpr std::size_t columns = 4;  // neighbours count in different columns: equal bins do not wait

// A bin's columns lie side by side: tables of their own would collide in the low bits of their addresses,
// which makes loads wait for stores that they do not depend on.
using histogram = std::array<std::array<std::uint32_t, columns>, bins>;

struct split_counts {
  std::size_t above;
  std::size_t within;
};

}  // namespace bird::peers
#endif

HWY_BEFORE_NAMESPACE();
namespace bird::peers::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t step = 64;

/// Plain code: passing bins from vectors to addresses by memory takes longer than computing them one by one.
void count_range(float const* x, range r, histogram& counts, prefetch_pattern const& pattern)
{
  constexpr std::size_t mask   = bins - 1;
  prefetch_pattern const ahead = pattern;
  auto const* const words      = reinterpret_cast<std::uint32_t const*>(x);
  std::size_t i                = r.begin;
  for (; i + step <= r.end; i += step) {
    ahead(x, i * sizeof(float));
    for (std::size_t j = i; j < i + step; j += columns) {
      std::uint64_t pair[columns / 2];  // two elements a load
      std::memcpy(pair, words + j, sizeof pair);
      for (std::size_t c = 0; c < columns; c += 2) {
        ++counts[pair[c / 2] >> digit_shift & mask][c];
        ++counts[pair[c / 2] >> (32 + digit_shift) & mask][c + 1];
      }
    }
  }
  for (; i < r.end; ++i) {
    ++counts[words[i] >> digit_shift & mask][0];
  }
}

/// Elements of [first, last] go to `within`, larger ones to `above`.
split_counts split_range(float const* x, range r, std::uint32_t first, std::uint32_t last,
                         std::uint32_t* above_index, float* above_value, std::uint32_t* within_index,
                         float* within_value, prefetch_pattern const& pattern)
{
  hn::ScalableTag<float> const d;
  hn::RebindToUnsigned<decltype(d)> const du;
  hn::RebindToSigned<decltype(d)> const di;
  prefetch_pattern const ahead = pattern;
  std::size_t const lanes      = hn::Lanes(d);
  auto const below_first       = hn::Set(di, static_cast<std::int32_t>(first) - 1);
  auto const at_last           = hn::Set(di, static_cast<std::int32_t>(last));
  auto const magnitude         = hn::Set(du, 0x7FFFFFFFU);
  auto const advance           = hn::Set(du, static_cast<std::uint32_t>(lanes));
  auto position                = hn::Iota(du, static_cast<std::uint32_t>(r.begin));
  split_counts n{0, 0};
  std::size_t i = r.begin;
  for (; i + step <= r.end; i += step) {
    ahead(x, i * sizeof(float));
    for (std::size_t j = 0; j < step; j += lanes) {
      auto const v      = hn::LoadU(d, x + i + j);
      auto const bits   = hn::BitCast(di, hn::And(hn::BitCast(du, v), magnitude));
      auto const above  = hn::Gt(bits, at_last);
      auto const within = hn::AndNot(above, hn::Gt(bits, below_first));
      hn::StoreU(hn::Compress(v, hn::RebindMask(d, above)), d, above_value + n.above);
      hn::StoreU(hn::Compress(position, hn::RebindMask(du, above)), du, above_index + n.above);
      hn::StoreU(hn::Compress(v, hn::RebindMask(d, within)), d, within_value + n.within);
      hn::StoreU(hn::Compress(position, hn::RebindMask(du, within)), du, within_index + n.within);
      n.above += hn::CountTrue(di, above);
      n.within += hn::CountTrue(di, within);
      position = hn::Add(position, advance);
    }
  }
  for (; i < r.end; ++i) {
    std::uint32_t const bits = magnitude_bits(x[i]);
    if (bits > last) {
      above_index[n.above]   = static_cast<std::uint32_t>(i);
      above_value[n.above++] = x[i];
    } else if (bits >= first) {
      within_index[n.within]   = static_cast<std::uint32_t>(i);
      within_value[n.within++] = x[i];
    }
  }
  return n;
}

}  // namespace bird::peers::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bird::peers {
namespace {

HWY_EXPORT(count_range);
HWY_EXPORT(split_range);

/// The bin that holds the k-th largest, counted from the last bin, and the rank within it.
struct bin_rank {
  std::size_t bin;
  std::size_t rank;
};

template <class Count>
bin_rank bin_of(std::size_t bin_count, std::size_t k, Count&& count)
{
  std::size_t bin = bin_count;
  while (bin > 0) {
    std::size_t const here = count(--bin);
    if (k <= here) {
      break;
    }
    k -= here;
  }
  return {bin, k};
}

}  // namespace

std::uint32_t kth_largest(span<std::uint32_t const> keys, std::size_t k)
{
  // Digits of 11, 10 and 10 bits; after each only the keys of one bin are left.
  constexpr std::uint32_t shifts[] = {20, 10, 0};
  constexpr std::uint32_t widths[] = {11, 10, 10};
  std::vector<std::uint32_t> left;
  span<std::uint32_t const> rest = keys;
  std::uint32_t prefix           = 0;
  for (std::size_t digit = 0; digit < 3; ++digit) {
    std::uint32_t const mask = (1U << widths[digit]) - 1;
    std::array<std::uint32_t, bins> counts{};
    for (std::uint32_t const key : rest) {
      ++counts[key >> shifts[digit] & mask];
    }
    auto const [bin, rank] = bin_of(std::size_t{mask} + 1, k, [&](std::size_t b) { return counts[b]; });
    std::vector<std::uint32_t> next(counts[bin]);
    std::size_t n = 0;
    for (std::uint32_t const key : rest) {
      if ((key >> shifts[digit] & mask) == bin) {
        next[n++] = key;
      }
    }
    left = std::move(next);
    rest = left;
    k    = rank;
    prefix |= static_cast<std::uint32_t>(bin) << shifts[digit];
  }
  return prefix;
}

sparse_view radix_select(span<float const> gradient, std::size_t k, radix_buffers& buffers)
{
  if (k == 0) {
    return buffers.kept.first(0);
  }
  prefetch_pattern const& pattern = best_prefetch();
  auto const parts                = static_cast<std::size_t>(parts_for(gradient.size()));
  std::vector<part_result<histogram>> counts(parts);
  for_each_chunk(gradient.size(), [&](int part, range r) {
    HWY_DYNAMIC_DISPATCH(count_range)
    (gradient.data(), r, counts[static_cast<std::size_t>(part)].value, pattern);
  });
  auto const [bin, rank] = bin_of(bins, k, [&](std::size_t b) {
    std::size_t sum = 0;
    for (auto const& part : counts) {
      for (std::uint32_t const column : part.value[b]) {
        sum += column;
      }
    }
    return sum;
  });

  auto const first = static_cast<std::uint32_t>(bin << digit_shift);
  auto const last  = static_cast<std::uint32_t>(((bin + 1) << digit_shift) - 1);
  std::vector<part_result<std::size_t>> above(parts);
  std::vector<part_result<std::size_t>> within(parts);
  for_each_chunk(gradient.size(), [&](int part, range r) {
    auto& kept           = buffers.kept;
    auto& candidates     = buffers.candidates;
    split_counts const n = HWY_DYNAMIC_DISPATCH(split_range)(
      gradient.data(), r, first, last, kept.index() + r.begin, kept.value() + r.begin,
      candidates.index() + r.begin, candidates.value() + r.begin, pattern);
    above[static_cast<std::size_t>(part)].value  = n.above;
    within[static_cast<std::size_t>(part)].value = n.within;
  });
  std::size_t kept             = buffers.kept.join(gradient.size(), above);
  sparse_view const candidates = buffers.candidates.first(buffers.candidates.join(gradient.size(), within));

  std::vector<std::uint32_t> keys(candidates.count);
  std::transform(candidates.value, candidates.value + candidates.count, keys.begin(), magnitude_bits);
  std::uint32_t const threshold = kth_largest(keys, rank);
  auto ties                     = static_cast<std::ptrdiff_t>(rank) -
              std::count_if(keys.begin(), keys.end(), [&](std::uint32_t key) { return key > threshold; });
  for (std::size_t c = 0; c < candidates.count; ++c) {
    bool const tie = keys[c] == threshold;
    if (keys[c] > threshold || (tie && ties > 0)) {
      ties -= tie ? 1 : 0;
      buffers.kept.index()[kept]   = candidates.index[c];
      buffers.kept.value()[kept++] = candidates.value[c];
    }
  }
  return buffers.kept.first(kept);
}

}  // namespace bird::peers
#endif
