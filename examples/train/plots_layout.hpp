/// plots_layout: one layout of a chart for every way of drawing it.
#pragma once

#include <string>
#include <vector>

#include "plots.hpp"

namespace bird::trainer {

/// The paper of one chart, in units of which text is 12 high; y grows downwards. On a phone one unit is
/// about 0.8 pixels, so text stays readable.
inline constexpr double plot_width = 460, plot_height = 330;
inline constexpr double plot_text_height = 12;

enum class plot_text { title, tick, name };
enum class plot_anchor { start, middle, end };
enum class plot_rule { grid, axis, level, leader };

struct paper_point {
  double x = 0, y = 0;
};

/// Something that a chart can be drawn on.
class plot_canvas {
 public:
  virtual ~plot_canvas() = default;
  /// `at` is the base line's point that `anchor` names; `ink` matters to plot_text::name only.
  virtual void text(plot_text kind, plot_ink ink, paper_point at, plot_anchor anchor,
                    std::string const& content)                                        = 0;
  virtual void rule(plot_rule kind, paper_point from, paper_point to)                  = 0;
  virtual void line(plot_ink ink, bool dashed, std::vector<paper_point> const& points) = 0;
  virtual void dot(plot_ink ink, paper_point at, std::string const& note)              = 0;
};

void draw(plot const& chart, plot_canvas& canvas);

}  // namespace bird::trainer
