/// compare_report: a comparison as JSON, as one page, and as charts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compare.hpp"
#include "plots.hpp"
#include "report.hpp"

namespace bird::trainer {

/// Mb/s at which training time is projected; 0: not limited.
inline constexpr double projected_links[] = {100, 1000, 0};

[[nodiscard]] std::string comparison_json(comparison const& all);
[[nodiscard]] std::string comparison_html(comparison const& all);
/// Accuracy against bytes, and accuracy against projected time at 100 Mb/s.
[[nodiscard]] std::vector<plot> comparison_plots(comparison const& all);

/// The answers, a sentence each: who wins at equal accuracy, at equal bytes, and in time.
[[nodiscard]] std::vector<std::string> comparison_verdicts(comparison const& all);

/// One row a method, first row the head: accuracy, spread, rate, bytes a message each way, share of dense,
/// projected times, memory.
[[nodiscard]] std::vector<std::vector<std::string>> comparison_table(comparison const& all);

/// What a reader must know to judge the numbers.
[[nodiscard]] std::vector<std::string> comparison_notes(comparison const& all);

/// Writes compare.json, compare.html, compare.svg and, where gnuplot is there, compare.png.
/// @throws unwritable
written_report write_comparison(std::filesystem::path const& directory, comparison const& all);

}  // namespace bird::trainer
