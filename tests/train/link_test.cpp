#include "link.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace bird::trainer {
namespace {

/// Time that passes only when somebody sleeps, or when the test says so.
class manual_clock : public link_clock {
 public:
  double now() override { return now_; }
  void sleep_until(double deadline) override { now_ = std::max(now_, deadline); }
  void pass(double seconds) { now_ += seconds; }

 private:
  double now_ = 1000;
};

constexpr double frame = 1514;
/// Of sums of times near 5000 s, each rounded to about 1e-12.
constexpr double rounding = 1e-9;

TEST(Link, CountsEveryByteOfEachDirection)
{
  manual_clock clock;
  link both{10, clock};
  for (std::size_t const bytes : {1U, 0U, 999U, 123456U}) {
    both.up.send(bytes);
  }
  both.down.send(77);
  EXPECT_EQ(both.up.bytes(), 124456U);
  EXPECT_EQ(both.down.bytes(), 77U);
}

TEST(Link, TakesBytesOverRateForAMessage)
{
  manual_clock clock;
  link_lane lane{8, clock};  // a megabyte a second
  EXPECT_NEAR(lane.send(500000), (500000 - frame) / 1e6, rounding)
    << "an idle link holds one frame of tokens";
  EXPECT_NEAR(lane.send(500000), 0.5, rounding) << "a busy one holds none";
}

TEST(Link, SavesUpNoMoreThanOneFrameWhileIdle)
{
  manual_clock clock;
  link_lane lane{8, clock};
  lane.send(1000000);
  clock.pass(3600);
  EXPECT_NEAR(lane.send(500000), (500000 - frame) / 1e6, rounding);
}

TEST(Link, LetsTheDirectionsBeIndependent)
{
  manual_clock clock;
  link both{8, clock};
  both.up.send(10000000);
  EXPECT_NEAR(both.down.send(500000), (500000 - frame) / 1e6, rounding);
}

TEST(Link, NeverWaitsWithoutARate)
{
  manual_clock clock;
  link_lane lane{0, clock};
  EXPECT_EQ(lane.send(1U << 30), 0.0);
  EXPECT_EQ(lane.bytes(), 1U << 30);
}

}  // namespace
}  // namespace bird::trainer
