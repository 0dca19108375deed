/// What a mean over many keys equals: norms of tiles for signs, elements for values in full.
#include <gtest/gtest.h>

#include "gradients.hpp"
#include "sampled_tensor.hpp"

namespace {

using bird::norm;
using bird::sampling;
using bird::values;
using codec_test::running_mean;
using codec_test::sigmas;
using codec_test::tensor;

constexpr std::uint32_t steps = 6000;

/// 61 tiles of 7 and a short one, whose norms differ by a factor of some ten, so that no probability is so
/// small that its tile is seen less than about a hundred times in all steps.
std::vector<float> mild_gradient()
{
  std::vector<float> elements = codec_test::gradient(430, 21);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = std::copysign(0.3F + 0.25F * std::min(std::abs(elements[i]), 6.0F), elements[i]);
  }
  return elements;
}

/// Largest deviation, in standard errors, of a tile's mean decoded norm from its own norm times `factor`.
double worst_norm(bird::compressor_options const& options, std::vector<float> const& elements,
                  double factor = 1.0)
{
  std::vector<double> const own = codec_test::tile_norms(elements, options.tile, options.norm);
  std::vector<running_mean> means(own.size());
  codec_test::for_each_step(options, {tensor{elements}}, steps, [&](auto const& decoded, auto const&) {
    std::vector<double> const got = codec_test::tile_norms(decoded[0], options.tile, options.norm);
    for (std::size_t tile = 0; tile < got.size(); ++tile) {
      means[tile].add(got[tile]);
    }
  });
  double worst = 0;
  for (std::size_t tile = 0; tile < own.size(); ++tile) {
    worst = std::max(worst, codec_test::deviation(means[tile], factor * own[tile]));
  }
  return worst;
}

/// Largest deviation of a mean decoded element from the element, `rounding` of it allowed for the stored
/// type.
double worst_element(bird::compressor_options const& options, tensor const& input, double rounding)
{
  std::vector<float> const elements = codec_test::widened(input.bytes, input.shape.type);
  std::vector<running_mean> means(elements.size());
  codec_test::for_each_step(options, {input}, steps, [&](auto const& decoded, auto const&) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      means[i].add(static_cast<double>(decoded[0][i]));
    }
  });
  double worst = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    worst = std::max(worst, codec_test::deviation(means[i], static_cast<double>(elements[i]), rounding));
  }
  return worst;
}

TEST(Signs, KeepTheNormOfEachTileInTheMean)
{
  std::vector<float> const elements = mild_gradient();
  for (norm const kind : {norm::l1, norm::l2}) {
    for (sampling const how : {sampling::systematic, sampling::bi_random}) {
      for (double const ratio : {0.15, 0.5}) {
        auto const options = codec_test::options_of(how, values::sign, 7, ratio, 1.0, kind);
        EXPECT_LT(worst_norm(options, elements), sigmas) << codec_test::name_of(options);
      }
    }
  }
}

// The next two guard the test above: it must see a wrong scale.
TEST(Signs, WouldBeCaughtWithAScaleThatIsTenPercentOff)
{
  for (sampling const how : {sampling::systematic, sampling::bi_random}) {
    auto const options = codec_test::options_of(how, values::sign, 7, 0.5);
    EXPECT_GT(worst_norm(options, mild_gradient(), 1.1), sigmas) << codec_test::name_of(options);
  }
}

TEST(BiRandomSigns, WouldBeCaughtWithoutTheFactorOfSurvivorsOverKept)
{
  std::vector<float> const elements = mild_gradient();
  std::vector<double> const own     = codec_test::tile_norms(elements, 7, norm::l1);
  double const largest              = *std::max_element(own.begin(), own.end());
  std::vector<running_mean> means(own.size());
  codec_test::for_each_step(codec_test::options_of(sampling::bi_random, values::sign, 7, 0.15),
                            {tensor{elements}}, steps, [&](auto const& decoded, auto const&) {
                              std::vector<double> const got = codec_test::tile_norms(decoded[0], 7, norm::l1);
                              for (std::size_t tile = 0; tile < got.size(); ++tile) {
                                means[tile].add(got[tile] > 0 ? largest : 0);  // the scale without B / m
                              }
                            });
  for (std::size_t tile = 0; tile < own.size(); ++tile) {
    EXPECT_GT(codec_test::deviation(means[tile], own[tile]), sigmas) << "tile " << tile;
  }
}

TEST(Signs, OfSingleElementsKeepTheElementInTheMean)
{
  std::vector<float> elements = mild_gradient();
  elements.resize(60);
  for (sampling const how : {sampling::systematic, sampling::bi_random}) {
    auto const options = codec_test::options_of(how, values::sign, 1, 0.3);
    EXPECT_LT(worst_element(options, tensor{elements}, 1e-6), sigmas) << codec_test::name_of(options);
  }
}

TEST(ValuesInFull, KeepEachElementInTheMean)
{
  std::vector<float> const elements = mild_gradient();
  for (auto const& options :
       {codec_test::options_of(sampling::systematic, values::full, 7, 0.15),
        codec_test::options_of(sampling::systematic, values::full, 7, 0.5),
        codec_test::options_of(sampling::systematic, values::full, 7, 0.3, 1.0, norm::l2),
        codec_test::options_of(sampling::uniform, values::full, 7, 0.15),
        codec_test::options_of(sampling::uniform, values::full, 7, 0.7),
        codec_test::options_of(sampling::bi_random, values::full, 7, 0.15),
        codec_test::options_of(sampling::bi_random, values::full, 7, 0.15, 0.5),
        codec_test::options_of(sampling::bi_random, values::full, 7, 1.0, 0.25)}) {
    EXPECT_LT(worst_element(options, tensor{elements}, 1e-6), sigmas) << codec_test::name_of(options);
  }
}

TEST(ValuesInFull, KeepEachElementInTheMeanWhenSomeTilesAreCertain)
{
  std::vector<float> elements = mild_gradient();
  for (std::size_t i = 70; i < 84; ++i) {
    elements[i] *= 30;
  }
  auto const options = codec_test::options_of(sampling::systematic, values::full, 7, 0.3);
  EXPECT_LT(worst_element(options, tensor{elements}, 1e-6), sigmas);
}

// Rounded once to a type of 8 or 11 bits: half a unit in the last place is 2^-9 or 2^-12 of an element.
TEST(RoundedValues, KeepEachElementInTheMeanUpToTheirRounding)
{
  std::vector<float> const elements = mild_gradient();
  for (sampling const how : {sampling::systematic, sampling::uniform, sampling::bi_random}) {
    auto const brain = codec_test::options_of(how, values::bf16, 7, 0.3);
    auto const full  = codec_test::options_of(how, values::full, 7, 0.3);
    EXPECT_LT(worst_element(brain, tensor{elements}, std::ldexp(1.0, -9)), sigmas);
    EXPECT_LT(worst_element(full, tensor{elements, bird::dtype::bfloat16}, std::ldexp(1.0, -9)), sigmas);
    EXPECT_LT(worst_element(full, tensor{elements, bird::dtype::float16}, std::ldexp(1.0, -12)), sigmas);
  }
}

/// Mean over steps of the decoded L1 norm of the whole tensor.
running_mean segment_norm(bird::compressor_options const& options, std::vector<float> const& elements)
{
  running_mean mean;
  codec_test::for_each_step(options, {tensor{elements}}, steps, [&](auto const& decoded, auto const&) {
    mean.add(codec_test::sum_of(codec_test::tile_norms(decoded[0], options.tile, norm::l1)));
  });
  return mean;
}

TEST(Signs, KeepTheNormOfTheSegmentForAnyGammaAndForUniform)
{
  std::vector<float> const elements = mild_gradient();
  double const own                  = codec_test::sum_of(codec_test::tile_norms(elements, 7, norm::l1));
  for (auto const& options : {codec_test::options_of(sampling::bi_random, values::sign, 7, 1.0, 2.0),
                              codec_test::options_of(sampling::bi_random, values::sign, 7, 0.1, 2.0),
                              codec_test::options_of(sampling::bi_random, values::sign, 7, 0.3, 0.5),
                              codec_test::options_of(sampling::bi_random, values::sign, 7, 1.0, 8.0),
                              codec_test::options_of(sampling::uniform, values::sign, 7, 0.2)}) {
    EXPECT_LT(codec_test::deviation(segment_norm(options, elements), own), sigmas)
      << codec_test::name_of(options);
  }
}

TEST(SystematicSigns, HaveTheNormOfTheSegmentInEveryDraw)
{
  std::vector<float> const elements = mild_gradient();
  double const own                  = codec_test::sum_of(codec_test::tile_norms(elements, 7, norm::l1));
  codec_test::for_each_step(codec_test::options_of(sampling::systematic, values::sign, 7, 0.2),
                            {tensor{elements}}, 50, [&](auto const& decoded, auto const&) {
                              EXPECT_NEAR(codec_test::sum_of(codec_test::tile_norms(decoded[0], 7, norm::l1)),
                                          own, 1e-5 * own);
                            });
}

/// Lists of a weight, tiles of 7, and its companion with an entry a tile.
std::vector<tensor> with_companion(std::vector<float> const& elements, std::vector<float>& entries)
{
  entries = codec_test::gradient((elements.size() + 6) / 7, 22);
  return {tensor{elements}, tensor{entries, bird::dtype::float32, bird::segment_role::companion}};
}

TEST(Companion, InFullKeepsEachEntryInTheMean)
{
  std::vector<float> entries;
  auto const list = with_companion(mild_gradient(), entries);
  for (sampling const how : {sampling::systematic, sampling::uniform, sampling::bi_random}) {
    std::vector<running_mean> means(entries.size());
    codec_test::for_each_step(codec_test::options_of(how, values::full, 7, 0.3), list, steps,
                              [&](auto const& decoded, auto const&) {
                                for (std::size_t i = 0; i < entries.size(); ++i) {
                                  means[i].add(static_cast<double>(decoded[1][i]));
                                }
                              });
    for (std::size_t i = 0; i < entries.size(); ++i) {
      EXPECT_LT(codec_test::deviation(means[i], static_cast<double>(entries[i])), sigmas)
        << bird::to_string(how) << " entry " << i;
    }
  }
}

TEST(Companion, OfSignsKeepsItsNormInTheMean)
{
  std::vector<float> entries;
  auto const list  = with_companion(mild_gradient(), entries);
  double const own = codec_test::sum_of(codec_test::tile_norms(entries, 1, norm::l1));
  for (auto const& options : {codec_test::options_of(sampling::systematic, values::sign, 7, 0.3),
                              codec_test::options_of(sampling::uniform, values::sign, 7, 0.3),
                              codec_test::options_of(sampling::bi_random, values::sign, 7, 0.3),
                              codec_test::options_of(sampling::bi_random, values::sign, 7, 0.3, 2.0)}) {
    running_mean mean;
    codec_test::for_each_step(options, list, steps, [&](auto const& decoded, auto const&) {
      mean.add(codec_test::sum_of(codec_test::tile_norms(decoded[1], 1, norm::l1)));
    });
    EXPECT_LT(codec_test::deviation(mean, own), sigmas) << codec_test::name_of(options);
  }
}

// A tile of two elements of which one is zero: the zero must be a fair coin, and its own one.
TEST(ZeroElements, HaveFairAndIndependentSigns)
{
  std::vector<float> elements(400);
  for (std::size_t i = 0; i < elements.size(); i += 4) {
    elements[i] = 1;
  }
  double sum = 0, product_in_tile = 0, product_of_tiles = 0;
  std::uint64_t zeros = 0, pairs = 0;
  auto const sign = [](float x) { return x < 0 ? -1.0 : 1.0; };
  codec_test::for_each_step(codec_test::options_of(sampling::systematic, values::sign, 4, 1.0),
                            {tensor{elements}}, 200, [&](auto const& decoded, auto const&) {
                              for (std::size_t i = 0; i + 4 < elements.size(); i += 4) {
                                for (std::size_t j = 1; j < 4; ++j) {
                                  sum += sign(decoded[0][i + j]);
                                  ++zeros;
                                }
                                product_in_tile += sign(decoded[0][i + 1]) * sign(decoded[0][i + 2]);
                                product_of_tiles += sign(decoded[0][i + 1]) * sign(decoded[0][i + 5]);
                                ++pairs;
                              }
                            });
  EXPECT_LT(std::abs(sum), sigmas * std::sqrt(static_cast<double>(zeros)));
  EXPECT_LT(std::abs(product_in_tile), sigmas * std::sqrt(static_cast<double>(pairs)));
  EXPECT_LT(std::abs(product_of_tiles), sigmas * std::sqrt(static_cast<double>(pairs)));
}

}  // namespace
