#include "bandwidth.hpp"

#include <chrono>
#include <cstring>
#include <limits>
#include <vector>

#include "memory.hpp"
#include "threads.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peers/bandwidth.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bird::peers::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using words                     = hn::ScalableTag<std::uint32_t>;
constexpr std::size_t step      = 64;  // elements between two prefetches: 256 bytes
constexpr std::size_t run_count = 4;

/// Reads `r` of `data`, `step` elements at a time; ahead(offset in bytes) prefetches.
template <class Ahead>
std::uint32_t read_range(float const* data, range r, Ahead&& ahead)
{
  words const d;
  auto const* const bits  = reinterpret_cast<std::uint32_t const*>(data);
  std::size_t const lanes = hn::Lanes(d);
  auto even               = hn::Zero(d);
  auto odd                = hn::Zero(d);
  std::size_t i           = r.begin;
  for (; i + step <= r.end; i += step) {
    ahead(i * sizeof(float));
    for (std::size_t j = 0; j < step; j += 2 * lanes) {
      even = hn::Xor(even, hn::LoadU(d, bits + i + j));
      odd  = hn::Xor(odd, hn::LoadU(d, bits + i + j + lanes));
    }
  }
  HWY_ALIGN std::uint32_t lane[step];
  hn::Store(hn::Xor(even, odd), d, lane);
  std::uint32_t all = 0;
  for (std::size_t j = 0; j < lanes; ++j) {
    all ^= lane[j];
  }
  for (; i < r.end; ++i) {
    all ^= bits[i];
  }
  return all;
}

std::uint32_t read_plain_range(float const* data, range r)
{
  return read_range(data, r, [](std::size_t) {});
}

std::uint32_t read_prefetched_range(float const* data, range r, prefetch_pattern const& pattern)
{
  prefetch_pattern const ahead = pattern;
  return read_range(
    data, r, [&](std::size_t offset) __attribute__((always_inline)) { ahead(data, offset); });
}

std::uint32_t read_four_runs_range(float const* data, range r)
{
  words const d;
  auto const* const bits  = reinterpret_cast<std::uint32_t const*>(data);
  std::size_t const lanes = hn::Lanes(d);
  std::size_t const run   = (r.end - r.begin) / run_count / step * step;
  auto even               = hn::Zero(d);
  auto odd                = hn::Zero(d);
  for (std::size_t i = r.begin; i < r.begin + run; i += step) {
    for (std::size_t part = 0; part < run_count; ++part) {
      for (std::size_t j = 0; j < step; j += 2 * lanes) {
        even = hn::Xor(even, hn::LoadU(d, bits + part * run + i + j));
        odd  = hn::Xor(odd, hn::LoadU(d, bits + part * run + i + j + lanes));
      }
    }
  }
  HWY_ALIGN std::uint32_t lane[step];
  hn::Store(hn::Xor(even, odd), d, lane);
  std::uint32_t all = 0;
  for (std::size_t j = 0; j < lanes; ++j) {
    all ^= lane[j];
  }
  for (std::size_t i = r.begin + run_count * run; i < r.end; ++i) {
    all ^= bits[i];
  }
  return all;
}

void copy_range(float const* from, float* to, range r, prefetch_pattern const& pattern)
{
  hn::ScalableTag<float> const d;
  prefetch_pattern const ahead = pattern;
  std::size_t const lanes      = hn::Lanes(d);
  std::size_t i                = r.begin;
  for (; i + step <= r.end; i += step) {
    ahead(from, i * sizeof(float));
    for (std::size_t j = 0; j < step; j += lanes) {
      hn::Stream(hn::LoadU(d, from + i + j), d, to + i + j);
    }
  }
  std::memcpy(to + i, from + i, (r.end - i) * sizeof(float));
  hwy::FlushStream();
}

void fill_range(float* data, range r)
{
  hn::ScalableTag<float> const d;
  auto const zero         = hn::Zero(d);
  std::size_t const lanes = hn::Lanes(d);
  std::size_t i           = r.begin;
  for (; i + step <= r.end; i += step) {
    for (std::size_t j = 0; j < step; j += lanes) {
      hn::Stream(zero, d, data + i + j);
    }
  }
  std::memset(data + i, 0, (r.end - i) * sizeof(float));
  hwy::FlushStream();
}

void axpy_range(float const* x, float weight, float* dense, range r, prefetch_pattern const& pattern)
{
  hn::ScalableTag<float> const d;
  prefetch_pattern const ahead = pattern;
  auto const factor            = hn::Set(d, weight);
  std::size_t const lanes      = hn::Lanes(d);
  std::size_t i                = r.begin;
  for (; i + step <= r.end; i += step) {
    ahead(x, i * sizeof(float));
    ahead(dense, i * sizeof(float));
    for (std::size_t j = i; j < i + step; j += lanes) {
      hn::StoreU(hn::Add(hn::LoadU(d, dense + j), hn::Mul(factor, hn::LoadU(d, x + j))), d, dense + j);
    }
  }
  for (; i < r.end; ++i) {
    dense[i] += weight * x[i];
  }
}

}  // namespace bird::peers::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bird::peers {
namespace {

HWY_EXPORT(read_plain_range);
HWY_EXPORT(read_prefetched_range);
HWY_EXPORT(read_four_runs_range);
HWY_EXPORT(copy_range);
HWY_EXPORT(fill_range);
HWY_EXPORT(axpy_range);

template <class Read>
std::uint32_t read_all(span<float const> data, Read&& read)
{
  std::vector<part_result<std::uint32_t>> words(static_cast<std::size_t>(parts_for(data.size())));
  for_each_chunk(data.size(), [&](int part, range r) {
    words[static_cast<std::size_t>(part)].value = read(data.data(), r);
  });
  std::uint32_t all = 0;
  for (auto const& word : words) {
    all ^= word.value;
  }
  return all;
}

prefetch_pattern measure_prefetch()
{
  constexpr std::size_t count = 32U << 20U;  // 128 MiB, more than the caches hold
  constexpr int repetitions   = 5;
  array<float> data{count};
  for (auto& x : data) {
    x = 1.0F;
  }

  prefetch_pattern const candidates[] = {linear_prefetch, page_interleaved_prefetch};
  double best_seconds[]       = {std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
  volatile std::uint32_t sink = 0;
  for (int r = 0; r < repetitions; ++r) {
    for (std::size_t c = 0; c < 2; ++c) {
      auto const start                            = std::chrono::steady_clock::now();
      sink                                        = read_prefetched(data, candidates[c]);
      std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - start;
      best_seconds[c]                             = std::min(best_seconds[c], elapsed.count());
    }
  }
  static_cast<void>(sink);
  return best_seconds[0] <= best_seconds[1] ? candidates[0] : candidates[1];
}

}  // namespace

prefetch_pattern const& best_prefetch()
{
  static prefetch_pattern const pattern = measure_prefetch();
  return pattern;
}

std::uint32_t read_plain(span<float const> data)
{
  return read_all(data, HWY_DYNAMIC_DISPATCH(read_plain_range));
}

std::uint32_t read_prefetched(span<float const> data, prefetch_pattern const& pattern)
{
  return read_all(data, [&](float const* first, range r) {
    return HWY_DYNAMIC_DISPATCH(read_prefetched_range)(first, r, pattern);
  });
}

std::uint32_t read_four_runs(span<float const> data)
{
  return read_all(data, HWY_DYNAMIC_DISPATCH(read_four_runs_range));
}

void copy_libc(span<float const> from, float* to)
{
  for_each_chunk(from.size(), [&](int, range r) {
    std::memcpy(to + r.begin, from.data() + r.begin, (r.end - r.begin) * sizeof(float));
  });
}

void copy_non_temporal(span<float const> from, float* to)
{
  prefetch_pattern const& pattern = best_prefetch();
  for_each_chunk(from.size(), [&](int, range r) {
    HWY_DYNAMIC_DISPATCH(copy_range)(from.data(), to, r, pattern);
  });
}

void fill_libc(span<float> data)
{
  for_each_chunk(data.size(), [&](int, range r) {
    std::memset(data.data() + r.begin, 0, (r.end - r.begin) * sizeof(float));
  });
}

void fill_non_temporal(span<float> data)
{
  for_each_chunk(data.size(), [&](int, range r) { HWY_DYNAMIC_DISPATCH(fill_range)(data.data(), r); });
}

void axpy(span<float const> x, float weight, span<float> dense)
{
  prefetch_pattern const& pattern = best_prefetch();
  for_each_chunk(x.size(), [&](int, range r) {
    HWY_DYNAMIC_DISPATCH(axpy_range)(x.data(), weight, dense.data(), r, pattern);
  });
}

}  // namespace bird::peers
#endif
