/// The peers' messages: exact sizes, round trips, residuals, and what damage does to them.
#include "peer_codecs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "peer_message.hpp"
#include "peer_selection.hpp"
#include "sample_network.hpp"

namespace bird::trainer {
namespace {

constexpr method all_peers[] = {method::topk, method::topk_ef, method::randomk, method::sbc};

/// Bound of the rounding to fp16 with a common factor, see peer_codecs.hpp.
float stored_error(float value, float largest)
{
  return std::max(std::ldexp(std::fabs(value), -11), std::ldexp(largest, -38));
}

train_options options_of(method what, double ratio = 0.1)
{
  train_options options;
  options.method      = what;
  options.codec.ratio = ratio;
  return options;
}

std::unique_ptr<update_codec> peer(method what, double ratio = 0.1)
{
  return make_peer_codec(options_of(what, ratio), sample_network(), direction::up);
}

std::vector<std::byte> message_of(update_codec& codec, std::vector<float> const& update,
                                  std::uint32_t step = 0)
{
  std::vector<std::byte> message(7, std::byte{0xAB});  // left over from another use
  codec.encode(update, {11, step, 3}, message);
  return message;
}

std::vector<float> decoded(update_codec const& codec, std::vector<std::byte> const& message)
{
  std::vector<float> sum(sample_count, 0.0F);
  codec.decode_add(message, 1.0F, sum);
  return sum;
}

std::size_t nonzeros(std::vector<float> const& values)
{
  return static_cast<std::size_t>(
    std::count_if(values.begin(), values.end(), [](float v) { return v != 0; }));
}

TEST(Topk, KeepsExactlyTheKLargestAndNothingElse)
{
  auto const update = sample_update(1);
  auto const codec  = peer(method::topk);
  auto const result = decoded(*codec, message_of(*codec, update));
  auto magnitudes   = update;
  std::size_t kept  = 159;  // ceil(0.1 * 1590)
  std::transform(update.begin(), update.end(), magnitudes.begin(), [](float v) { return std::fabs(v); });
  std::sort(magnitudes.rbegin(), magnitudes.rend());
  for (std::size_t i = 0; i < update.size(); ++i) {
    bool const largest = std::fabs(update[i]) >= magnitudes[kept - 1];
    EXPECT_NEAR(result[i], largest ? update[i] : 0.0F, stored_error(update[i], magnitudes[0])) << i;
  }
  EXPECT_EQ(nonzeros(result), kept);
}

TEST(Topk, TakesTheFirstOfEqualElements)
{
  std::vector<float> const update(sample_count, -2.0F);
  auto const codec  = peer(method::topk);
  auto const result = decoded(*codec, message_of(*codec, update));
  for (std::size_t i = 0; i < update.size(); ++i) {
    EXPECT_EQ(result[i], i < 159 ? -2.0F : 0.0F) << i;
  }
}

TEST(Topk, SendsNoZeros)
{
  std::vector<float> update(sample_count, 0.0F);
  update[17]         = 3.0F;
  auto const codec   = peer(method::topk);
  auto const message = message_of(*codec, update);
  EXPECT_EQ(message.size(), 16U + 8U * 2U + 2U);
  EXPECT_EQ(decoded(*codec, message), update);
}

TEST(Topk, MessageIsHeaderEliasFanoAndHalves)
{
  auto const codec   = peer(method::topk);
  auto const message = message_of(*codec, sample_update(2));
  // 159 of 1590: three low bits; upper 159 + 1590 / 8 + 1 = 358 bits, lower 477 bits: 6 + 8 words.
  EXPECT_EQ(message.size(), 16U + 8U * 14U + 2U * 159U);
}

TEST(Randomk, MessageIsHeaderKeyAndHalves)
{
  auto const codec = peer(method::randomk);
  EXPECT_EQ(message_of(*codec, sample_update(2)).size(), 16U + 16U + 2U * 159U);
}

TEST(Sbc, MessageIsHeaderOneEntryAnArrayAndTheRiceCode)
{
  auto const update  = sample_update(3);
  auto const shape   = sample_network();
  auto const codec   = peer(method::sbc);
  auto const message = message_of(*codec, update);
  auto const result  = decoded(*codec, message);
  std::size_t bits   = 0;
  for (auto const& segment : shape) {
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < segment.count; ++i) {
      if (result[segment.offset + i] != 0) {
        kept.push_back(i);
      }
    }
    std::size_t const width = rice_exponent(kept.size(), segment.count);
    std::size_t next        = 0;
    for (std::size_t const position : kept) {
      bits += ((position - next) >> width) + 1 + width;
      next = position + 1;
    }
  }
  EXPECT_EQ(message.size(), 16U + 8U * shape.size() + (bits + 7) / 8);
}

TEST(Sbc, SendsTheSideOfLargerMeanAsThatMean)
{
  std::vector<float> update(sample_count, 0.0F);
  update[0] = 5.0F, update[1] = 1.0F;                 // one.weight, positive side, mean 3
  update[10] = -4.0F, update[11] = -4.0F;             // negative side, mean 4
  auto const codec  = peer(method::sbc, 2.0 / 1001);  // two of the first array, one of the others
  auto const result = decoded(*codec, message_of(*codec, update));
  auto expected     = std::vector<float>(sample_count, 0.0F);
  expected[10] = expected[11] = -4.0F;
  EXPECT_EQ(result, expected);
}

TEST(Sbc, RiceExponentIsTheOneOfThePaper)
{
  double const golden = (1 + std::sqrt(5.0)) / 2;
  for (std::size_t const inverse : {33U, 100U, 700U, 1000U, 12345U}) {
    double const p = 1.0 / static_cast<double>(inverse);
    EXPECT_EQ(rice_exponent(1000, 1000 * inverse),
              1 + std::floor(std::log2(std::log(golden - 1) / std::log(1 - p))))
      << inverse;
  }
}

/// Each step adds one update to the sum of inputs and one message to the sum of outputs. The residual is
/// what the next message of a zero update is made from: at ratio 1 topk sends all of it.
TEST(TopkWithErrorFeedback, WhatWasSentAndTheResidualAddUpToTheInputs)
{
  constexpr int steps = 20;
  auto const codec    = peer(method::topk_ef, 0.05);
  std::vector<float> sent(sample_count, 0.0F), magnitude(sample_count, 0.0F);
  std::vector<double> given(sample_count, 0.0);
  float largest = 0;
  for (std::uint32_t step = 0; step < steps; ++step) {
    auto const update = sample_update(100 + step);
    for (std::size_t i = 0; i < update.size(); ++i) {
      given[i] += static_cast<double>(update[i]);
      magnitude[i] += std::fabs(update[i]);
    }
    codec->decode_add(message_of(*codec, update, step), 1.0F, sent);
  }
  largest = *std::max_element(magnitude.begin(), magnitude.end());
  // Drain: messages of zero updates carry the residual alone, 5 % of the elements each.
  std::vector<float> const nothing(sample_count, 0.0F);
  for (std::uint32_t step = steps; step < steps + 40; ++step) {
    codec->decode_add(message_of(*codec, nothing, step), 1.0F, sent);
  }
  // Every addition and subtraction rounds by half an ulp of at most magnitude[i]: 2 * 60 of them. What a last
  // fp16 rounding left is below 2^-11 of an element that was itself small by then.
  for (std::size_t i = 0; i < sample_count; ++i) {
    double const tolerance = 120 * std::ldexp(static_cast<double>(magnitude[i]), -24) +
                             std::ldexp(static_cast<double>(largest), -11);
    EXPECT_NEAR(static_cast<double>(sent[i]), given[i], tolerance) << i;
  }
}

TEST(TopkWithErrorFeedback, ResidualIsWhatTheMessageLeftOut)
{
  auto const update = sample_update(5);
  auto const codec  = peer(method::topk_ef, 0.1);
  auto const first  = decoded(*codec, message_of(*codec, update, 0));
  // A lossless reader of the residual: plain topk at the full ratio of what must be left.
  std::vector<float> left(sample_count);
  for (std::size_t i = 0; i < sample_count; ++i) {
    left[i] = update[i] - first[i];
  }
  auto const expected = decoded(*peer(method::topk, 0.1), message_of(*peer(method::topk, 0.1), left));
  EXPECT_EQ(decoded(*codec, message_of(*codec, std::vector<float>(sample_count, 0.0F), 1)), expected);
}

TEST(Sbc, ResidualIsWhatTheMessageLeftOut)
{
  auto const update = sample_update(6);
  auto const codec  = peer(method::sbc, 0.1);
  auto const first  = decoded(*codec, message_of(*codec, update, 0));
  std::vector<float> left(sample_count);
  for (std::size_t i = 0; i < sample_count; ++i) {
    left[i] = update[i] - first[i];
  }
  auto const fresh = peer(method::sbc, 0.1);
  EXPECT_EQ(message_of(*codec, std::vector<float>(sample_count, 0.0F), 1), message_of(*fresh, left, 1));
}

TEST(PeerCodec, OnlyErrorFeedbackKeepsState)
{
  EXPECT_EQ(peer(method::topk)->state_bytes(), 0U);
  EXPECT_EQ(peer(method::randomk)->state_bytes(), 0U);
  EXPECT_EQ(peer(method::topk_ef)->state_bytes(), 4U * sample_count);
  EXPECT_EQ(peer(method::sbc)->state_bytes(), 4U * sample_count);
}

TEST(Randomk, DrawsDistinctPositionsBelowTheCount)
{
  for (std::size_t const count : {1U, 2U, 3U, 64U, 65U, 1590U}) {
    auto positions = random_positions(count, count, {7, 1, 2});
    std::sort(positions.begin(), positions.end());
    std::vector<std::uint32_t> all(count);
    std::iota(all.begin(), all.end(), 0U);
    EXPECT_EQ(positions, all) << count;
  }
}

TEST(Randomk, DrawsEachPositionWithProbabilityKOverN)
{
  constexpr std::uint32_t keys = 20000;
  constexpr std::size_t count = 50, kept = 10;
  std::vector<double> hits(count, 0.0);
  for (std::uint32_t step = 0; step < keys; ++step) {
    for (std::uint32_t const position : random_positions(count, kept, {3, step, 0})) {
      ++hits[position];
    }
  }
  double const p     = static_cast<double>(kept) / count;
  double const sigma = std::sqrt(keys * p * (1 - p));
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_NEAR(hits[i], keys * p, 5 * sigma) << i;  // 50 of them: 3e-5 to fail by chance
  }
}

TEST(Randomk, MeanOfManyMessagesIsTheUpdate)
{
  constexpr std::uint32_t keys = 4000;
  auto const update            = sample_update(8);
  auto const codec             = peer(method::randomk);
  std::vector<float> sum(sample_count, 0.0F);
  for (std::uint32_t step = 0; step < keys; ++step) {
    codec->decode_add(message_of(*codec, update, step), 1.0F, sum);
  }
  double const gain = 10;  // n / k: variance of one message's element is (gain - 1) * g^2
  float largest     = 0;
  for (float const value : update) {
    largest = std::max(largest, std::fabs(value));
  }
  for (std::size_t i = 0; i < sample_count; ++i) {
    double const g     = static_cast<double>(update[i]);
    double const sigma = std::fabs(g) * std::sqrt((gain - 1) / keys);
    EXPECT_NEAR(static_cast<double>(sum[i]) / keys, g,
                5.5 * sigma + static_cast<double>(stored_error(update[i], largest)))
      << i;  // 1590 of them at 5.5 sigma: 6e-5 to fail by chance
  }
}

TEST(Randomk, OmegaIsNOverKMinusOne) { EXPECT_DOUBLE_EQ(peer(method::randomk)->omega(), 9.0); }

TEST(Topk, OmegaIsTheErrorOfTheMessage)
{
  auto const update = sample_update(9);
  auto const codec  = peer(method::topk);
  auto const result = decoded(*codec, message_of(*codec, update));
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < update.size(); ++i) {
    double const off = static_cast<double>(update[i]) - static_cast<double>(result[i]);
    error += off * off;
    norm += static_cast<double>(update[i]) * static_cast<double>(update[i]);
  }
  EXPECT_NEAR(codec->omega(), error / norm, 1e-12);
}

TEST(PeerCodec, ReplyHasARatioOfItsOwn)
{
  auto options        = options_of(method::randomk, 0.1);
  options.reply_ratio = 0.5;
  auto const down     = make_peer_codec(options, sample_network(), direction::down);
  EXPECT_EQ(message_of(*down, sample_update(1)).size(), 32U + 2U * 795U);
}

TEST(PeerCodec, RefusesARatioAboveOneByName)
{
  try {
    (void)peer(method::topk, 1.5);
    FAIL() << "accepted";
  } catch (invalid_argument const& error) {
    EXPECT_EQ(std::string{error.what()}, "ratio must be above 0 and at most 1, is 1.500000");
  }
}

class EveryPeer : public testing::TestWithParam<method> {};

TEST_P(EveryPeer, AddsWithTheWeight)
{
  auto const codec   = peer(GetParam());
  auto const message = message_of(*codec, sample_update(10));
  auto const once    = decoded(*codec, message);
  std::vector<float> sum(sample_count, 1.0F);
  codec->decode_add(message, 0.5F, sum);
  for (std::size_t i = 0; i < sample_count; ++i) {
    EXPECT_EQ(sum[i], 1.0F + 0.5F * once[i]) << i;
  }
}

TEST_P(EveryPeer, IsDecodedByAnyObjectOfTheSameOptions)
{
  auto const sender  = peer(GetParam());
  auto const message = message_of(*sender, sample_update(11));
  EXPECT_EQ(decoded(*peer(GetParam()), message), decoded(*sender, message));
}

TEST_P(EveryPeer, SendsAZeroUpdateAsZeros)
{
  auto const codec = peer(GetParam());
  EXPECT_EQ(nonzeros(decoded(*codec, message_of(*codec, std::vector<float>(sample_count, 0.0F)))), 0U);
}

TEST_P(EveryPeer, TellsOfANonFiniteUpdateAndForgetsIt)
{
  auto const codec = peer(GetParam());
  auto update      = sample_update(12);
  update[1500]     = std::numeric_limits<float>::infinity();
  auto const bad   = decoded(*codec, message_of(*codec, update, 0));
  EXPECT_TRUE(std::isnan(bad[0]));
  auto const good = sample_update(13);
  EXPECT_EQ(message_of(*codec, good, 1), message_of(*peer(GetParam()), good, 1));
}

TEST_P(EveryPeer, KeepsSubnormalAndHugeUpdatesFinite)
{
  for (float const scale : {1e-42F, 1e36F}) {
    auto const codec = peer(GetParam());
    auto update      = sample_update(14);
    for (float& value : update) {
      value *= scale;
    }
    for (float const value : decoded(*codec, message_of(*codec, update))) {
      ASSERT_TRUE(std::isfinite(value)) << scale;
    }
  }
}

TEST_P(EveryPeer, RefusesEveryTruncation)
{
  auto const codec   = peer(GetParam());
  auto const message = message_of(*codec, sample_update(15));
  for (std::size_t size = 0; size < message.size(); ++size) {
    std::vector<float> sum(sample_count, 0.0F);
    EXPECT_THROW(codec->decode_add(span<std::byte const>{message}.first(size), 1.0F, sum), bad_packet)
      << size;
  }
}

TEST_P(EveryPeer, RefusesBytesAfterItsEnd)
{
  auto const codec = peer(GetParam());
  auto message     = message_of(*codec, sample_update(16));
  message.push_back(std::byte{0});
  std::vector<float> sum(sample_count, 0.0F);
  EXPECT_THROW(codec->decode_add(message, 1.0F, sum), bad_packet);
}

TEST_P(EveryPeer, DamageIsRefusedOrStaysInsideTheUpdateAndARefusalAddsNothing)
{
  auto const codec   = peer(GetParam());
  auto const message = message_of(*codec, sample_update(17));
  for (std::size_t at = 0; at < message.size(); ++at) {
    for (unsigned const flip : {0x01U, 0x80U, 0xFFU}) {
      auto damaged = message;
      damaged[at] ^= static_cast<std::byte>(flip);
      std::vector<float> guarded(sample_count + 2, 7.0F);  // a guard element at each end
      try {
        codec->decode_add(damaged, 1.0F, {guarded.data() + 1, sample_count});
      } catch (bad_packet const&) {
        ASSERT_EQ(guarded, std::vector<float>(sample_count + 2, 7.0F)) << "byte " << at;
      }
      ASSERT_EQ(guarded.front(), 7.0F);
      ASSERT_EQ(guarded.back(), 7.0F);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, EveryPeer, testing::ValuesIn(all_peers), [](auto const& instance) {
  std::string name = to_string(instance.param);
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
});

}  // namespace
}  // namespace bird::trainer
