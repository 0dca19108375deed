/// The generator is Philox4x32-10, and by the vector it gives the same words.
#include <gtest/gtest.h>

#include <vector>

#include "draw.cuh"
#include "host/philox.hpp"
#include "simd_targets.hpp"

#if BIRD_HAVE_RANDOM123
#include <Random123/philox.h>
#endif

namespace {

using bird::rule::philox_block;
using bird::rule::philox_key;

void expect_words(philox_block const& block, philox_block const& expected)
{
  for (int word = 0; word < 4; ++word) {
    EXPECT_EQ(block.word[word], expected.word[word]) << "word " << word;
  }
}

// Salmon et al., Random123 1.14, tests/kat_vectors, lines "philox4x32 10".
TEST(Philox, HasThePublishedWordsOfZeros)
{
  expect_words(bird::rule::philox({{0, 0, 0, 0}}, {{0, 0}}),
               {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
}

TEST(Philox, HasThePublishedWordsOfOnes)
{
  expect_words(
    bird::rule::philox({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, {{0xffffffff, 0xffffffff}}),
    {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
}

TEST(Philox, HasThePublishedWordsOfPi)
{
  expect_words(
    bird::rule::philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, {{0xa4093822, 0x299f31d0}}),
    {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

#if BIRD_HAVE_RANDOM123
TEST(Philox, EqualsRandom123)
{
  std::uint32_t state = 1;
  auto const next     = [&state] { return state = state * 1664525U + 1013904223U; };
  for (int i = 0; i < 1000; ++i) {
    philox_block const counter{{next(), next(), next(), next()}};
    philox_key const key{{next(), next()}};
    r123::Philox4x32_R<10> generator;
    auto const block = generator({{counter.word[0], counter.word[1], counter.word[2], counter.word[3]}},
                                 {{key.word[0], key.word[1]}});
    expect_words(bird::rule::philox(counter, key), {{block[0], block[1], block[2], block[3]}});
  }
}
#endif

/// Words by the vector against the rule, block by block.
void expect_fill(std::uint64_t first, std::size_t blocks)
{
  constexpr philox_key key{{0x12345678, 0x9ABCDEF0}};
  constexpr std::uint32_t poison = 0xDEADBEEF;
  std::vector<std::uint32_t> words(4 * blocks + 4, poison);
  bird::host::philox_fill(key, 3, bird::rule::purpose::survive, first, {words.data(), 4 * blocks});
  for (std::size_t i = 0; i < 4 * blocks; ++i) {
    ASSERT_EQ(words[i], bird::rule::draw(key, 3, bird::rule::purpose::survive, 4 * first + i))
      << "block " << first << " + " << i / 4;
  }
  for (std::size_t i = 4 * blocks; i < words.size(); ++i) {
    ASSERT_EQ(words[i], poison) << "written past " << blocks << " blocks";
  }
}

TEST(PhiloxFill, EqualsTheRuleForAnyLengthAndTarget)
{
  codec_test::for_each_target([] {
    for (std::size_t blocks = 0; blocks <= 140; ++blocks) {
      expect_fill(5, blocks);
    }
  });
}

TEST(PhiloxFill, CarriesIntoTheHighWordOfTheCounter)
{
  codec_test::for_each_target([] {
    for (std::uint64_t before = 0; before <= 80; ++before) {
      expect_fill((std::uint64_t{1} << 32) - before, 100);
    }
    expect_fill((std::uint64_t{7} << 32) + 0xFFFFFFF0U, 300);
  });
}

TEST(Draw, StreamsDifferByEveryPartOfTheKey)
{
  auto const first = [](std::uint64_t seed, std::uint32_t step, std::uint32_t id, std::uint32_t segment,
                        bird::rule::purpose what) {
    return bird::rule::draw_block(bird::rule::stream_key(seed, step, id), segment, what, 0);
  };
  using bird::rule::purpose;
  philox_block const blocks[] = {
    first(1, 2, 3, 4, purpose::survive),   first(2, 2, 3, 4, purpose::survive),
    first(1, 3, 3, 4, purpose::survive),   first(1, 2, 4, 4, purpose::survive),
    first(1, 2, 3, 5, purpose::survive),   first(1, 2, 3, 4, purpose::thin),
    first(1, 3, 2, 4, purpose::survive),   first((std::uint64_t{1} << 32) + 1, 2, 3, 4, purpose::survive),
    first(1, 2, 3, 4, purpose::zero_sign), first(1, 2, 3, 4, purpose::stratum),
  };
  for (philox_block const& a : blocks) {
    for (philox_block const& b : blocks) {
      if (&a != &b) {
        EXPECT_FALSE(a.word[0] == b.word[0] && a.word[1] == b.word[1]) << &a - blocks << ", " << &b - blocks;
      }
    }
  }
}

TEST(Draw, BelowIsExactAtBothEnds)
{
  EXPECT_EQ(bird::rule::below(1, ~std::uint64_t{0}), 0U);
  EXPECT_EQ(bird::rule::below(10, 0), 0U);
  EXPECT_EQ(bird::rule::below(10, ~std::uint64_t{0}), 9U);
  EXPECT_EQ(bird::rule::below(std::uint64_t{1} << 61, std::uint64_t{1} << 63), std::uint64_t{1} << 60);
}

}  // namespace
