/// Weights of tiles: norms over a power of two, cut to whole numbers, never 0 for a norm that is not 0.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "host/weights.hpp"
#include "oracle.hpp"
#include "simd_targets.hpp"
#include "weight.cuh"

namespace {

/// Norms from the least sub-normal number to `largest`, zeros among them.
std::vector<float> norms_up_to(float largest, std::uint32_t seed)
{
  std::mt19937 engine{seed};
  std::vector<float> norms{largest, 0.0F, std::numeric_limits<float>::denorm_min(), largest / 2};
  while (norms.size() < 1003) {
    auto const bits = static_cast<std::uint32_t>(engine() % (bird::rule::bits_of(largest) + 1ULL));
    norms.push_back(engine() % 9 == 0 ? 0.0F : bird::rule::float_of(bits));
  }
  return norms;
}

constexpr float largest_norms[] = {std::numeric_limits<float>::max(), 1.0F, 3.7e-20F, 1.5e-38F, 1.0e-40F};

TEST(Weights, AreNormsOverTheUnitCutToWholeNumbersAndAtLeastOne)
{
  for (float const largest : largest_norms) {
    std::vector<float> const norms = norms_up_to(largest, 141);
    oracle::weights const expected{norms};
    bird::rule::weight_scale const scale{largest, norms.size()};
    EXPECT_EQ(scale.unit(), expected.unit);
    for (std::size_t i = 0; i < norms.size(); ++i) {
      ASSERT_EQ(scale.weight(norms[i]), expected.of[i]) << norms[i] << " of " << largest;
    }
  }
}

TEST(Weights, ByTheVectorEqualTheRuleForAnyLengthAndTarget)
{
  for (float const largest : largest_norms) {
    std::vector<float> const norms = norms_up_to(largest, 142);
    for (std::uint64_t const tiles : {std::uint64_t{1}, std::uint64_t{1} << 20, std::uint64_t{0xFFFFFFFE}}) {
      bird::rule::weight_scale const scale{largest, tiles};
      codec_test::for_each_target([&] {
        for (std::size_t const count : {0U, 1U, 3U, 8U, 17U, 1003U}) {
          constexpr std::uint64_t poison = 77;
          std::vector<std::uint64_t> weights(count + 1, poison);
          bird::host::weights_of(scale, norms.data(), count, weights.data());
          for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(weights[i], scale.weight(norms[i])) << norms[i] << " of " << largest;
          }
          ASSERT_EQ(weights[count], poison);
        }
      });
    }
  }
}

// Tiles of one element are read as they are: their norm is the magnitude.
TEST(Weights, ByTheVectorDoNotDependOnTheSign)
{
  std::vector<float> norms = norms_up_to(1.0F, 144), negative = norms;
  for (float& x : negative) {
    x = -x;
  }
  bird::rule::weight_scale const scale{1.0F, norms.size()};
  std::vector<std::uint64_t> expected(norms.size()), weights(norms.size());
  codec_test::for_each_target([&] {
    bird::host::weights_of(scale, norms.data(), norms.size(), expected.data());
    bird::host::weights_of(scale, negative.data(), norms.size(), weights.data());
    EXPECT_EQ(weights, expected);
  });
}

TEST(Weights, OfAnyNumberOfTilesAddUpBelow2To62)
{
  for (std::uint64_t const tiles : {std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{0xFFFFFFFE}}) {
    bird::rule::weight_scale const scale{2.0F, tiles};
    auto const most = static_cast<oracle::wide>(scale.weight(2.0F)) * tiles;
    EXPECT_TRUE(most < static_cast<oracle::wide>(1) << 62) << tiles;
  }
}

TEST(WeightBins, HaveTheirFloorAsTheLeastOfTheirWeights)
{
  std::mt19937_64 engine{143};
  for (int i = 0; i < 100'000; ++i) {
    std::uint64_t const weight = (engine() >> (24 + engine() % 40)) | 1;
    std::uint32_t const bin    = bird::rule::weight_bin(weight);
    ASSERT_LT(bin, bird::rule::weight_bins);
    ASSERT_LE(bird::rule::bin_floor(bin), weight);
    ASSERT_EQ(bird::rule::weight_bin(bird::rule::bin_floor(bin)), bin);
    ASSERT_LT(weight, bird::rule::bin_floor(bin) / 8 * 9 + 9) << "a bin is an eighth of an octave";
  }
}

/// The search for tiles of at least some weight asks norms, not weights; both must name the same tiles.
TEST(Weights, OfAtLeastAThresholdAreFoundByTheirNorms)
{
  std::mt19937 generator{7};
  std::normal_distribution<float> normal;
  std::vector<float> norms(2003);
  float largest = 0;
  for (float& norm : norms) {
    norm    = generator() % 3 == 0 ? 0.0F : std::exp(4 * normal(generator));
    largest = std::max(largest, norm);
  }
  bird::rule::weight_scale const scale{largest, norms.size()};
  std::uint64_t sum = 0;
  std::uint64_t all = 0;
  for (float const norm : norms) {
    sum += scale.weight(norm);
    all += norm != 0 ? 1 : 0;
  }
  bird::host::weight_sum const total = bird::host::sum_weights(scale, norms.data(), norms.size());
  EXPECT_EQ(total.sum, sum);
  EXPECT_EQ(total.non_zero, all);

  for (std::uint64_t const threshold : {std::uint64_t{1}, std::uint64_t{100}, sum / 20'000, sum / 2'000,
                                        sum / 200, scale.weight(largest), scale.weight(largest) + 1}) {
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < norms.size(); ++i) {
      if (scale.weight(norms[i]) >= threshold) {
        expected.push_back(i);
      }
    }
    std::vector<std::uint32_t> found(norms.size(), 0xDEADBEEF);
    found.resize(bird::host::find_at_least(bird::host::least_norm_bits(scale, largest, threshold),
                                           norms.data(), static_cast<std::uint32_t>(norms.size()),
                                           found.data()));
    EXPECT_EQ(found, expected) << "threshold " << threshold;
  }
}

}  // namespace
