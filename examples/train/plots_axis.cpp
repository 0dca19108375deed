#include "plots_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bird::trainer {
namespace {

/// The least of 1, 2, 5 times a power of ten that is not below `value`.
double round_step(double value)
{
  double const power = std::pow(10.0, std::floor(std::log10(value)));
  for (double const digit : {1.0, 2.0, 5.0}) {
    if (digit * power >= value * (1 - 1e-9)) {
      return digit * power;
    }
  }
  return 10 * power;
}

constexpr double wanted_ticks = 5;

double linear_step(axis_range range) { return round_step((range.high - range.low) / wanted_ticks); }

bool shows(plot_axis const& axis, double value)
{
  return std::isfinite(value) && (!axis.logarithmic || value > 0);
}

}  // namespace

bool visible(plot const& chart, plot_point const& point)
{
  return shows(chart.x, point.x) && shows(chart.y, point.y);
}

std::vector<double> x_values(plot const& chart)
{
  std::vector<double> values;
  for (plot_series const& series : chart.series) {
    for (plot_point const& point : series.points) {
      if (visible(chart, point)) {
        values.push_back(point.x);
      }
    }
  }
  return values;
}

std::vector<double> y_values(plot const& chart)
{
  std::vector<double> values;
  for (plot_series const& series : chart.series) {
    for (plot_point const& point : series.points) {
      if (visible(chart, point)) {
        values.push_back(point.y);
        if (point.high > point.low) {
          values.insert(values.end(), {point.low, point.high});
        }
      }
    }
  }
  for (plot_level const& level : chart.levels) {
    values.push_back(level.y);
  }
  return values;
}

axis_range range_of(plot_axis const& axis, std::vector<double> const& values)
{
  if (values.empty()) {
    return axis.logarithmic ? axis_range{1, 10} : axis_range{0, 1};
  }
  double low  = *std::min_element(values.begin(), values.end());
  double high = *std::max_element(values.begin(), values.end());
  if (axis.logarithmic) {
    double const room = std::max(1.3, std::pow(high / low, 0.08));  // so that points do not sit on the frame
    return {low / room, high * room};
  }
  if (high - low < 1e-9 * std::max(std::fabs(high), 1.0)) {
    low -= 0.5;
    high += 0.5;
  }
  double const step = linear_step({low, high});
  return {std::floor(low / step + 1e-9) * step, std::ceil(high / step - 1e-9) * step};
}

double place(plot_axis const& axis, axis_range range, double value)
{
  return axis.logarithmic ? std::log(value / range.low) / std::log(range.high / range.low)
                          : (value - range.low) / (range.high - range.low);
}

std::vector<double> ticks(plot_axis const& axis, axis_range range)
{
  std::vector<double> result;
  constexpr double short_range = 8;  // less than a decade: few powers of ten would fall into it
  if (!axis.logarithmic || range.high / range.low < short_range) {
    double const step = linear_step(range);
    for (double i = std::ceil(range.low / step - 1e-9); i * step <= range.high + 1e-9 * step; ++i) {
      result.push_back(i * step);
    }
    return result;
  }
  bool const long_range = range.high / range.low > 100;
  for (double power = std::pow(10.0, std::floor(std::log10(range.low))); power <= range.high; power *= 10) {
    for (double const digit : {1.0, 2.0, 5.0}) {
      double const value = digit * power;
      if (value >= range.low && value <= range.high && (digit == 1.0 || !long_range)) {
        result.push_back(value);
      }
    }
  }
  return result;
}

std::string tick_text(plot_axis const& axis, double value)
{
  if (axis.unit != plot_unit::bytes) {
    return fmt::format("{:.4g}", value + 0.0);
  }
  char const* const units[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit          = 0;
  while (value >= 999.5 && unit < 4) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", value, units[unit]);
}

}  // namespace bird::trainer
