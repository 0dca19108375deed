/// What the benchmark programs have in common: options, the table, JSON.
#pragma once

#include <functional>
#include <string>

#include "suite.hpp"

namespace bird::bench {

struct program_options {
  run_options run;
  std::string json_file;
  std::string gradients_file;
  bool quick = false;
  bool list  = false;
};

struct program {
  char const* name;
  char const* usage;
  bool reads_gradients;  ///< knows --gradients
  /// Adds the rows. May throw bad_gradients.
  std::function<void(suite&, program_options const&)> add_rows;
  /// Why nothing can be timed here; empty: it can. Then measurements are only checked.
  std::string only_checks = {};
};

/// Parses, measures and prints. Errors go to the standard error. @returns the exit status
int run(program const& what, int count, char** arguments);

}  // namespace bird::bench
