/// Presets are what the documentation says; nonsense options are named.
#include "options.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "refusal.hpp"

namespace {

#define EXPECT_INVALID(statement, text) EXPECT_THROW_SAYING(statement, bird::invalid_argument, text)

constexpr double nan      = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

void expect_options(bird::compressor_options const& options, bird::sampling sampling, bird::values values,
                    bird::index index, std::uint32_t tile, double ratio)
{
  EXPECT_EQ(options.sampling, sampling);
  EXPECT_EQ(options.values, values);
  EXPECT_EQ(options.index, index);
  EXPECT_EQ(options.norm, bird::norm::l1);
  EXPECT_EQ(options.tile, tile);
  EXPECT_EQ(options.ratio, ratio);
  EXPECT_EQ(options.gamma, 1.0);
  EXPECT_FALSE(options.blind);
}

TEST(Preset, TileIsSystematicTilesOf8AsBf16)
{
  expect_options(bird::preset("tile"), bird::sampling::systematic, bird::values::bf16,
                 bird::index::elias_fano, 8, 0.1);
}

TEST(Preset, TileIsTheDefault)
{
  bird::compressor_options const standard;
  expect_options(standard, bird::sampling::systematic, bird::values::bf16, bird::index::elias_fano, 8, 0.1);
}

TEST(Preset, Sign1IsSystematicSignsOfSingleElements)
{
  expect_options(bird::preset("sign1"), bird::sampling::systematic, bird::values::sign,
                 bird::index::elias_fano, 1, 0.1);
}

TEST(Preset, PaperIsBirdAsPublished)
{
  expect_options(bird::preset("paper"), bird::sampling::bi_random, bird::values::sign, bird::index::u32, 0,
                 0.1);
}

TEST(Preset, BlockIsTheTopTilesOf8AsSigns)
{
  expect_options(bird::preset("block"), bird::sampling::top, bird::values::sign, bird::index::elias_fano, 8,
                 0.01);
}

TEST(Preset, OfAnotherNameIsRefusedWithTheNamesThatExist)
{
  EXPECT_INVALID(bird::preset("tiles"), "preset is \"tiles\"; it must be one of tile, sign1, paper, block");
}

TEST(Preset, OptionsAreValid)
{
  for (char const* name : {"tile", "sign1", "paper", "block"}) {
    EXPECT_NO_THROW(bird::validate(bird::preset(name))) << name;
  }
}

TEST(Options, OutsideTheirRangeAreNamedWithTheirValue)
{
  bird::compressor_options options;
  auto const with = [&](auto member, auto value) {
    bird::compressor_options changed = options;
    changed.*member                  = value;
    return changed;
  };
  using bird::compressor_options;
  EXPECT_INVALID(bird::validate(with(&compressor_options::sampling, bird::sampling{0})), "sampling is 0");
  EXPECT_INVALID(bird::validate(with(&compressor_options::sampling, bird::sampling{5})), "sampling is 5");
  EXPECT_INVALID(bird::validate(with(&compressor_options::values, bird::values{4})), "values is 4");
  EXPECT_INVALID(bird::validate(with(&compressor_options::index, bird::index{0})), "index is 0");
  EXPECT_INVALID(bird::validate(with(&compressor_options::norm, bird::norm{3})), "norm is 3");
  for (double const ratio : {0.0, -0.5, 1.0000001, infinity, nan}) {
    EXPECT_INVALID(bird::validate(with(&compressor_options::ratio, ratio)), "ratio is ");
  }
  options.sampling = bird::sampling::bi_random;
  for (double const gamma : {0.0, -1.0, 16.5, infinity, nan}) {
    EXPECT_INVALID(bird::validate(with(&compressor_options::gamma, gamma)), "gamma is ");
  }
}

TEST(Options, OfOneSamplingAreRefusedWithAnother)
{
  bird::compressor_options options;
  options.gamma = 2.0;
  EXPECT_INVALID(bird::validate(options), "gamma is 2; it must be 1 unless sampling is bi_random");
  options.gamma = 1.0;
  options.blind = true;
  EXPECT_INVALID(bird::validate(options), "blind is true; it must be false unless sampling is uniform");
}

TEST(Options, AtTheirLimitsAreValid)
{
  bird::compressor_options options;
  options.sampling = bird::sampling::bi_random;
  options.values   = bird::values::sign;
  options.ratio    = 1.0;
  options.gamma    = 16.0;
  options.tile     = 0xFFFFFFFF;
  EXPECT_NO_THROW(bird::validate(options));
  options.ratio = std::numeric_limits<double>::denorm_min();
  EXPECT_NO_THROW(bird::validate(options));
}

TEST(NoiseAdjustedLearningRate, DividesByOnePlusTheNoiseOfAWorkersMean)
{
  EXPECT_DOUBLE_EQ(bird::noise_adjusted_learning_rate(0.1, 0.0, 4), 0.1);
  EXPECT_DOUBLE_EQ(bird::noise_adjusted_learning_rate(0.1, 4.0, 1), 0.02);
  EXPECT_DOUBLE_EQ(bird::noise_adjusted_learning_rate(0.1, 4.0, 4), 0.05);
}

TEST(NoiseAdjustedLearningRate, RefusesNonsenseByName)
{
  EXPECT_INVALID(bird::noise_adjusted_learning_rate(nan, 1, 1), "lr_dense is nan");
  EXPECT_INVALID(bird::noise_adjusted_learning_rate(-0.1, 1, 1), "lr_dense is -0.1");
  EXPECT_INVALID(bird::noise_adjusted_learning_rate(0.1, -1, 1), "omega is -1");
  EXPECT_INVALID(bird::noise_adjusted_learning_rate(0.1, infinity, 1), "omega is inf");
  EXPECT_INVALID(bird::noise_adjusted_learning_rate(0.1, 1, 0), "workers is 0");
}

}  // namespace
