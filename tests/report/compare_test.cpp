/// Who wins a comparison, on results made by hand, and how learning rates are searched for.
#include "compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "compare_report.hpp"
#include "compare_tuning.hpp"
#include "compare_winners.hpp"

namespace bird::trainer {
namespace {

contender_result made(std::string name, std::vector<double> accuracies, double bytes_each_way,
                      double state = 0)
{
  contender_result one;
  one.name             = std::move(name);
  one.method           = one.name;
  one.sends_floats     = one.name == "dense";
  one.accuracies       = std::move(accuracies);
  one.workers          = 4;
  one.messages         = 100;
  one.bytes_up         = bytes_each_way;
  one.bytes_down       = bytes_each_way;
  one.dense_bytes_up   = 1e8;
  one.dense_bytes_down = 1e8;
  one.seconds          = 10;
  one.state_bytes      = state;
  return one;
}

/// dense 88 %; a: close and 1/10; b: half a point off, 1/100, with memory; c: far off, 1/1000.
comparison sample()
{
  comparison all;
  all.model      = "mlp";
  all.parameters = 235146;
  all.seeds      = {2, 3};
  all.results    = {made("dense", {0.879, 0.881}, 1e8), made("a", {0.878, 0.880}, 1e7),
                    made("b", {0.875, 0.875}, 1e6, 940584), made("c", {0.80, 0.82}, 1e5)};
  return all;
}

TEST(EqualAccuracy, FewestBytesWithinTheMarginWin)
{
  auto const all = sample();
  EXPECT_EQ(at_equal_accuracy(all, 0.5)->winner, 2U);  // b is exactly 0.5 points below
  EXPECT_EQ(at_equal_accuracy(all, 0.4)->winner, 1U);
  EXPECT_EQ(at_equal_accuracy(all, 10)->winner, 3U);
}

TEST(EqualAccuracy, WinnerWithoutMemoryIsNamedToo)
{
  auto const found = at_equal_accuracy(sample(), 0.5);
  EXPECT_EQ(found->without_memory, 1U);
}

TEST(EqualAccuracy, DenseItselfWinsWhereNothingElseComesNear)
{
  auto all = sample();
  all.results.erase(all.results.begin() + 1, all.results.begin() + 3);
  EXPECT_EQ(at_equal_accuracy(all, 0.5)->winner, 0U);
}

TEST(EqualAccuracy, SentenceNamesTheMemoryThatTheWinnerKeeps)
{
  auto const all = sample();
  EXPECT_EQ(sentence(all, *at_equal_accuracy(all, 0.5)),
            "within 0.5 points of dense: b (87.50 %, 1/100 of the bytes, keeping 940,584 B in each worker); "
            "without memory: a (87.90 %, 1/10 of the bytes)");
}

TEST(EqualAccuracy, NeedsADenseReference)
{
  auto all = sample();
  all.results.erase(all.results.begin());
  EXPECT_FALSE(at_equal_accuracy(all, 0.5).has_value());
}

TEST(EqualBytes, BestAccuracyWithinTheBudgetWins)
{
  auto const all = sample();
  EXPECT_EQ(at_equal_bytes(all, 10).winner, 1U);
  EXPECT_EQ(at_equal_bytes(all, 11).winner, 2U);
  EXPECT_EQ(at_equal_bytes(all, 300).winner, 3U);
  EXPECT_FALSE(at_equal_bytes(all, 3000).winner.has_value());
}

TEST(EqualBytes, ThoseWithinTheNoiseAreNotToldApart)
{
  auto all = sample();
  EXPECT_TRUE(at_equal_bytes(all, 10).level.empty());  // b is 0.4 points behind a
  all.results[2].accuracies = {0.8751, 0.8751};
  EXPECT_EQ(at_equal_bytes(all, 10).level, std::vector<std::size_t>{2});
}

TEST(EqualBytes, OnlyBytesUpCountWhereRepliesAreDense)
{
  auto all = sample();
  EXPECT_FALSE(at_equal_bytes(all, 2000).winner.has_value());
  all.dense_reply           = true;
  all.results[3].bytes_down = 1e8;
  EXPECT_EQ(at_equal_bytes(all, 1000).winner, 3U);
}

TEST(ProjectedTime, IsTheMeasuredTimePlusTheBytesOfOneWorker)
{
  auto const dense = sample().results[0];
  EXPECT_DOUBLE_EQ(projected_seconds(dense, 0), 10);
  EXPECT_DOUBLE_EQ(projected_seconds(dense, 100), 10 + 2e8 / 4 * 8 / 1e8);
  EXPECT_DOUBLE_EQ(projected_seconds(dense, 1000), 10 + 2e8 / 4 * 8 / 1e9);
}

TEST(LearningRates, SearchClimbsToTheBestOfTheGrid)
{
  auto const score = [](double rate) { return -std::fabs(std::log10(rate) - std::log10(0.001)); };
  auto const tried = climb_rates(0.1, 10, score);
  EXPECT_NEAR(best_rate(tried), 0.001, 1e-12);
  EXPECT_EQ(tried.size(), 6U);  // 0.1 down to 0.0003, one beyond the best
}

TEST(LearningRates, SearchLooksBothWays)
{
  auto const tried = climb_rates(0.03, 10, [](double rate) { return rate < 0.2 ? rate : 0; });
  EXPECT_NEAR(best_rate(tried), 0.1, 1e-12);
  EXPECT_NEAR(tried.front().first, 0.01, 1e-12);
  EXPECT_NEAR(tried.back().first, 0.3, 1e-12);
}

TEST(LearningRates, SearchKeepsToItsTries)
{
  int calls = 0;
  (void)climb_rates(0.1, 3, [&](double rate) { return ++calls, -rate; });
  EXPECT_EQ(calls, 3);
}

TEST(Contender, NameAndRatioMakeItsOptions)
{
  auto const one = make_contender("topk-ef@0.001", {});
  EXPECT_EQ(one.options.method, method::topk_ef);
  EXPECT_EQ(one.options.codec.ratio, 0.001);
  EXPECT_EQ(make_contender("sbc", {}).options.codec.ratio, 0.01);
  EXPECT_EQ(make_contender("sign1", {}).options.preset, "sign1");
}

TEST(Contender, UnknownNamesAndRatiosAreRefusedByName)
{
  EXPECT_THROW((void)make_contender("tiles", {}), invalid_argument);
  for (char const* name : {"tile@0", "tile@1.5", "tile@nan", "tile@0.1x", "tile@"}) {
    EXPECT_THROW((void)make_contender(name, {}), invalid_argument) << name;
  }
}

TEST(ComparisonReport, JsonHoldsEveryMethodAndItsNumbers)
{
  auto const json = nlohmann::json::parse(comparison_json(sample()));
  ASSERT_EQ(json["results"].size(), 4U);
  EXPECT_EQ(json["results"][2]["name"], "b");
  EXPECT_EQ(json["results"][2]["test_accuracies"].size(), 2U);
  EXPECT_EQ(json["results"][2]["bytes_up_per_message"], 1e4);
  EXPECT_EQ(json["results"][2]["projected_seconds"]["unlimited"], 10);
  EXPECT_EQ(json["results"][2]["state_bytes"], 940584);
}

TEST(ComparisonReport, PageRefersToNothingOutsideAndEscapesNames)
{
  auto all               = sample();
  all.results[1].name    = "<script>alert(1)</script>";
  std::string const html = comparison_html(all);
  EXPECT_FALSE(std::regex_search(
    html, std::regex{R"((src|href|xlink:href|action|data)\s*=|url\(|@import|<script|<link|https?:)"}));
}

TEST(ComparisonReport, WithoutResultsItIsStillAPage)
{
  comparison const nothing;
  EXPECT_NE(comparison_html(nothing).find("</html>"), std::string::npos);
  EXPECT_TRUE(comparison_verdicts(nothing).empty());
}

}  // namespace
}  // namespace bird::trainer
