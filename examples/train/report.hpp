/// report: what a run came to, as files that a person and a program can read.
///
///   report.json   every number of the run
///   report.html   one page that needs nothing else: headline, key numbers, curves, options
///   curves.svg    test accuracy against epochs and against bytes
///   curves.png    the same drawn by gnuplot, where that is installed
///
/// Files appear whole or not at all: each is written beside its place and then renamed.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "options.hpp"
#include "plots.hpp"
#include "result.hpp"

namespace bird::trainer {

/// A folder or file of the report cannot be written. One line that names it and says why.
struct unwritable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Makes the folder if it is missing and tries to write there, so that a run does not end in vain.
/// @throws unwritable
void prepare_output(std::filesystem::path const& directory);

struct written_report {
  std::vector<std::filesystem::path> files;
  std::string note;  ///< why curves.png is missing; empty when it is there
};

/// Writes the report of a run into options.output.
/// @throws unwritable
written_report write_report(train_options const& options, train_result const& result);

/// Contents of report.json.
[[nodiscard]] std::string report_json(train_options const& options, train_result const& result);
/// Contents of report.html.
[[nodiscard]] std::string report_html(train_options const& options, train_result const& result);

/// Replaces a file by `contents`, whole or not at all.
/// @throws unwritable
void write_file(std::filesystem::path const& file, std::string const& contents);

/// Draws `file` with gnuplot and adds it to `files`. Without a picture an earlier one is removed, since it
/// would show something else.
/// @returns why there is no picture, or an empty string
[[nodiscard]] std::string write_png_beside(span<plot const> charts, std::filesystem::path const& file,
                                           std::vector<std::filesystem::path>& files);

}  // namespace bird::trainer
