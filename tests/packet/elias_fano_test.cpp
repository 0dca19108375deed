/// elias_fano: sorted numbers come back, in the room that the size formula gives.
#include "elias_fano.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

using bird::rule::elias_fano;

std::vector<std::uint64_t> encode(elias_fano code, std::vector<std::uint64_t> const& numbers)
{
  std::vector<std::uint64_t> words(code.words(), 0);
  std::uint64_t* const lower = words.data() + code.upper_words();
  std::uint32_t const width  = code.low_bits();
  for (std::uint64_t i = 0; i < numbers.size(); ++i) {
    std::uint64_t const position = code.upper_position(numbers[i], i);
    words[position / 64] |= 1ULL << (position % 64);
    for (std::uint64_t b = 0; b < width; ++b) {
      lower[(i * width + b) / 64] |= (numbers[i] >> b & 1) << ((i * width + b) % 64);
    }
  }
  return words;
}

std::vector<std::uint64_t> decode(elias_fano code, std::vector<std::uint64_t> const& words)
{
  std::vector<std::uint64_t> numbers;
  std::uint64_t const* const lower = words.data() + code.upper_words();
  for (std::uint64_t position = 0; position < code.upper_bits(); ++position) {
    if ((words[position / 64] >> (position % 64) & 1) != 0) {
      std::uint64_t const i = numbers.size();
      numbers.push_back(
        code.number(position, i, bird::rule::read_bits(lower, i * code.low_bits(), code.low_bits())));
    }
  }
  return numbers;
}

TEST(EliasFano, GivesBackAnySortedNumbers)
{
  std::mt19937_64 random{1974};
  for (std::uint64_t const universe : {1ULL, 2ULL, 63ULL, 64ULL, 65ULL, 1009ULL, 1ULL << 20, 0xFFFFFFFEULL}) {
    for (std::uint64_t const count : {1ULL, 2ULL, 63ULL, 64ULL, 65ULL, 700ULL}) {
      if (count > universe) {
        continue;
      }
      std::vector<std::uint64_t> numbers;
      for (std::uint64_t i = 0; i < count; ++i) {
        numbers.push_back(random() % universe);
      }
      std::sort(numbers.begin(), numbers.end());
      elias_fano const code{universe, count};
      EXPECT_EQ(decode(code, encode(code, numbers)), numbers) << universe << ' ' << count;
    }
  }
}

TEST(EliasFano, HoldsTheFirstAndTheLastNumberOfTheUniverse)
{
  for (std::uint64_t universe = 1; universe <= 300; ++universe) {
    for (std::uint64_t count = 1; count <= universe; ++count) {
      elias_fano const code{universe, count};
      ASSERT_LT(code.upper_position(universe - 1, count - 1), code.upper_bits());
      std::vector<std::uint64_t> numbers(count, universe - 1);
      numbers[0] = 0;
      ASSERT_EQ(decode(code, encode(code, numbers)), numbers) << universe << ' ' << count;
    }
  }
}

TEST(EliasFano, TakesNoWordsForNoNumbers)
{
  EXPECT_EQ((elias_fano{1000, 0}.words()), 0U);
  EXPECT_EQ((elias_fano{0, 0}.words()), 0U);
  EXPECT_EQ((elias_fano{1000, 0}.words_bound()), 0U);
}

TEST(EliasFano, CutsAtTheLogarithmOfTheMeanGap)
{
  EXPECT_EQ((elias_fano{1000, 1000}.low_bits()), 0U);
  EXPECT_EQ((elias_fano{1999, 1000}.low_bits()), 0U);
  EXPECT_EQ((elias_fano{2000, 1000}.low_bits()), 1U);
  EXPECT_EQ((elias_fano{10, 1}.low_bits()), 3U);
  EXPECT_EQ((elias_fano{0xFFFFFFFE, 1}.low_bits()), 31U);
}

TEST(EliasFano, StaysWithinItsBoundForAnySmallerCount)
{
  for (std::uint64_t universe = 1; universe <= 700; ++universe) {
    std::uint64_t most = 0;
    for (std::uint64_t count = 0; count <= universe; ++count) {
      elias_fano const code{universe, count};
      most = std::max(most, code.words());
      ASSERT_LE(most, code.words_bound()) << universe << ' ' << count;
    }
  }
}

TEST(EliasFano, BoundNeverFallsWhenTheCountRises)
{
  for (std::uint64_t universe = 1; universe <= 700; ++universe) {
    for (std::uint64_t count = 1; count <= universe; ++count) {
      ASSERT_GE((elias_fano{universe, count}.words_bound()), (elias_fano{universe, count - 1}.words_bound()))
        << universe << ' ' << count;
    }
  }
}

TEST(ReadBits, CrossesAWordWherePositionAndWidthSaySo)
{
  std::uint64_t const words[] = {0xF000000000000001, 0x000000000000000A};
  EXPECT_EQ(bird::rule::read_bits(words, 0, 0), 0U);
  EXPECT_EQ(bird::rule::read_bits(words, 0, 1), 1U);
  EXPECT_EQ(bird::rule::read_bits(words, 60, 4), 0xFU);
  EXPECT_EQ(bird::rule::read_bits(words, 60, 8), 0xAFU);
  EXPECT_EQ(bird::rule::read_bits(words, 63, 32), 0x15U);
  EXPECT_EQ(bird::rule::read_bits(words, 64, 32), 0xAU);
}

}  // namespace
