/// link: one worker's connection to its server, as slow as asked for, and what went over it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bird::trainer {

/// Time as links see it; tests bring their own.
class link_clock {
 public:
  virtual ~link_clock()                     = default;
  [[nodiscard]] virtual double now()        = 0;  ///< seconds since some start
  virtual void sleep_until(double deadline) = 0;
};

/// Steady clock and a sleeping thread.
[[nodiscard]] link_clock& real_clock();

/// One direction of a link: a token bucket that holds one Ethernet frame, so a message takes its bytes
/// over the rate, whether or not the link was idle before. Without a rate it only counts.
class link_lane {
 public:
  link_lane(double megabits_per_second, link_clock& clock);

  /// Blocks until the last byte has left. @returns the seconds that it waited
  double send(std::size_t bytes);

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  link_clock* clock_;
  double seconds_per_byte_;  ///< 0: not limited
  double free_at_      = 0;  ///< when all accepted bytes have left
  std::uint64_t bytes_ = 0;
};

struct link {
  link(double megabits_per_second, link_clock& clock)
    : up{megabits_per_second, clock}, down{megabits_per_second, clock}
  {
  }
  link_lane up;  ///< to the server
  link_lane down;
};

}  // namespace bird::trainer
