/// plots: small charts as SVG, drawn here, and as PNG, drawn by gnuplot.
///
/// Colour says which family a series belongs to; its name stands beside its last point, so that nothing
/// rests on colour alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bird/span.hpp"

namespace bird::trainer {

enum class plot_unit { number, percent, bytes };

struct plot_axis {
  std::string title;
  plot_unit unit   = plot_unit::number;
  bool logarithmic = false;  ///< points that are not above 0 are left out
};

struct plot_point {
  double x = 0, y = 0;
  double low = 0, high = 0;  ///< spread, drawn as a bar where high > low
  std::string note;          ///< shown by a browser when the pointer rests on the point
};

enum class plot_ink { neutral, ours, peer };

struct plot_series {
  std::string name;
  plot_ink ink = plot_ink::ours;
  bool dashed  = false;
  std::vector<plot_point> points;  ///< joined in this order
};

/// A horizontal line with a word on it.
struct plot_level {
  double y = 0;
  std::string name;
};

struct plot {
  std::string title;
  plot_axis x, y;
  std::vector<plot_series> series;
  std::vector<plot_level> levels;
};

/// Rules for the classes that the charts use, light and dark. A page needs them once.
[[nodiscard]] std::string plot_style();
/// One chart as an <svg> element that scales with its container.
[[nodiscard]] std::string svg_element(plot const& chart);
/// A whole SVG file with the charts side by side.
[[nodiscard]] std::string svg_document(span<plot const> charts);

/// Draws the charts side by side with gnuplot.
/// @returns an empty string, or why there is no picture (gnuplot is missing or failed); `file` is whole or
///          as it was before
[[nodiscard]] std::string write_png(span<plot const> charts, std::filesystem::path const& file);

}  // namespace bird::trainer
