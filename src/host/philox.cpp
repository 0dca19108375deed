/// philox_fill: the words of successive Philox blocks, one block a vector lane; rule::philox is the
/// specification.
///
/// A 32-bit word lives in the low half of a 64-bit lane, whatever is in the high half: the multiplication
/// reads low halves only and leaves the two halves of the product where the next round wants them. Ten rounds
/// depend on each other, so several groups of lanes run side by side to hide the latency of the
/// multiplications.
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

using lanes64 = hn::ScalableTag<std::uint64_t>;
using lanes32 = hn::Repartition<std::uint32_t, lanes64>;
using vector  = hn::Vec<lanes32>;

constexpr std::uint64_t blocks_per_vector = hn::MaxLanes(lanes64{});
constexpr int groups                      = 6;  // 3.9 times the scalar speed on Zen 4

HWY_INLINE vector high_half(vector product)
{
  return hn::BitCast(lanes32{}, hn::ShiftRight<32>(hn::BitCast(lanes64{}, product)));
}
HWY_INLINE vector multiply(vector word, vector factor)
{
  return hn::BitCast(lanes32{}, hn::MulEven(word, factor));
}
HWY_INLINE vector all(std::uint32_t word) { return hn::Set(lanes32{}, word); }

struct philox_lanes {
  vector word[4];
};

/// What the first two rounds of blocks have in common whose counters differ in word 0 alone.
struct common_rounds {
  vector word0;  ///< exclusive or of all that goes into word 0 but the product
  vector word2;
  vector word3;
  vector first2;

  common_rounds(philox_stream const& s, std::uint64_t first)
  {
    std::uint64_t const right1 = std::uint64_t{rule::philox_multiplier_1} * s.segment;
    auto const same =
      static_cast<std::uint32_t>(right1 >> 32) ^ static_cast<std::uint32_t>(first >> 32) ^ s.key.word[0];
    std::uint64_t const left2 = std::uint64_t{rule::philox_multiplier_0} * same;
    word0  = all(static_cast<std::uint32_t>(right1) ^ (s.key.word[0] + rule::philox_weyl_0));
    word2  = all(static_cast<std::uint32_t>(left2 >> 32) ^ (s.key.word[1] + rule::philox_weyl_1));
    word3  = all(static_cast<std::uint32_t>(left2));
    first2 = all(s.what ^ s.key.word[1]);
  }
};

/// Packs the low halves into the order of rule::philox_block.
HWY_INLINE void store(philox_lanes const& g, std::uint32_t* words)
{
  lanes64 const d;
  auto const low  = hn::Set(d, std::uint64_t{0xFFFFFFFF});
  auto const pack = [&](vector even, vector odd) {
    return hn::Or(hn::And(hn::BitCast(d, even), low), hn::ShiftLeft<32>(hn::BitCast(d, odd)));
  };
  hn::StoreInterleaved2(pack(g.word[0], g.word[1]), pack(g.word[2], g.word[3]), d,
                        reinterpret_cast<std::uint64_t*>(words));
}

}  // namespace

std::uint64_t fill_whole_groups(philox_stream const& s, std::uint64_t first_block, std::uint64_t blocks,
                                std::uint32_t* words)
{
  constexpr std::uint64_t at_once = groups * blocks_per_vector;
  std::uint64_t done              = 0;
  for (; done + at_once <= blocks; done += at_once) {
    std::uint64_t const first = first_block + done;
    if (first >> 32 != (first + at_once - 1) >> 32) {
      break;  // the counter's second word is not the same in all lanes; the caller takes these one by one
    }
    vector word0[groups], word1[groups], word2[groups], word3[groups];
    common_rounds const common{s, first};
    for (std::uint64_t i = 0; i < groups; ++i) {
      vector const number = hn::BitCast(lanes32{}, hn::Iota(lanes64{}, first + i * blocks_per_vector));
      vector const left1  = multiply(number, all(rule::philox_multiplier_0));
      word1[i] = multiply(hn::Xor(high_half(left1), common.first2), all(rule::philox_multiplier_1));
      word0[i] = hn::Xor(high_half(word1[i]), common.word0);
      word2[i] = hn::Xor(left1, common.word2);
      word3[i] = common.word3;
    }
    vector key0 = all(s.key.word[0] + 2 * rule::philox_weyl_0);
    vector key1 = all(s.key.word[1] + 2 * rule::philox_weyl_1);
    for (int round = 2; round < rule::philox_rounds; ++round) {
      for (std::uint64_t i = 0; i < groups; ++i) {
        vector const left  = multiply(word0[i], all(rule::philox_multiplier_0));
        vector const right = multiply(word2[i], all(rule::philox_multiplier_1));
        word0[i]           = hn::Xor3(word1[i], key0, high_half(right));
        word1[i]           = right;
        word2[i]           = hn::Xor3(word3[i], key1, high_half(left));
        word3[i]           = left;
      }
      key0 = hn::Add(key0, all(rule::philox_weyl_0));
      key1 = hn::Add(key1, all(rule::philox_weyl_1));
    }
    for (std::uint64_t i = 0; i < groups; ++i) {
      store({{word0[i], word1[i], word2[i], word3[i]}}, words + 4 * (done + i * blocks_per_vector));
    }
  }
  return done;
}
#else
std::uint64_t fill_whole_groups(philox_stream const&, std::uint64_t, std::uint64_t, std::uint32_t*)
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
      HWY_DYNAMIC_DISPATCH(fill_whole_groups)({key, segment, static_cast<std::uint32_t>(what)},
                                              first_block + done, blocks - done, words.data() + 4 * done);
    // A remainder, or the blocks around an overflow of the counter's first word.
    constexpr std::uint64_t one_by_one = 64;
    for (std::uint64_t end = HWY_MIN(blocks, done + one_by_one); done < end; ++done) {
      rule::philox_block const block = rule::draw_block(key, segment, what, first_block + done);
      for (std::uint64_t word = 0; word < 4; ++word) {
        words[4 * done + word] = block.word[word];
      }
    }
  }
}

}  // namespace bird::host
#endif  // HWY_ONCE
