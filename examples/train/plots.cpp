/// plots: charts as SVG.
#include "plots.hpp"

#include <fmt/format.h>

#include "plots_layout.hpp"
#include "plots_palette.hpp"
#include "report_text.hpp"

namespace bird::trainer {
namespace {

char const* class_of(plot_ink ink)
{
  return ink == plot_ink::ours ? "ours" : ink == plot_ink::peer ? "peer" : "neutral";
}

class svg_canvas final : public plot_canvas {
 public:
  std::string drawing;

 private:
  void text(plot_text kind, plot_ink ink, paper_point at, plot_anchor anchor,
            std::string const& content) override
  {
    char const* const anchors[] = {"start", "middle", "end"};
    std::string const name      = kind == plot_text::title  ? "title"
                                  : kind == plot_text::tick ? "tick"
                                                            : std::string{"name "} + class_of(ink);
    drawing += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
                           name, at.x, at.y, anchors[static_cast<int>(anchor)], escaped(content));
  }

  void rule(plot_rule kind, paper_point from, paper_point to) override
  {
    char const* const names[] = {"grid", "axis", "level", "leader"};
    drawing += fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                           names[static_cast<int>(kind)], from.x, from.y, to.x, to.y);
  }

  void line(plot_ink ink, bool dashed, std::vector<paper_point> const& points) override
  {
    std::string path;
    for (paper_point const& point : points) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", point.x, point.y);
    }
    drawing +=
      fmt::format("<path class=\"line {}{}\" d=\"{}\"/>\n", class_of(ink), dashed ? " dashed" : "", path);
  }

  void dot(plot_ink ink, paper_point at, std::string const& note) override
  {
    drawing += fmt::format(
      "<circle class=\"dot {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\"><title>{}</title></circle>\n",
      class_of(ink), at.x, at.y, escaped(note));
  }
};

std::string drawing_of(plot const& chart)
{
  svg_canvas canvas;
  draw(chart, canvas);
  return std::move(canvas.drawing);
}

/// Literal colours, since viewers other than browsers know no variables in SVG.
std::string rules(palette const& p)
{
  return fmt::format(
    ".plot .sheet{{fill:{}}}"
    ".plot text{{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:{}}}"
    ".plot .title{{font-size:13px;font-weight:600}}"
    ".plot .tick{{fill:{}}}"
    ".plot .grid{{stroke:{};stroke-width:1}}"
    ".plot .axis{{stroke:{};stroke-width:1}}"
    ".plot .level{{stroke:{};stroke-width:1;stroke-dasharray:2 3}}"
    ".plot .leader{{stroke:{};stroke-width:0.8}}"
    ".plot .line{{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}}"
    ".plot .dashed{{stroke-dasharray:5 5}}"
    ".plot .dot{{stroke:{};stroke-width:1.5}}"
    ".plot .line.ours{{stroke:{}}}.plot .dot.ours,.plot .name.ours{{fill:{}}}"
    ".plot .line.peer{{stroke:{}}}.plot .dot.peer,.plot .name.peer{{fill:{}}}"
    ".plot .line.neutral{{stroke:{}}}.plot .dot.neutral,.plot .name.neutral{{fill:{}}}",
    p.surface, p.ink, p.quiet, p.grid, p.axis, p.axis, p.axis, p.surface, p.ours, p.ours, p.peer, p.peer,
    p.neutral, p.neutral);
}

}  // namespace

std::string plot_style()
{
  return rules(light_palette) + "\n@media (prefers-color-scheme:dark){" + rules(dark_palette) + "}\n";
}

std::string svg_element(plot const& chart)
{
  return fmt::format("<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
                     plot_width, plot_height, escaped(chart.title), drawing_of(chart));
}

std::string svg_document(span<plot const> charts)
{
  double const all = plot_width * static_cast<double>(charts.size());
  std::string svg  = fmt::format(
     "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\">\n"
      "<style>{2}</style>\n<rect class=\"sheet\" width=\"{0}\" height=\"{1}\"/>\n",
     all, plot_height, plot_style());
  for (std::size_t i = 0; i < charts.size(); ++i) {
    svg += fmt::format("<g transform=\"translate({} 0)\">\n{}</g>\n", plot_width * static_cast<double>(i),
                       drawing_of(charts[i]));
  }
  return svg + "</svg>\n";
}

}  // namespace bird::trainer
