/// plots_layout: where the lines, points and names of a chart go.
#include "plots_layout.hpp"

#include <algorithm>
#include <cmath>

#include "plots_axis.hpp"

namespace bird::trainer {
namespace {

constexpr double left = 46, right = 18, top = 40, bottom = 48;
constexpr double width = plot_width, height = plot_height;
constexpr double text_width = 6.3;  ///< mean advance of a sans-serif letter of the text's height

struct box {
  double x0, y0, x1, y1;
};

bool overlap(box const& a, box const& b) { return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1; }

/// Letters, not bytes.
double width_of(std::string const& text)
{
  auto const letters = std::count_if(text.begin(), text.end(),
                                     [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; });
  return text_width * static_cast<double>(letters);
}

class painter {
 public:
  painter(plot const& chart, plot_canvas& canvas)
    : chart_{chart},
      canvas_{canvas},
      x_range_{range_of(chart.x, x_values(chart))},
      y_range_{range_of(chart.y, y_values(chart))}
  {
  }

  void draw()
  {
    text(plot_text::title, {8, 20}, plot_anchor::start, chart_.title);
    axes();
    levels();
    for (plot_series const& series : chart_.series) {
      line(series);
    }
    for (plot_series const& series : chart_.series) {
      points(series);
    }
    for (plot_series const& series : chart_.series) {
      label(series);
    }
  }

 private:
  [[nodiscard]] double x_of(double value) const
  {
    return left + place(chart_.x, x_range_, value) * (width - left - right);
  }
  [[nodiscard]] double y_of(double value) const
  {
    return height - bottom - place(chart_.y, y_range_, value) * (height - top - bottom);
  }

  [[nodiscard]] paper_point on_paper(plot_point const& point) const { return {x_of(point.x), y_of(point.y)}; }

  void text(plot_text kind, paper_point at, plot_anchor anchor, std::string const& content)
  {
    canvas_.text(kind, plot_ink::neutral, at, anchor, content);
  }

  void axes()
  {
    for (double const value : ticks(chart_.y, y_range_)) {
      canvas_.rule(plot_rule::grid, {left, y_of(value)}, {width - right, y_of(value)});
      text(plot_text::tick, {left - 7, y_of(value) + 4}, plot_anchor::end, tick_text(chart_.y, value));
    }
    double const floor = height - bottom;
    canvas_.rule(plot_rule::axis, {left, floor}, {width - right, floor});
    for (double const value : ticks(chart_.x, x_range_)) {
      canvas_.rule(plot_rule::axis, {x_of(value), floor}, {x_of(value), floor + 4});
      text(plot_text::tick, {x_of(value), floor + 17}, plot_anchor::middle, tick_text(chart_.x, value));
    }
    text(plot_text::tick, {(left + width - right) / 2, height - 10}, plot_anchor::middle, chart_.x.title);
  }

  void levels()
  {
    for (plot_level const& level : chart_.levels) {
      double const y = y_of(level.y);
      canvas_.rule(plot_rule::level, {left, y}, {width - right, y});
      if (level.name.empty()) {
        continue;
      }
      text(plot_text::tick, {left + 4, y - 4}, plot_anchor::start, level.name);
      taken_.push_back({left + 4, y - 4 - plot_text_height, left + 4 + width_of(level.name), y});
    }
  }

  void line(plot_series const& series)
  {
    std::vector<paper_point> points;
    for (plot_point const& point : series.points) {
      if (visible(chart_, point)) {
        points.push_back(on_paper(point));
      }
    }
    if (points.size() > 1) {
      canvas_.line(series.ink, series.dashed, points);
    }
    for (std::size_t i = 1; i < points.size(); ++i) {
      keep_free(points[i - 1], points[i]);
    }
  }

  /// Names shall not cover a line: little boxes along it are taken.
  void keep_free(paper_point from, paper_point to)
  {
    constexpr double spacing = 5, half = 2.5;
    int const steps = static_cast<int>(std::hypot(to.x - from.x, to.y - from.y) / spacing) + 1;
    for (int i = 0; i <= steps; ++i) {
      double const x = from.x + (to.x - from.x) * i / steps, y = from.y + (to.y - from.y) * i / steps;
      taken_.push_back({x - half, y - half, x + half, y + half});
    }
  }

  void points(plot_series const& series)
  {
    for (plot_point const& point : series.points) {
      if (!visible(chart_, point)) {
        continue;
      }
      paper_point const at = on_paper(point);
      if (point.high > point.low) {
        canvas_.line(series.ink, false, {{at.x, y_of(point.low)}, {at.x, y_of(point.high)}});
        keep_free({at.x, y_of(point.low)}, {at.x, y_of(point.high)});
      }
      canvas_.dot(series.ink, at, point.note);
      taken_.push_back({at.x - 5, at.y - 5, at.x + 5, at.y + 5});
    }
  }

  /// Puts the name beside the last point, on the first side where it covers nothing.
  void label(plot_series const& series)
  {
    auto const last = std::find_if(series.points.rbegin(), series.points.rend(),
                                   [this](plot_point const& point) { return visible(chart_, point); });
    if (last == series.points.rend() || series.name.empty()) {
      return;
    }
    auto const [x, y] = on_paper(*last);
    double const w    = width_of(series.name);
    std::vector<paper_point> spots{
      {x + 9, y + 4}, {x - 9 - w, y + 4}, {x - w / 2, y - 10}, {x - w / 2, y + 20}};
    for (double const shift : {14.0, 28.0, 42.0, 56.0}) {
      spots.insert(spots.end(), {{x + 9, y + 4 + shift},
                                 {x - 9 - w, y + 4 + shift},
                                 {x + 9, y + 4 - shift},
                                 {x - 9 - w, y + 4 - shift}});
    }
    auto const area = [&](paper_point s) { return box{s.x, s.y - plot_text_height + 2, s.x + w, s.y + 3}; };
    auto const free = [&](paper_point s) {
      box const mine = area(s);
      return mine.x0 > left && mine.x1 < width - 2 && mine.y0 > top - 12 && mine.y1 < height - bottom &&
             std::none_of(taken_.begin(), taken_.end(),
                          [&](box const& other) { return overlap(mine, other); });
    };
    auto const found         = std::find_if(spots.begin(), spots.end(), free);
    paper_point const chosen = found == spots.end() ? spots.front() : *found;
    if (found != spots.end() && found - spots.begin() >= 4) {  // far from its point: lead the eye
      canvas_.rule(plot_rule::leader, {x, y}, {chosen.x > x ? chosen.x - 2 : chosen.x + w + 2, chosen.y - 4});
    }
    taken_.push_back(area(chosen));
    canvas_.text(plot_text::name, series.ink, chosen, plot_anchor::start, series.name);
  }

  plot const& chart_;
  plot_canvas& canvas_;
  axis_range x_range_, y_range_;
  std::vector<box> taken_;
};

}  // namespace

void draw(plot const& chart, plot_canvas& canvas) { painter{chart, canvas}.draw(); }

}  // namespace bird::trainer
