/// philox_fill: the words of successive Philox blocks, one block a vector lane.
///
/// rule::philox is the specification. Ten rounds depend on each other, so two groups of lanes run side by
/// side to hide the latency of the multiplications.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/philox.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "host/philox.hpp"

HWY_BEFORE_NAMESPACE();
namespace bird::host::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if !HWY_HAVE_SCALABLE && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
namespace {

using lanes32 = hn::ScalableTag<std::uint32_t>;
using vector  = hn::Vec<lanes32>;

/// Halves of the products of all lanes with a factor that is the same in each.
HWY_INLINE void multiply(vector a, vector factor, vector& high, vector& low)
{
  lanes32 const d;
  auto const even = hn::BitCast(d, hn::MulEven(a, factor));
  auto const odd  = hn::BitCast(d, hn::MulEven(hn::Shuffle2301(a), factor));
  high            = hn::OddEven(odd, hn::Shuffle2301(even));
  low             = hn::OddEven(hn::Shuffle2301(odd), even);
}

struct group {
  vector word[4];
};

HWY_INLINE void round_of(group& g, vector key0, vector key1, vector m0, vector m1)
{
  vector high0, low0, high1, low1;
  multiply(g.word[0], m0, high0, low0);
  multiply(g.word[2], m1, high1, low1);
  g.word[0] = hn::Xor(high1, hn::Xor(g.word[1], key0));
  g.word[1] = low1;
  g.word[2] = hn::Xor(high0, hn::Xor(g.word[3], key1));
  g.word[3] = low0;
}

constexpr std::uint64_t blocks_per_vector = hn::MaxLanes(lanes32{});

/// Counters of blocks first, first + 1, ... Their low words must not overflow inside the group.
HWY_INLINE group counters(std::uint64_t first, std::uint32_t segment, std::uint32_t what)
{
  lanes32 const d;
  return {{hn::Iota(d, static_cast<std::uint32_t>(first)),
           hn::Set(d, static_cast<std::uint32_t>(first >> 32)), hn::Set(d, segment), hn::Set(d, what)}};
}

HWY_INLINE void store(group const& g, std::uint32_t* words)
{
  hn::StoreInterleaved4(g.word[0], g.word[1], g.word[2], g.word[3], lanes32{}, words);
}

}  // namespace

std::uint64_t fill_whole_groups(rule::philox_key key, std::uint32_t segment, std::uint32_t what,
                                std::uint64_t first_block, std::uint64_t blocks, std::uint32_t* words)
{
  lanes32 const d;
  auto const m0                   = hn::Set(d, rule::philox_multiplier_0);
  auto const m1                   = hn::Set(d, rule::philox_multiplier_1);
  constexpr std::uint64_t at_once = 2 * blocks_per_vector;

  std::uint64_t done = 0;
  for (; done + at_once <= blocks; done += at_once) {
    std::uint64_t const first = first_block + done;
    if (static_cast<std::uint32_t>(first) > 0xFFFFFFFFU - at_once) {
      break;  // the low words would overflow; the caller takes these one by one
    }
    group a   = counters(first, segment, what);
    group b   = counters(first + blocks_per_vector, segment, what);
    auto key0 = hn::Set(d, key.word[0]);
    auto key1 = hn::Set(d, key.word[1]);
    for (int round = 0; round < rule::philox_rounds; ++round) {
      round_of(a, key0, key1, m0, m1);
      round_of(b, key0, key1, m0, m1);
      key0 = hn::Add(key0, hn::Set(d, rule::philox_weyl_0));
      key1 = hn::Add(key1, hn::Set(d, rule::philox_weyl_1));
    }
    store(a, words + 4 * done);
    store(b, words + 4 * (done + blocks_per_vector));
  }
  return done;
}
#else
std::uint64_t fill_whole_groups(rule::philox_key, std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t,
                                std::uint32_t*)
{
  return 0;
}
#endif

}  // namespace bird::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bird::host {

HWY_EXPORT(fill_whole_groups);

void philox_fill(rule::philox_key key, std::uint32_t segment, rule::purpose what, std::uint64_t first_block,
                 span<std::uint32_t> words)
{
  std::uint64_t const blocks = words.size() / 4;
  std::uint64_t done         = 0;
  while (done < blocks) {
    done +=
      HWY_DYNAMIC_DISPATCH(fill_whole_groups)(key, segment, static_cast<std::uint32_t>(what),
                                              first_block + done, blocks - done, words.data() + 4 * done);
    // A remainder, or the few blocks around an overflow of the counter's low word.
    constexpr std::uint64_t one_by_one = 64;
    for (std::uint64_t end = HWY_MIN(blocks, done + one_by_one); done < end; ++done) {
      rule::philox_block const block = rule::draw_block(key, segment, what, first_block + done);
      for (int word = 0; word < 4; ++word) {
        words[4 * done + static_cast<std::uint64_t>(word)] = block.word[word];
      }
    }
  }
}

}  // namespace bird::host
#endif  // HWY_ONCE
