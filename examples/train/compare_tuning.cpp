#include "compare_tuning.hpp"

#include <algorithm>
#include <cmath>

namespace bird::trainer {
namespace {

/// Number `step` of the grid: ..., 0.01, 0.03, 0.1, ...
double rate_of(int step)
{
  int const decade   = step >= 0 ? step / 2 : (step - 1) / 2;
  double const digit = step - 2 * decade == 1 ? 3 : 1;
  return decade < 0 ? digit / std::pow(10.0, -decade) : digit * std::pow(10.0, decade);  // 0.3, not 3 * 0.1
}

int step_of(double rate) { return static_cast<int>(std::lround(2 * std::log10(rate))); }

}  // namespace

double best_rate(std::vector<std::pair<double, double>> const& tried)
{
  return std::max_element(tried.begin(), tried.end(),
                          [](auto const& a, auto const& b) { return a.second < b.second; })
    ->first;
}

std::vector<std::pair<double, double>> climb_rates(double first, int tries,
                                                   std::function<double(double)> const& score)
{
  int const start = step_of(first);
  std::vector<std::pair<double, double>> tried{{rate_of(start), score(rate_of(start))}};
  int lowest = start, highest = start;
  auto const add_below = [&] {
    --lowest;
    tried.insert(tried.begin(), {rate_of(lowest), score(rate_of(lowest))});
  };
  auto const add_above = [&] {
    ++highest;
    tried.emplace_back(rate_of(highest), score(rate_of(highest)));
  };
  while (static_cast<int>(tried.size()) < tries) {
    double const best = best_rate(tried);
    if (best == tried.front().first) {
      add_below();
    } else if (best == tried.back().first) {
      add_above();
    } else {
      break;
    }
  }
  return tried;
}

}  // namespace bird::trainer
