#include "session.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "bird/error.hpp"
#include "pattern_data.hpp"

namespace bird::trainer {
namespace {

dataset const& data()
{
  static dataset const patterns = pattern_data(640, 200);
  return patterns;
}

constexpr std::uint64_t mlp_bytes = 235146 * sizeof(float);
constexpr std::uint64_t rounds    = 10;

/// Two epochs of five rounds.
train_options small_run(method how)
{
  train_options options;
  options.model         = model::mlp;
  options.method        = how;
  options.epochs        = 2;
  options.batch         = 32;
  options.workers       = 4;
  options.learning_rate = 0.02;
  return options;
}

train_options small_run(std::string const& preset)
{
  train_options options = small_run(method::bird);
  apply_preset(options, preset);
  return options;
}

train_result run(train_options const& options)
{
  train_observer observer;
  return train(options, data(), observer);
}

/// All that a result owes to options and data alone, which is all but the times.
void expect_same_outcome(train_result const& a, train_result const& b)
{
  EXPECT_EQ(a.bytes_up, b.bytes_up);
  EXPECT_EQ(a.bytes_down, b.bytes_down);
  EXPECT_EQ(a.omega, b.omega);
  EXPECT_EQ(a.reply_omega, b.reply_omega);
  ASSERT_EQ(a.curve.size(), b.curve.size());
  for (std::size_t i = 0; i < a.curve.size(); ++i) {
    EXPECT_EQ(a.curve[i].loss, b.curve[i].loss) << "point " << i;
    EXPECT_EQ(a.curve[i].test_accuracy, b.curve[i].test_accuracy) << "point " << i;
    EXPECT_EQ(a.curve[i].bytes_up, b.curve[i].bytes_up) << "point " << i;
  }
}

/// Every method and preset by its name.
class EveryCodec : public testing::TestWithParam<std::string> {
 protected:
  static train_options options()
  {
    for (method const how : {method::dense, method::topk, method::topk_ef, method::randomk, method::sbc}) {
      if (GetParam() == to_string(how)) {
        return small_run(how);
      }
    }
    return small_run(GetParam());
  }
};

std::string name_of(testing::TestParamInfo<std::string> const& tested)
{
  return tested.param == "topk-ef" ? "topk_ef" : tested.param;
}

TEST_P(EveryCodec, GivesTheSameResultHoweverThreadsAreScheduled)
{
  train_options delayed    = options();
  delayed.link_mbps        = 100;  // waiting for links puts the threads in another order
  train_result const plain = run(options());
  expect_same_outcome(plain, run(delayed));
}

TEST_P(EveryCodec, LearnsThePatterns)
{
  train_options longer = options();
  longer.epochs        = 8;
  EXPECT_GT(run(longer).test_accuracy, 0.8);
}

INSTANTIATE_TEST_SUITE_P(Session, EveryCodec,
                         testing::Values("dense", "tile", "sign1", "paper", "block", "topk", "topk-ef",
                                         "randomk", "sbc"),
                         name_of);

TEST(Session, CountsDenseBytesExactly)
{
  train_result const result = run(small_run(method::dense));
  EXPECT_EQ(result.bytes_up, 4 * rounds * mlp_bytes);
  EXPECT_EQ(result.bytes_down, 4 * rounds * mlp_bytes);
  EXPECT_EQ(result.dense_bytes_up, result.bytes_up);
  EXPECT_EQ(result.dense_bytes_down, result.bytes_down);
}

TEST(Session, SendsFewerBytesBothWaysWithThePresetTile)
{
  train_result const result = run(small_run("tile"));
  EXPECT_LT(result.bytes_up * 8, result.dense_bytes_up);
  EXPECT_LT(result.bytes_down * 2, result.dense_bytes_down);
}

/// Stored values are not scaled at ratio 1, so not even the rounding differs.
TEST(Session, WithEveryTileSentEqualsDense)
{
  train_options everything = small_run("tile");
  everything.codec.ratio   = 1;
  everything.codec.values  = values::full;
  everything.reply_ratio   = 1;
  train_result const whole = run(everything);
  train_result const dense = run(small_run(method::dense));
  ASSERT_EQ(whole.curve.size(), dense.curve.size());
  for (std::size_t i = 0; i < dense.curve.size(); ++i) {
    EXPECT_EQ(whole.curve[i].loss, dense.curve[i].loss) << "point " << i;
    EXPECT_EQ(whole.curve[i].test_accuracy, dense.curve[i].test_accuracy) << "point " << i;
  }
}

TEST(Session, FollowsTheSeed)
{
  train_options other = small_run(method::dense);
  other.seed          = 2;
  EXPECT_NE(run(other).curve[1].loss, run(small_run(method::dense)).curve[1].loss);
}

TEST(Session, ExchangesOnceForSeveralLocalSteps)
{
  train_options options     = small_run(method::dense);
  options.local_steps       = 5;
  train_result const result = run(options);
  EXPECT_EQ(result.rounds, rounds / 5);
  EXPECT_EQ(result.steps, rounds);
  EXPECT_EQ(result.bytes_up, 4 * rounds / 5 * mlp_bytes);
}

TEST(Session, MergesServersEveryPeriodAndAtTheEnd)
{
  train_options options          = small_run("tile");
  options.sync                   = synchronization::dsync;
  options.groups                 = 2;
  options.period                 = 3;
  train_result const result      = run(options);
  constexpr std::uint64_t merges = 4;  // after rounds 3, 6, 9 and 10
  EXPECT_EQ(result.bytes_between_servers, merges * 2 * 2 * mlp_bytes);
  EXPECT_GT(result.bytes_down, merges * 4 * mlp_bytes);
  EXPECT_LT(result.bytes_down, merges * 4 * mlp_bytes + result.dense_bytes_down / 2);
}

/// With one worker in each group and a merge every round, the mean of the servers' steps is the step along
/// the mean gradient: bulk-synchronous training up to the rounding of sums.
TEST(Session, MergedEveryRoundIsBulkSynchronous)
{
  train_options options     = small_run(method::dense);
  train_result const bsp    = run(options);
  options.sync              = synchronization::dsync;
  options.groups            = 4;
  options.period            = 1;
  train_result const merged = run(options);
  ASSERT_EQ(merged.curve.size(), bsp.curve.size());
  for (std::size_t i = 0; i < bsp.curve.size(); ++i) {
    EXPECT_NEAR(merged.curve[i].loss, bsp.curve[i].loss, 1e-4) << "point " << i;
  }
}

TEST(Session, TrainsOnSkewedShards)
{
  train_options options = small_run(method::dense);
  options.skew          = 0.5;
  options.epochs        = 8;
  EXPECT_GT(run(options).test_accuracy, 0.8);
}

TEST(Session, EndsEarlyWhenCancelledAndSaysSo)
{
  class impatient : public train_observer {
   public:
    bool cancelled() const override { return ++asked_ > 4; }

   private:
    mutable int asked_ = 0;
  } observer;
  train_result const result = train(small_run("tile"), data(), observer);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.rounds, 4U);
  EXPECT_EQ(result.curve.back().step, 4U);
}

TEST(Session, EndsADivergedRunWithAdvice)
{
  train_options options     = small_run("tile");
  options.learning_rate     = 1000;
  train_result const result = run(options);
  EXPECT_TRUE(result.diverged);
  EXPECT_NE(result.advice.find("omega"), std::string::npos) << result.advice;
  EXPECT_NE(result.advice.find("--learning-rate"), std::string::npos) << result.advice;
}

TEST(Session, ExplainsTheRateOfACodecThatNobodyMeasured)
{
  class listener : public train_observer {
   public:
    void note(std::string const& line) override { text += line; }
    std::string text;
  } observer;
  train_options options = small_run("tile");
  options.learning_rate.reset();
  options.codec.ratio       = 0.02;
  train_result const result = train(options, data(), observer);
  EXPECT_NE(observer.text.find("omega"), std::string::npos) << observer.text;
  EXPECT_GT(result.learning_rate, 0.0);
  EXPECT_LT(result.learning_rate, 0.05) << "dense takes 0.1";
}

std::string refusal(train_options const& options)
{
  try {
    run(options);
    return "";
  } catch (invalid_argument const& error) {
    return error.what();
  }
}

TEST(Session, RefusesASamplerWithAResidual)
{
  train_options options = small_run("tile");
  options.feedback      = error_feedback::residual;
  EXPECT_NE(refusal(options).find("--feedback residual"), std::string::npos) << refusal(options);
}

TEST(Session, RefusesMoreGroupsThanWorkers)
{
  train_options options = small_run("tile");
  options.sync          = synchronization::dsync;
  options.groups        = 5;
  EXPECT_NE(refusal(options).find("--groups is 5"), std::string::npos) << refusal(options);
}

TEST(Session, RefusesABatchLargerThanTheData)
{
  train_options options = small_run("tile");
  options.batch         = 200;
  EXPECT_NE(refusal(options).find("--batch 200"), std::string::npos) << refusal(options);
}

}  // namespace
}  // namespace bird::trainer
