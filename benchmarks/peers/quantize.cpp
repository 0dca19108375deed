#include "quantize.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include "prefetch.hpp"
#include "sparse.hpp"
#include "threads.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peers/quantize.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bird::peers::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t step = 64;

/// @returns the sum of |x|
double sign_range(float const* x, range r, std::uint8_t* bits, prefetch_pattern const& pattern)
{
  hn::ScalableTag<float> const d;
  hn::RebindToSigned<decltype(d)> const di;
  prefetch_pattern const ahead = pattern;
  std::size_t const lanes      = hn::Lanes(d);
  double sum                   = 0;
  std::size_t i                = r.begin;
  for (std::size_t first = r.begin; first + step <= r.end; first = i) {
    std::size_t const last = r.end < first + chunk_elements ? r.end : first + chunk_elements;
    auto even              = hn::Zero(d);
    auto odd               = hn::Zero(d);
    for (; i + step <= last; i += step) {
      ahead(x, i * sizeof(float));
      std::uint64_t word = 0;
      for (std::size_t j = 0; j < step; j += 2 * lanes) {
        auto const a = hn::LoadU(d, x + i + j);
        auto const b = hn::LoadU(d, x + i + j + lanes);
        std::uint8_t mask[8];
        std::uint64_t low  = 0;
        std::uint64_t high = 0;
        std::size_t bytes  = hn::StoreMaskBits(di, hn::Lt(hn::BitCast(di, a), hn::Zero(di)), mask);
        std::memcpy(&low, mask, sizeof(std::uint16_t));
        low &= bytes == 1 ? 0xFFU : 0xFFFFU;
        bytes = hn::StoreMaskBits(di, hn::Lt(hn::BitCast(di, b), hn::Zero(di)), mask);
        std::memcpy(&high, mask, sizeof(std::uint16_t));
        high &= bytes == 1 ? 0xFFU : 0xFFFFU;
        word |= (low | high << lanes) << j;
        even = hn::Add(even, hn::Abs(a));
        odd  = hn::Add(odd, hn::Abs(b));
      }
      std::memcpy(bits + i / 8, &word, sizeof(word));
    }
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd))));
  }
  for (; i < r.end; ++i) {
    int const bit = std::signbit(x[i]) ? 1 : 0;
    bits[i / 8]   = static_cast<std::uint8_t>((i % 8 == 0 ? 0 : bits[i / 8]) | bit << (i % 8));
    sum += static_cast<double>(from_magnitude_bits(magnitude_bits(x[i])));
  }
  return sum;
}

void bucket_range_quantize(float const* x, range r, std::uint32_t seed, std::uint8_t* packed,
                           bucket_range* ranges, prefetch_pattern const& pattern)
{
  // At most 16 lanes, so that a run of 32 is whole vectors on every target.
  hn::CappedTag<float, 16> const d;
  hn::RebindToUnsigned<decltype(d)> const du;
  hn::RebindToSigned<decltype(d)> const di;
  hn::Rebind<std::uint8_t, decltype(d)> const bytes;
  prefetch_pattern const ahead = pattern;
  std::size_t const lanes      = hn::Lanes(d);
  auto random = hn::Add(hn::Mul(hn::Iota(du, 1), hn::Set(du, 0x9E3779B9U)), hn::Set(du, seed));
  random      = hn::Or(random, hn::Set(du, 1));  // xorshift must not start at zero
  for (std::size_t first = r.begin; first < r.end; first += bucket_elements) {
    auto least   = hn::LoadU(d, x + first);
    auto largest = least;
    for (std::size_t i = first; i < first + bucket_elements; i += step) {
      ahead(x, i * sizeof(float));
      for (std::size_t j = 0; j < step; j += lanes) {
        auto const v = hn::LoadU(d, x + i + j);
        least        = hn::Min(least, v);
        largest      = hn::Max(largest, v);
      }
    }
    float const low                 = hn::GetLane(hn::MinOfLanes(d, least));
    float const width               = (hn::GetLane(hn::MaxOfLanes(d, largest)) - low) / 15;
    ranges[first / bucket_elements] = {low, width};
    auto const inverse              = hn::Set(d, width > 0 ? 1 / width : 0.0F);
    auto const shift                = hn::Set(d, low);
    auto const quantize             = [&](float const* from) {
      random = hn::Xor(random, hn::ShiftLeft<13>(random));
      random = hn::Xor(random, hn::ShiftRight<17>(random));
      random = hn::Xor(random, hn::ShiftLeft<5>(random));
      // 23 random bits as the fraction of a number in [1, 2), less one.
      auto const up    = hn::Sub(hn::BitCast(d, hn::Or(hn::ShiftRight<9>(random), hn::Set(du, 0x3F800000U))),
                                             hn::Set(d, 1.0F));
      auto const level = hn::ConvertTo(di, hn::MulAdd(hn::Sub(hn::LoadU(d, from), shift), inverse, up));
      return hn::Min(level, hn::Set(di, 15));
    };
    for (std::size_t i = first; i < first + bucket_elements; i += 32) {
      for (std::size_t j = 0; j < 16; j += lanes) {
        auto const pair = hn::Or(quantize(x + i + j), hn::ShiftLeft<4>(quantize(x + i + 16 + j)));
        hn::StoreU(hn::DemoteTo(bytes, pair), bytes, packed + i / 2 + j);
      }
    }
  }
}

void half_range(float const* x, range r, std::uint16_t* halves, prefetch_pattern const& pattern)
{
  hn::ScalableTag<float> const d;
  hn::Rebind<hwy::float16_t, decltype(d)> const dh;
  hn::RebindToUnsigned<decltype(dh)> const du;
  prefetch_pattern const ahead = pattern;
  std::size_t const lanes      = hn::Lanes(d);
  std::size_t i                = r.begin;
  for (; i + step <= r.end; i += step) {
    ahead(x, i * sizeof(float));
    for (std::size_t j = 0; j < step; j += lanes) {
      hn::Stream(hn::BitCast(du, hn::DemoteTo(dh, hn::LoadU(d, x + i + j))), du, halves + i + j);
    }
  }
  HWY_ALIGN float rest[step] = {};
  HWY_ALIGN std::uint16_t rest_halves[step];
  std::memcpy(rest, x + i, (r.end - i) * sizeof(float));
  for (std::size_t j = 0; j < step; j += lanes) {
    hn::Store(hn::BitCast(du, hn::DemoteTo(dh, hn::Load(d, rest + j))), du, rest_halves + j);
  }
  std::memcpy(halves + i, rest_halves, (r.end - i) * sizeof(std::uint16_t));
  hwy::FlushStream();
}

}  // namespace bird::peers::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bird::peers {

HWY_EXPORT(sign_range);
HWY_EXPORT(bucket_range_quantize);
HWY_EXPORT(half_range);

float sign_pack(span<float const> gradient, std::uint8_t* bits)
{
  prefetch_pattern const& pattern = best_prefetch();
  std::vector<part_result<double>> sums(static_cast<std::size_t>(parts_for(gradient.size())));
  for_each_chunk(gradient.size(), [&](int part, range r) {
    sums[static_cast<std::size_t>(part)].value =
      HWY_DYNAMIC_DISPATCH(sign_range)(gradient.data(), r, bits, pattern);
  });
  double sum = 0;
  for (auto const& part : sums) {
    sum += part.value;
  }
  return static_cast<float>(sum / static_cast<double>(gradient.size()));
}

void bucket_quantize(span<float const> gradient, std::uint32_t seed, std::uint8_t* packed,
                     bucket_range* ranges)
{
  prefetch_pattern const& pattern = best_prefetch();
  for_each_chunk(gradient.size(), [&](int part, range r) {
    HWY_DYNAMIC_DISPATCH(bucket_range_quantize)
    (gradient.data(), r, seed + static_cast<std::uint32_t>(part), packed, ranges, pattern);
  });
}

void half_cast(span<float const> gradient, std::uint16_t* halves)
{
  prefetch_pattern const& pattern = best_prefetch();
  for_each_chunk(gradient.size(), [&](int, range r) {
    HWY_DYNAMIC_DISPATCH(half_range)(gradient.data(), r, halves, pattern);
  });
}

}  // namespace bird::peers
#endif
