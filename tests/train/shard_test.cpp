#include "shard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "bird/error.hpp"
#include "dataset.hpp"

namespace bird::trainer {
namespace {

std::vector<std::uint8_t> balanced_labels(std::size_t count)
{
  std::vector<std::uint8_t> labels(count);
  for (std::size_t i = 0; i < count; ++i) {
    labels[i] = static_cast<std::uint8_t>(i * 7 % class_count);
  }
  return labels;
}

void expect_partition(std::vector<shard> const& shards, std::size_t count)
{
  shard all;
  for (shard const& part : shards) {
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  shard expected(count);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(all, expected);
}

/// Mean over workers of the largest class's share of a shard; 0.1 when all classes are alike.
double concentration(std::vector<shard> const& shards, std::vector<std::uint8_t> const& labels)
{
  double sum = 0;
  for (shard const& part : shards) {
    std::vector<double> classes(class_count, 0.0);
    for (std::uint32_t const image : part) {
      classes[labels[image]] += 1;
    }
    sum += *std::max_element(classes.begin(), classes.end()) / static_cast<double>(part.size());
  }
  return sum / static_cast<double>(shards.size());
}

TEST(Shards, DealtEvenlyHoldEveryImageOnce) { expect_partition(deal_evenly(1003, 7, 5), 1003); }

TEST(Shards, DealtEvenlyDifferByAtMostOneImage)
{
  auto const shards        = deal_evenly(1003, 7, 5);
  auto const [least, most] = std::minmax_element(
    shards.begin(), shards.end(), [](auto const& a, auto const& b) { return a.size() < b.size(); });
  EXPECT_LE(most->size() - least->size(), 1U);
}

TEST(Shards, DealtSkewedHoldEveryImageOnce)
{
  auto const labels = balanced_labels(2003);
  for (double const alpha : {0.1, 1.0, 100.0}) {
    expect_partition(deal_skewed(labels, 5, alpha, 1, 11), labels.size());
  }
}

TEST(Shards, DealtWithALowAlphaConcentrateClasses)
{
  auto const labels = balanced_labels(20000);
  EXPECT_GT(concentration(deal_skewed(labels, 8, 0.1, 32, 3), labels), 0.3);
  EXPECT_LT(concentration(deal_skewed(labels, 8, 1000, 32, 3), labels), 0.15);
}

TEST(Shards, GiveEveryWorkerABatchOrRefuseBySkew)
{
  auto const labels = balanced_labels(20000);
  for (shard const& part : deal_skewed(labels, 4, 0.2, 500, 3)) {
    EXPECT_GE(part.size(), 500U);
  }
  try {
    (void)deal_skewed(labels, 64, 0.001, 32, 3);
    FAIL() << "64 workers shared ten classes that each went to one";
  } catch (invalid_argument const& error) {
    EXPECT_NE(std::string{error.what()}.find("--skew 0.001"), std::string::npos) << error.what();
  }
}

TEST(Shards, FollowTheSeed)
{
  auto const labels = balanced_labels(2000);
  EXPECT_EQ(deal_skewed(labels, 4, 1, 1, 9), deal_skewed(labels, 4, 1, 1, 9));
  EXPECT_NE(deal_skewed(labels, 4, 1, 1, 9), deal_skewed(labels, 4, 1, 1, 10));
  EXPECT_NE(deal_evenly(2000, 4, 9), deal_evenly(2000, 4, 10));
}

}  // namespace
}  // namespace bird::trainer
