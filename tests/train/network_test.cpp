#include "network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "blas.hpp"
#include "pattern_data.hpp"

namespace bird::trainer {
namespace {

class Network : public testing::TestWithParam<model> {
 protected:
  static void SetUpTestSuite() { prepare_blas(); }
};

std::string name_of(testing::TestParamInfo<model> const& tested) { return to_string(tested.param); }

/// Slope of the loss along a random direction within one array, by the gradient and by differences.
///
/// The loss is piecewise smooth (ReLU, max pool), and its float arithmetic is good to about 1e-6, so a
/// step of 1e-3 times a unit direction leaves an error of about 1e-3 in the difference, plus the few kinks
/// that the step crosses. Directions follow the gradient's signs, so that the slope itself is large.
TEST_P(Network, GradientMatchesFiniteDifferencesInEveryArray)
{
  network net{GetParam()};
  labelled_images const images = noisy_patterns(16, 3);
  image_batch const batch{images.pixels, images.labels};
  std::vector<float> parameters(net.parameters());
  net.initialize(parameters, 5);
  for (parameter_segment const& array : net.shape()) {
    if (array.row == 0) {  // biases start at zero, where a slip in their use would not show
      for (std::size_t i = 0; i < array.count; ++i) {
        parameters[array.offset + i] = 0.01F * static_cast<float>(i % 7);
      }
    }
  }
  std::vector<float> gradient(net.parameters(), NAN);
  net.gradient(parameters, batch, gradient);

  std::mt19937 random{17};
  std::normal_distribution<double> normal;
  for (parameter_segment const& array : net.shape()) {
    std::vector<double> direction(array.count);
    double norm = 0, slope = 0;
    for (std::size_t i = 0; i < array.count; ++i) {
      direction[i] = std::copysign(normal(random), static_cast<double>(gradient[array.offset + i]));
      norm += direction[i] * direction[i];
    }
    for (double& part : direction) {
      part /= std::sqrt(norm);
    }
    auto const shifted_loss = [&](double step) {
      std::vector<float> moved = parameters;
      for (std::size_t i = 0; i < array.count; ++i) {
        moved[array.offset + i] += static_cast<float>(step * direction[i]);
      }
      return net.loss(moved, batch);
    };
    for (std::size_t i = 0; i < array.count; ++i) {
      slope += direction[i] * static_cast<double>(gradient[array.offset + i]);
    }
    constexpr double step    = 1e-3;
    double const differences = (shifted_loss(step) - shifted_loss(-step)) / (2 * step);
    EXPECT_NEAR(differences, slope, 2e-3 + 0.01 * std::abs(slope)) << array.name;
    EXPECT_GT(slope, 0.01) << array.name << ": too flat for this test to mean anything";
  }
}

TEST_P(Network, GradientReturnsTheLossAndFillsTheWholeBuffer)
{
  network net{GetParam()};
  labelled_images const images = noisy_patterns(5, 3);
  image_batch const batch{images.pixels, images.labels};
  std::vector<float> parameters(net.parameters());
  net.initialize(parameters, 5);
  std::vector<float> gradient(net.parameters(), NAN);
  EXPECT_EQ(net.gradient(parameters, batch, gradient), net.loss(parameters, batch));
  for (float const value : gradient) {
    ASSERT_TRUE(std::isfinite(value));
  }
}

TEST_P(Network, GradientOfABatchIsTheMeanOverItsImages)
{
  network net{GetParam()};
  labelled_images const images = noisy_patterns(4, 3);
  std::vector<float> parameters(net.parameters());
  net.initialize(parameters, 5);
  std::vector<float> whole(net.parameters()), single(net.parameters());
  std::vector<double> mean(net.parameters(), 0.0);
  net.gradient(parameters, {images.pixels, images.labels}, whole);
  for (std::size_t i = 0; i < 4; ++i) {
    net.gradient(parameters, {{images.pixels.data() + i * 784, 784}, {images.labels.data() + i, 1}}, single);
    for (std::size_t p = 0; p < mean.size(); ++p) {
      mean[p] += static_cast<double>(single[p]) / 4;
    }
  }
  for (std::size_t p = 0; p < mean.size(); ++p) {
    ASSERT_NEAR(static_cast<double>(whole[p]), mean[p], 1e-5) << p;
  }
}

TEST_P(Network, InitializationFollowsTheSeed)
{
  network const net{GetParam()};
  std::vector<float> a(net.parameters()), b(net.parameters()), c(net.parameters());
  net.initialize(a, 1);
  net.initialize(b, 1);
  net.initialize(c, 2);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

INSTANTIATE_TEST_SUITE_P(Both, Network, testing::Values(model::lenet5, model::mlp), name_of);

TEST(NetworkShape, HasTheParametersOfLeNet5) { EXPECT_EQ(network{model::lenet5}.parameters(), 61706U); }

TEST(NetworkShape, HasTheParametersOfTheMlp) { EXPECT_EQ(network{model::mlp}.parameters(), 235146U); }

}  // namespace
}  // namespace bird::trainer
