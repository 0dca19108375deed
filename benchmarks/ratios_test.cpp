/// The numbers of a row follow from its repetitions as the table says.
#include "ratios.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace bird::bench {
namespace {

comparison row(std::optional<double> goal)
{
  return {"ours / theirs", "ours", {"theirs"}, unit::gigabytes_per_second, goal};
}

TEST(Ratios, AreThoseOfTheMedians)
{
  result const r = compare_rates(row(1.5), {6, 100, 5}, {{"theirs", {3, 1, 4}}});
  EXPECT_EQ(r.ours, 6);
  EXPECT_EQ(r.reference, 3);
  EXPECT_EQ(r.ratio, 2);
  EXPECT_TRUE(r.met());
}

TEST(Ratios, RangeOverRepetitionsWithEqualNumber)
{
  result const r = compare_rates(row(1.5), {6, 100, 5}, {{"theirs", {3, 1, 4}}});
  EXPECT_EQ(r.least, 1.25);
  EXPECT_EQ(r.largest, 100);
}

TEST(Ratios, MedianOfAnEvenNumberLiesHalfWay)
{
  EXPECT_EQ(compare_rates(row({}), {1, 2, 4, 100}, {{"theirs", {1, 1, 1, 1}}}).ours, 3);
}

TEST(Ratios, TakeTheFastestReference)
{
  result const r = compare_rates(row({}), {10}, {{"slow", {2}}, {"fast", {5}}, {"middle", {4}}});
  EXPECT_EQ(r.reference_name, "fast");
  EXPECT_EQ(r.ratio, 2);
}

TEST(Ratios, MissAGoalThatTheyDoNotReach)
{
  EXPECT_FALSE(compare_rates(row(2.01), {10}, {{"theirs", {5}}}).met());
  EXPECT_TRUE(compare_rates(row(2.0), {10}, {{"theirs", {5}}}).met());
}

TEST(Ratios, AreWrittenAsJsonWithEveryField)
{
  std::ostringstream out;
  result r       = compare_rates(row(3.0), {10}, {{"a \"quoted\" name", {5}}});
  r.microseconds = 2.5;
  print_json({r}, out);
  EXPECT_EQ(
    out.str(),
    "[\n  {\"row\": \"ours / theirs\", \"ours\": 10, \"reference\": 5, \"ratio\": 2, \"min\": 2, \"max\": 2, "
    "\"microseconds\": 2.5, \"goal\": 3, \"met\": false, \"unit\": \"GB/s\", \"reference_name\": \"a "
    "\\\"quoted\\\" name\"}\n]\n");
}

}  // namespace
}  // namespace bird::bench
