/// plots_axis: from the numbers of a chart to places on paper, and the marks along its axes.
#pragma once

#include <string>
#include <vector>

#include "plots.hpp"

namespace bird::trainer {

struct axis_range {
  double low = 0, high = 1;
};

/// The interval that an axis shows: all values that it can show, widened to round numbers.
[[nodiscard]] axis_range range_of(plot_axis const& axis, std::vector<double> const& values);

/// Place of a value on an axis, 0 at its low end and 1 at its high end.
[[nodiscard]] double place(plot_axis const& axis, axis_range range, double value);

/// Round numbers inside the range.
[[nodiscard]] std::vector<double> ticks(plot_axis const& axis, axis_range range);
[[nodiscard]] std::string tick_text(plot_axis const& axis, double value);

/// All x values (or y values with spreads and levels) of a chart.
[[nodiscard]] std::vector<double> x_values(plot const& chart);
[[nodiscard]] std::vector<double> y_values(plot const& chart);

/// True when the axes can show the point.
[[nodiscard]] bool visible(plot const& chart, plot_point const& point);

}  // namespace bird::trainer
