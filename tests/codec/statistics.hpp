/// Means over many keys, and how far they are from what was promised.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace codec_test {

/// Tests of means use 4.5 standard errors. A normal mean exceeds them with probability 6.8e-6, so among the
/// about 2000 means of one test with probability below 0.014. Inputs and keys are fixed: a test that passes
/// once passes always, and this figure is the chance that a correct codec is accused when keys are changed.
inline constexpr double sigmas = 4.5;

/// Running mean and variance (Welford, Technometrics 4, 1962).
class running_mean {
 public:
  void add(double x)
  {
    ++count_;
    double const delta = x - mean_;
    mean_ += delta / static_cast<double>(count_);
    squares_ += delta * (x - mean_);
  }
  [[nodiscard]] double mean() const { return mean_; }
  [[nodiscard]] double variance() const { return squares_ / static_cast<double>(count_ - 1); }
  /// Standard error of the mean.
  [[nodiscard]] double error() const { return std::sqrt(variance() / static_cast<double>(count_)); }

 private:
  std::uint64_t count_ = 0;
  double mean_         = 0;
  double squares_      = 0;
};

/// Deviation of a mean in standard errors. A quantity that does not vary may be off by float rounding only.
inline double deviation(running_mean const& measured, double expected, double rounding = 1e-6)
{
  double const allowed = rounding * std::abs(expected);
  double const off     = std::max(0.0, std::abs(measured.mean() - expected) - allowed);
  return off == 0 ? 0 : off / std::max(measured.error(), 1e-300);
}

}  // namespace codec_test
