/// The error over many keys has the variance of its closed form, and report.omega foretells it.
#include <gtest/gtest.h>

#include "gradients.hpp"
#include "oracle.hpp"
#include "sampled_tensor.hpp"

namespace {

using bird::sampling;
using bird::values;
using codec_test::running_mean;
using codec_test::sigmas;
using codec_test::tensor;

constexpr std::uint32_t tile  = 7;
constexpr std::uint32_t steps = 4000;

std::vector<float> elements_of_test() { return codec_test::gradient(600, 31); }

struct measured {
  running_mean error;  ///< |decoded - g|^2
  running_mean omega;  ///< as reported
};

measured measure(bird::compressor_options const& options, std::vector<float> const& elements)
{
  measured m;
  codec_test::for_each_step(options, {tensor{elements}}, steps, [&](auto const& decoded, auto const& report) {
    m.error.add(codec_test::squared_distance(decoded[0], elements));
    m.omega.add(report.omega);
  });
  return m;
}

/// |x|^2 of each tile.
std::vector<double> energies(std::vector<float> const& elements)
{
  std::vector<double> squares = codec_test::tile_norms(elements, tile, bird::norm::l2);
  for (double& x : squares) {
    x *= x;
  }
  return squares;
}

std::vector<float> norms_of(std::vector<float> const& elements)
{
  std::vector<float> norms;
  for (double const norm : codec_test::tile_norms(elements, tile, bird::norm::l1)) {
    norms.push_back(static_cast<float>(norm));
  }
  return norms;
}

/// Expected draws of each tile under systematic sampling; 0 stands for certain (sent exactly).
std::vector<double> systematic_means(std::vector<float> const& norms, std::uint64_t slots)
{
  // The multiplier of a tile is one over its mean; every tile shows up under some key.
  std::vector<double> means(norms.size(), 0.0);
  for (std::uint32_t step = 0; step < 2000; ++step) {
    for (oracle::drawn const& one : oracle::systematic(norms, slots, true, {1, step, 0}, 0).slots) {
      means[one.tile] = 1 / one.multiplier;
    }
  }
  return means;
}

/// Variance of floor(p) or floor(p) + 1 draws with mean p.
double variance_of_draws(double p)
{
  double const f = p - std::floor(p);
  return p == 1 ? 0 : f * (1 - f);
}

TEST(Variance, OfSystematicValuesIsThatOfTheirInclusionProbabilities)
{
  std::vector<float> const elements = elements_of_test();
  std::vector<float> const norms    = norms_of(elements);
  for (double const ratio : {0.1, 0.4}) {
    auto const options          = codec_test::options_of(sampling::systematic, values::full, tile, ratio);
    std::vector<double> const p = systematic_means(norms, oracle::slot_limit(ratio, norms.size()));
    double expected             = 0;
    for (std::size_t i = 0; i < norms.size(); ++i) {
      ASSERT_GT(p[i], 0) << "tile " << i << " was never drawn by the oracle";
      expected += energies(elements)[i] * variance_of_draws(p[i]) / (p[i] * p[i]);
    }
    EXPECT_LT(codec_test::deviation(measure(options, elements).error, expected), sigmas) << ratio;
  }
}

TEST(Variance, OfSystematicSignsIsThatOfTheirDraws)
{
  std::vector<float> const elements = elements_of_test();
  std::vector<float> const norms    = norms_of(elements);
  std::vector<double> const squares = energies(elements);
  double const ratio                = 0.2;
  auto const slots                  = static_cast<double>(oracle::slot_limit(ratio, norms.size()));
  double total                      = 0;
  for (float const norm : norms) {
    total += static_cast<double>(norm);
  }
  double expected = 0;  // E |M v s - x|^2 with M draws of magnitude v: v^2 n E[M^2] - 2 p v |x|_1 + |x|^2
  for (std::size_t i = 0; i < norms.size(); ++i) {
    double const items = static_cast<double>(std::min<std::size_t>(tile, elements.size() - i * tile));
    double const norm  = static_cast<double>(norms[i]);
    double const p     = slots * norm / total;
    double const v     = total / slots / items;
    double const f     = p - std::floor(p);
    expected += v * v * items * (f * (1 - f) + p * p) - 2 * p * v * norm + squares[i];
  }
  auto const options = codec_test::options_of(sampling::systematic, values::sign, tile, ratio);
  EXPECT_LT(codec_test::deviation(measure(options, elements).error, expected), sigmas);
}

TEST(Variance, OfUniformValuesIsThatOfTheirStrata)
{
  std::vector<float> const elements = elements_of_test();
  std::vector<double> const squares = energies(elements);
  double const ratio                = 0.3;
  std::uint64_t const slots         = oracle::slot_limit(ratio, squares.size());
  double expected                   = 0;
  for (std::uint64_t s = 0; s < slots; ++s) {
    std::uint64_t const first = s * squares.size() / slots;
    std::uint64_t const end   = (s + 1) * squares.size() / slots;
    for (std::uint64_t i = first; i < end; ++i) {
      expected += squares[i] * static_cast<double>(end - first - 1);
    }
  }
  auto const options = codec_test::options_of(sampling::uniform, values::full, tile, ratio);
  EXPECT_LT(codec_test::deviation(measure(options, elements).error, expected), sigmas);
}

/// E[max(1, B / K) | tile j survives], from the distribution of the number of other survivors.
double mean_stands_for(std::vector<double> const& chances, std::size_t j, std::uint64_t slots)
{
  std::vector<double> others{1.0};  // others[b]: probability of b survivors so far
  for (std::size_t i = 0; i < chances.size(); ++i) {
    if (i == j) {
      continue;
    }
    others.push_back(0);
    for (std::size_t b = others.size() - 1; b > 0; --b) {
      others[b] = others[b] * (1 - chances[i]) + others[b - 1] * chances[i];
    }
    others[0] *= 1 - chances[i];
  }
  double mean = 0;
  for (std::size_t b = 0; b < others.size(); ++b) {
    mean += others[b] * std::max(1.0, static_cast<double>(b + 1) / static_cast<double>(slots));
  }
  return mean;
}

TEST(Variance, OfBiRandomValuesIsThatOfBothStages)
{
  std::vector<float> const elements = elements_of_test();
  std::vector<float> const norms    = norms_of(elements);
  std::vector<double> const squares = energies(elements);
  float const largest               = *std::max_element(norms.begin(), norms.end());
  for (double const gamma : {1.0, 0.5}) {
    double const ratio = 0.1;
    std::vector<double> chances;
    for (float const norm : norms) {
      chances.push_back(std::pow(static_cast<double>(norm) / static_cast<double>(largest), gamma));
    }
    double expected = 0;
    for (std::size_t i = 0; i < norms.size(); ++i) {
      double const second = mean_stands_for(chances, i, oracle::slot_limit(ratio, norms.size())) / chances[i];
      expected += squares[i] * (second - 1);
    }
    auto const options = codec_test::options_of(sampling::bi_random, values::full, tile, ratio, gamma);
    EXPECT_LT(codec_test::deviation(measure(options, elements).error, expected), sigmas) << gamma;
  }
}

// omega is a ratio of two estimates from about 600 kept tiles, each with a relative error near sqrt(5 / 600),
// so it is biased by about 5 / 600; with bi_random B varies too, by sqrt(B) / B = 2 %. Hence 4 % beside the
// sigmas.
TEST(Omega, IsTheRelativeErrorOverManyKeys)
{
  std::vector<float> const elements = codec_test::gradient(42'000, 32);
  double const energy               = codec_test::squared_distance(elements, {});
  for (auto const& options : {codec_test::options_of(sampling::systematic, values::full, tile, 0.1),
                              codec_test::options_of(sampling::systematic, values::sign, tile, 0.1),
                              codec_test::options_of(sampling::systematic, values::sign, 1, 0.1),
                              codec_test::options_of(sampling::uniform, values::full, tile, 0.1),
                              codec_test::options_of(sampling::bi_random, values::full, tile, 0.1),
                              codec_test::options_of(sampling::bi_random, values::sign, tile, 0.1)}) {
    measured m;
    codec_test::for_each_step(options, {tensor{elements}}, 100, [&](auto const& decoded, auto const& report) {
      m.error.add(codec_test::squared_distance(decoded[0], elements) / energy);
      m.omega.add(report.omega);
    });
    double const allowed = 0.04 * m.error.mean() + sigmas * std::hypot(m.error.error(), m.omega.error());
    EXPECT_NEAR(m.omega.mean(), m.error.mean(), allowed) << codec_test::name_of(options);
  }
}

TEST(Omega, OfTopIsTheErrorOfThisPacket)
{
  std::vector<float> const elements = codec_test::gradient(42'000, 33);
  double const energy               = codec_test::squared_distance(elements, {});
  for (values const what : {values::full, values::sign}) {
    auto const options = codec_test::options_of(sampling::top, what, tile, 0.1);
    codec_test::for_each_step(options, {tensor{elements}}, 1, [&](auto const& decoded, auto const& report) {
      EXPECT_NEAR(report.omega, codec_test::squared_distance(decoded[0], elements) / energy, 1e-4);
    });
  }
}

TEST(Omega, IsZeroForALosslessPacket)
{
  std::vector<float> const elements = codec_test::gradient(5000, 34);
  for (sampling const how : {sampling::systematic, sampling::uniform, sampling::top}) {
    auto const options = codec_test::options_of(how, values::full, tile, 1.0);
    EXPECT_NEAR(codec_test::compress(options, elements, {1, 2, 3}).report.omega, 0, 1e-6)
      << bird::to_string(how);
  }
}

}  // namespace
