/// report_page: HTML and its style sheet.
#include "report_page.hpp"

#include <fmt/format.h>

#include "bird/bird.h"
#include "plots_palette.hpp"
#include "report_text.hpp"

namespace bird::trainer {
namespace {

std::string variables(palette const& p)
{
  return fmt::format("--page:{};--surface:{};--ink:{};--quiet:{};--grid:{};--ours:{};--peer:{}", p.page,
                     p.surface, p.ink, p.quiet, p.grid, p.ours, p.peer);
}

std::string style()
{
  return ":root{color-scheme:light dark;" + variables(light_palette) +
         "}\n@media (prefers-color-scheme:dark){:root{" + variables(dark_palette) + R"(}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
main{max-width:1000px;margin:0 auto;padding:28px 16px 48px}
h1{font-size:clamp(20px,4vw,28px);line-height:1.25;margin:0 0 6px;font-weight:650;text-wrap:balance}
h2{font-size:16px;margin:28px 0 8px}
p{margin:0 0 8px;max-width:75ch}
.quiet,.tiles small,footer{color:var(--quiet)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px;margin:20px 0}
.tiles div,.chart,.warning{background:var(--surface);border:1px solid var(--grid);border-radius:8px}
.tiles div{padding:10px 12px}
.tiles span{display:block;font-size:13px;color:var(--quiet)}
.tiles b{display:block;font-size:21px;white-space:nowrap;line-height:1.25;font-weight:650}
.tiles small{display:block;font-size:13px;line-height:1.35}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:10px}
.chart{padding:6px}
.chart svg{display:block;width:100%;height:auto}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px}
th,td{text-align:left;padding:5px 12px 5px 0;border-bottom:1px solid var(--grid);vertical-align:top}
th{font-weight:600;color:var(--quiet)}
td{overflow-wrap:anywhere}
.numbers td,.numbers th{font-variant-numeric:tabular-nums;white-space:nowrap}
.numbers th+th,.numbers td+td{text-align:right;padding:5px 0 5px 12px}
.pairs td:first-child{color:var(--quiet);width:38%}
.warning{border-left:4px solid var(--peer);padding:10px 14px;margin:16px 0}
summary{cursor:pointer;margin:16px 0 6px;font-weight:600}
footer{margin-top:32px;font-size:13px}
)" + plot_style();
}

std::string rows_of(page_table const& table)
{
  std::string html =
    fmt::format("<div class=\"scroll\"><table class=\"{}\">\n", table.head.empty() ? "pairs" : "numbers");
  if (!table.head.empty()) {
    html += "<tr>";
    for (std::string const& name : table.head) {
      html += "<th>" + escaped(name) + "</th>";
    }
    html += "</tr>\n";
  }
  for (auto const& row : table.rows) {
    html += "<tr>";
    for (std::string const& cell : row) {
      html += "<td>" + escaped(cell) + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

}  // namespace

std::string page_headline(std::string const& sentence, std::string const& below)
{
  return fmt::format("<h1>{}</h1>\n<p class=\"quiet\">{}</p>\n", escaped(sentence), escaped(below));
}

std::string page_tiles(std::vector<page_tile> const& tiles)
{
  std::string html = "<div class=\"tiles\">\n";
  for (page_tile const& tile : tiles) {
    html += fmt::format("<div><span>{}</span><b>{}</b><small>{}</small></div>\n", escaped(tile.name),
                        escaped(tile.value), escaped(tile.note));
  }
  return html + "</div>\n";
}

std::string page_charts(span<plot const> charts)
{
  std::string html = "<div class=\"charts\">\n";
  for (plot const& chart : charts) {
    html += "<div class=\"chart\">" + svg_element(chart) + "</div>\n";
  }
  return html + "</div>\n";
}

std::string page_table_of(std::string const& heading, page_table const& table)
{
  return "<h2>" + escaped(heading) + "</h2>\n" + rows_of(table);
}

std::string page_folded_table(std::string const& summary, page_table const& table)
{
  return "<details><summary>" + escaped(summary) + "</summary>\n" + rows_of(table) + "</details>\n";
}

std::string page_text(std::string const& heading, std::vector<std::string> const& paragraphs)
{
  std::string html = "<h2>" + escaped(heading) + "</h2>\n";
  for (std::string const& paragraph : paragraphs) {
    html += "<p>" + escaped(paragraph) + "</p>\n";
  }
  return html;
}

std::string page_warning(std::string const& sentence)
{
  return "<p class=\"warning\">" + escaped(sentence) + "</p>\n";
}

std::string page(std::string const& title, std::string const& body)
{
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" +
         escaped(title) + "</title>\n<style>\n" + style() + "</style>\n</head>\n<body>\n<main>\n" + body +
         "<footer>libbird_cuda " + escaped(bird_version()) + "</footer>\n</main>\n</body>\n</html>\n";
}

}  // namespace bird::trainer
