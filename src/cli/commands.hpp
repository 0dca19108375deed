/// commands: the subcommands of the program `bird`.
///
/// Each registers itself and its options and runs as the parser's callback. Exit codes of all: 0 done,
/// 1 the work itself failed (a run diverged), 2 bad usage or input, 130 interrupted (results are written).
#pragma once

#include <CLI/CLI.hpp>

namespace bird::cli {

void add_train_command(CLI::App& app, int& exit_code);
void add_compare_command(CLI::App& app, int& exit_code);
void add_inspect_command(CLI::App& app, int& exit_code);

inline constexpr int exit_failed      = 1;
inline constexpr int exit_bad_usage   = 2;
inline constexpr int exit_interrupted = 130;  ///< as shells report a program that SIGINT ended

}  // namespace bird::cli
