/// compare_tuning: a search for the best learning rate on a grid.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace bird::trainer {

/// Tries rates a factor of about three apart (1, 3, 10, 30, ...): `first`, the one below, the one above, and
/// then onwards while the best one lies at an end of what was tried.
/// @param score  called once a rate, at most `tries` times; larger is better
/// @returns the pairs that were tried, ascending
[[nodiscard]] std::vector<std::pair<double, double>> climb_rates(double first, int tries,
                                                                 std::function<double(double)> const& score);

/// The rate of the best score; of equal ones the smallest, which is the safer one.
[[nodiscard]] double best_rate(std::vector<std::pair<double, double>> const& tried);

}  // namespace bird::trainer
