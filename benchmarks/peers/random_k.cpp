#include "random_k.hpp"

#include <vector>

#include "threads.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peers/random_k.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bird::peers::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // has no 64-bit lane of two words: one element after the other

std::size_t philox_range(float const* x, range r, std::uint32_t threshold, float scale, std::uint64_t seed,
                         std::uint32_t* index, float* value)
{
  std::size_t kept = 0;
  for (std::size_t i = r.begin; i < r.end; ++i) {
    std::uint32_t c[4] = {static_cast<std::uint32_t>(i / 4), static_cast<std::uint32_t>(i / 4 >> 32U), 0, 0};
    auto key0          = static_cast<std::uint32_t>(seed);
    auto key1          = static_cast<std::uint32_t>(seed >> 32U);
    for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9U, key1 += 0xBB67AE85U) {
      std::uint64_t const left  = std::uint64_t{0xD2511F53U} * c[0];
      std::uint64_t const right = std::uint64_t{0xCD9E8D57U} * c[2];
      c[0]                      = static_cast<std::uint32_t>(right >> 32U) ^ c[1] ^ key0;
      c[2]                      = static_cast<std::uint32_t>(left >> 32U) ^ c[3] ^ key1;
      c[1]                      = static_cast<std::uint32_t>(right);
      c[3]                      = static_cast<std::uint32_t>(left);
    }
    if (c[i % 4] < threshold) {
      index[kept]   = static_cast<std::uint32_t>(i);
      value[kept++] = x[i] * scale;
    }
  }
  return kept;
}

#else

using wide  = hn::ScalableTag<std::uint64_t>;
using words = hn::Repartition<std::uint32_t, wide>;

constexpr std::size_t chains = 4;  // independent generators in flight hide the latency of the multiplications

/// Philox4x32-10 of `chains` vectors of counters. Each 32-bit word lives in the low half of a 64-bit lane,
/// the high half is rubbish: the multiplication reads the low half only.
struct philox_state {
  hn::Vec<words> word[4][chains];
};

HWY_INLINE void philox_rounds(philox_state& s, std::uint32_t key0, std::uint32_t key1)
{
  words const d;
  auto const m0 = hn::Set(d, 0xD2511F53U);
  auto const m1 = hn::Set(d, 0xCD9E8D57U);
  for (int round = 0; round < 10; ++round) {
    auto const k0 = hn::Set(d, key0);
    auto const k1 = hn::Set(d, key1);
    for (std::size_t c = 0; c < chains; ++c) {
      auto const left  = hn::MulEven(s.word[0][c], m0);
      auto const right = hn::MulEven(s.word[2][c], m1);
      s.word[0][c]     = hn::Xor(hn::Xor(hn::BitCast(d, hn::ShiftRight<32>(right)), s.word[1][c]), k0);
      s.word[2][c]     = hn::Xor(hn::Xor(hn::BitCast(d, hn::ShiftRight<32>(left)), s.word[3][c]), k1);
      s.word[1][c]     = hn::BitCast(d, right);
      s.word[3][c]     = hn::BitCast(d, left);
    }
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
}

/// `begin` is a multiple of 4096. Positions first, a page of the output at a time, then their values.
std::size_t philox_range(float const* x, range r, std::uint32_t threshold, float scale, std::uint64_t seed,
                         std::uint32_t* index, float* value)
{
  words const d;
  wide const dw;
  std::size_t const blocks = hn::Lanes(dw);        // counters a vector
  std::size_t const group  = 4 * blocks * chains;  // elements a turn
  auto const limit         = hn::Set(d, threshold);
  auto const low           = hn::BitCast(d, hn::Set(dw, 0xFFFFFFFFULL));
  // Lane 2b of a packed vector is element 4b (or 4b + 2), lane 2b + 1 the one after it.
  auto const lane = hn::Iota(d, 0);
  auto const element =
    hn::Add(hn::ShiftLeft<1>(hn::AndNot(hn::Set(d, 1), lane)), hn::And(lane, hn::Set(d, 1)));
  auto const key0  = static_cast<std::uint32_t>(seed);
  auto const key1  = static_cast<std::uint32_t>(seed >> 32);
  std::size_t kept = 0;
  for (std::size_t page = r.begin; page < r.end; page += chunk_elements) {
    std::size_t const page_end = page + chunk_elements < r.end ? page + chunk_elements : r.end;
    std::size_t const first    = kept;
    for (std::size_t i = page; i < page_end; i += group) {
      philox_state s;
      for (std::size_t c = 0; c < chains; ++c) {
        s.word[0][c] = hn::BitCast(d, hn::Iota(dw, i / 4 + c * blocks));
        s.word[1][c] = hn::Zero(d);
        s.word[2][c] = hn::Zero(d);
        s.word[3][c] = hn::Zero(d);
      }
      philox_rounds(s, key0, key1);
      for (std::size_t c = 0; c < chains; ++c) {
        for (std::size_t pair = 0; pair < 4; pair += 2) {
          auto const even   = hn::And(s.word[pair][c], low);
          auto const odd    = hn::BitCast(d, hn::ShiftLeft<32>(hn::BitCast(dw, s.word[pair + 1][c])));
          auto const random = hn::Or(even, odd);
          auto const offset = static_cast<std::uint32_t>(i + c * 4 * blocks + pair);
          auto const hit    = hn::Lt(random, limit);
          hn::StoreU(hn::Compress(hn::Add(element, hn::Set(d, offset)), hit), d, index + kept);
          kept += hn::CountTrue(d, hit);
        }
      }
    }
    while (kept > first && index[kept - 1] >= page_end) {
      --kept;
    }  // the last group may pass the end
    for (std::size_t k = first; k < kept; ++k) {
      value[k] = x[index[k]] * scale;
    }
  }
  return kept;
}

#endif

}  // namespace bird::peers::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bird::peers {
namespace {

HWY_EXPORT(philox_range);

std::uint64_t splitmix64(std::uint64_t x)
{
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ x >> 30U) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ x >> 27U) * 0x94D049BB133111EBULL;
  return x ^ x >> 31U;
}

}  // namespace

sparse_view random_k_philox(span<float const> gradient, double ratio, std::uint64_t seed, sparse_buffer& kept)
{
  auto const threshold = static_cast<std::uint32_t>(ratio * 4294967296.0);
  std::vector<part_result<std::size_t>> counts(static_cast<std::size_t>(parts_for(gradient.size())));
  for_each_chunk(gradient.size(), [&](int part, range r) {
    counts[static_cast<std::size_t>(part)].value =
      HWY_DYNAMIC_DISPATCH(philox_range)(gradient.data(), r, threshold, static_cast<float>(1 / ratio), seed,
                                         kept.index() + r.begin, kept.value() + r.begin);
  });
  return kept.first(kept.join(gradient.size(), counts));
}

sparse_view random_k_draws(span<float const> gradient, std::size_t k, std::uint64_t seed, sparse_buffer& kept)
{
  float const scale          = static_cast<float>(gradient.size()) / static_cast<float>(k);
  std::uint64_t const count  = gradient.size();
  std::uint32_t* const index = kept.index();
  float* const value         = kept.value();
#pragma omp parallel for num_threads(parts_for(gradient.size())) schedule(static)
  for (std::size_t i = 0; i < k; ++i) {
    // The high half of a 32 x 32 bit product maps the draw to [0, count).
    index[i] = static_cast<std::uint32_t>((splitmix64(seed + i) >> 32U) * count >> 32U);
    value[i] = gradient[index[i]] * scale;
  }
  return kept.first(k);
}

}  // namespace bird::peers
#endif
