/// compare_html: the page of a comparison.
#include <fmt/format.h>

#include <algorithm>

#include "compare_report.hpp"
#include "compare_winners.hpp"
#include "report_page.hpp"
#include "report_text.hpp"

namespace bird::trainer {
namespace {

std::string headline(comparison const& all)
{
  auto const found = at_equal_accuracy(all, 0.5);
  if (!found || !found->winner || all.results[*found->winner].sends_floats) {
    return "No method came within half a point of dense training with fewer bytes";
  }
  contender_result const& best = all.results[*found->winner];
  std::string text = fmt::format("Within half a point of dense, {} sends least: {} of the bytes", best.name,
                                 fraction_text(counted_bytes(all, best), counted_dense_bytes(all, best)));
  if (!best.stateless() && found->without_memory && !all.results[*found->without_memory].sends_floats) {
    contender_result const& free = all.results[*found->without_memory];
    text += fmt::format("; without memory {}, {}", free.name,
                        fraction_text(counted_bytes(all, free), counted_dense_bytes(all, free)));
  }
  return text;
}

std::vector<page_tile> tiles(comparison const& all)
{
  std::vector<page_tile> result;
  for (contender_result const& one : all.results) {
    if (one.sends_floats) {
      result.push_back(
        {"Dense", percent_text(one.accuracy()), bytes_text(counted_bytes(all, one)) + " a run"});
    }
  }
  for (double const divisor : {10.0, 30.0, 100.0}) {
    verdict const best = at_equal_bytes(all, divisor);
    if (best.winner) {
      contender_result const& one = all.results[*best.winner];
      result.push_back(
        {fmt::format("Best at 1/{:.0f} of the bytes", divisor), percent_text(one.accuracy()),
         one.name + (one.stateless() ? ", no memory" : ", " + bytes_text(one.state_bytes) + " a worker") +
           (best.level.empty() ? "" : fmt::format("; {} not told apart", best.level.size()))});
    }
  }
  return result;
}

page_table rates_table(comparison const& all)
{
  page_table table{{}, {}};
  for (contender_result const& one : all.results) {
    std::string tried;
    for (auto const& [rate, accuracy] : one.tried) {
      tried += fmt::format("{}{}: {}", tried.empty() ? "" : ", ", number_text(rate), percent_text(accuracy));
    }
    table.rows.push_back({one.name, tried});
  }
  return table;
}

}  // namespace

std::string comparison_html(comparison const& all)
{
  std::string body = page_headline(
    headline(all),
    fmt::format("{} ({} parameters), {} workers, epochs: {}, local steps a round: {}", all.model,
                count_text(all.parameters), all.workers, all.epochs, all.local_steps));
  if (all.interrupted) {
    body += page_warning("The comparison was interrupted; methods that were not finished are missing.");
  }
  body += page_tiles(tiles(all));
  auto const charts = comparison_plots(all);
  body += page_charts(charts);
  auto const rows = comparison_table(all);
  body += page_table_of("All methods", {rows.front(), {rows.begin() + 1, rows.end()}});
  body += page_text("Who wins", comparison_verdicts(all));
  body += page_text("How this was measured", comparison_notes(all));
  body += page_folded_table("Learning rates tried, and their accuracy on held-out images", rates_table(all));
  return page("bird compare: " + all.model, body);
}

}  // namespace bird::trainer
