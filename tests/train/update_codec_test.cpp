#include "update_codec.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "bird/error.hpp"
#include "network.hpp"

namespace bird::trainer {
namespace {

network_shape const& shape()
{
  static network const net{model::lenet5};
  return net.shape();
}

train_options with_preset(std::string const& name)
{
  train_options options;
  apply_preset(options, name);
  return options;
}

std::vector<float> normal_update(unsigned seed)
{
  std::mt19937 random{seed};
  std::normal_distribution<float> normal;
  std::vector<float> update(parameter_count(shape()));
  for (float& value : update) {
    value = normal(random);
  }
  return update;
}

double norm_of(std::vector<float> const& values)
{
  double sum = 0;
  for (float const value : values) {
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return std::sqrt(sum);
}

TEST(UpdateCodec, DenseIsExact)
{
  train_options options;
  options.method   = method::dense;
  auto const codec = make_update_codec(options, shape(), direction::up);
  auto const given = normal_update(1);
  std::vector<std::byte> message;
  codec->encode(given, {1, 2, 3}, message);
  std::vector<float> sum(given.size(), 0.0F);
  codec->decode_add(message, 1.0F, sum);
  EXPECT_EQ(sum, given);
}

TEST(UpdateCodec, RefusesADenseMessageOfAnotherLength)
{
  train_options options;
  options.method   = method::dense;
  auto const codec = make_update_codec(options, shape(), direction::up);
  std::vector<std::byte> const message(100);
  std::vector<float> sum(parameter_count(shape()), 0.0F);
  EXPECT_THROW(codec->decode_add(message, 1.0F, sum), bad_packet);
}

TEST(UpdateCodec, RowsTravelWithDenseBiases)
{
  auto const codec = make_update_codec(with_preset("paper"), shape(), direction::up);
  auto const given = normal_update(2);
  std::vector<std::byte> message;
  codec->encode(given, {1, 2, 3}, message);
  std::vector<float> decoded(given.size(), 0.0F);
  codec->decode_add(message, 1.0F, decoded);
  for (parameter_segment const& array : shape()) {
    for (std::size_t i = 0; array.row == 0 && i < array.count; ++i) {
      ASSERT_EQ(decoded[array.offset + i], given[array.offset + i]) << array.name << " " << i;
    }
  }
}

/// The same update again and again. What was sent and what the sender remembers add up to what was given,
/// so the mean of the messages tends to the update; without the memory, most elements would never be sent.
TEST(UpdateCodec, FeedbackSendsEverythingInTheEnd)
{
  train_options options = with_preset("block");
  options.feedback      = error_feedback::residual;
  options.codec.ratio   = 0.1;
  auto const codec      = make_update_codec(options, shape(), direction::up);
  auto const given      = normal_update(3);
  constexpr int rounds  = 400;
  std::vector<std::byte> message;
  std::vector<float> missing(given.size(), 0.0F);
  for (int round = 0; round < rounds; ++round) {
    codec->encode(given, {1, static_cast<std::uint32_t>(round), 0}, message);
    codec->decode_add(message, -1.0F / rounds, missing);
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    missing[i] += given[i];
  }
  // The memory holds the last ten or so updates of each tile (one in ten is sent), 400 were given.
  EXPECT_LT(norm_of(missing), 0.1 * norm_of(given));
}

TEST(UpdateCodec, CountsTheMemoryOfItsMethod)
{
  std::size_t const parameters = parameter_count(shape());
  auto const state_of          = [](std::string const& preset, direction way) {
    return make_update_codec(with_preset(preset), shape(), way)->state_bytes();
  };
  EXPECT_EQ(state_of("tile", direction::up), 0U);
  EXPECT_EQ(state_of("block", direction::up), 8 * parameters) << "residual and velocity";
  EXPECT_EQ(state_of("block", direction::down), 4 * parameters) << "the step has its momentum already";
}

TEST(UpdateCodec, RepliesWithTheRatioOfReplies)
{
  train_options options = with_preset("tile");
  options.reply_ratio   = 0.5;
  auto const given      = normal_update(4);
  std::vector<std::byte> up, down;
  make_update_codec(options, shape(), direction::up)->encode(given, {1, 2, 3}, up);
  make_update_codec(options, shape(), direction::down)->encode(given, {1, 2, 3}, down);
  EXPECT_GT(down.size(), 4 * up.size());
}

}  // namespace
}  // namespace bird::trainer
