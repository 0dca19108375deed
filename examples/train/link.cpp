#include "link.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace bird::trainer {
namespace {

constexpr double bucket_bytes = 1514;  ///< one full Ethernet frame

class steady_link_clock : public link_clock {
 public:
  double now() override
  {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  void sleep_until(double deadline) override
  {
    double const left = deadline - now();
    if (left > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(left));
    }
  }
};

}  // namespace

link_clock& real_clock()
{
  static steady_link_clock clock;
  return clock;
}

link_lane::link_lane(double megabits_per_second, link_clock& clock)
  : clock_{&clock}, seconds_per_byte_{megabits_per_second > 0 ? 8e-6 / megabits_per_second : 0}
{
}

double link_lane::send(std::size_t bytes)
{
  bytes_ += bytes;
  if (seconds_per_byte_ == 0) {
    return 0;
  }
  double const start = clock_->now();
  // Tokens that a pause has saved up, at most a bucket full, shorten the wait.
  free_at_ = std::max(free_at_, start - bucket_bytes * seconds_per_byte_) +
             static_cast<double>(bytes) * seconds_per_byte_;
  clock_->sleep_until(free_at_);
  return clock_->now() - start;
}

}  // namespace bird::trainer
