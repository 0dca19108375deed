#include "program.hpp"

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <regex>
#include <stdexcept>

#include "input.hpp"

namespace bird::bench {
namespace {

struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Number>
Number number(std::string const& name, std::string const& text, Number least)
{
  std::size_t used = 0;
  double value     = 0;
  try {
    value = std::stod(text, &used);
  } catch (std::exception const&) {
    used = std::string::npos;
  }
  if (used != text.size() || !(value >= static_cast<double>(least) && value <= 1e6) ||
      value != static_cast<double>(static_cast<Number>(value))) {
    throw usage_error{name + ": '" + text + "' is not a number of at least " + std::to_string(least)};
  }
  return static_cast<Number>(value);
}

program_options parse(program const& what, int count, char** arguments)
{
  program_options chosen;
  std::optional<int> repetitions;
  std::optional<double> seconds;
  for (int i = 1; i < count; ++i) {
    std::string const name = arguments[i];
    auto const value       = [&]() -> std::string {
      if (i + 1 >= count) {
        throw usage_error{name + ": needs a value"};
      }
      return arguments[++i];
    };
    if (name == "--filter") {
      chosen.run.filter = value();
    } else if (name == "--list") {
      chosen.list = true;
    } else if (name == "--json") {
      chosen.json_file = value();
    } else if (name == "--raw") {
      chosen.run.raw_file = value();
    } else if (name == "--repetitions") {
      repetitions = number<int>(name, value(), 1);
    } else if (name == "--seconds") {
      seconds = number<double>(name, value(), 1e-6);
    } else if (name == "--gradients" && what.reads_gradients) {
      chosen.gradients_file = value();
    } else if (name == "--quick") {
      chosen.quick = true;
    } else if (name == "--help") {
      std::cout << what.usage;
      std::exit(0);
    } else {
      throw usage_error{"unknown option '" + name + "'"};
    }
  }
  if (chosen.quick) {
    chosen.run.repetitions = 3;
    chosen.run.seconds     = 1e-6;  // one call a repetition
  }
  chosen.run.repetitions = repetitions.value_or(chosen.run.repetitions);
  chosen.run.seconds     = seconds.value_or(chosen.run.seconds);
  return chosen;
}

/// Found before the measurements, not after them.
void require_writable(std::string const& option, std::string const& file)
{
  if (!file.empty() && !std::ofstream{file, std::ios::app}) {
    throw usage_error{option + ": cannot write '" + file + "'"};
  }
}

void write_json(std::string const& file, std::vector<result> const& results)
{
  std::ofstream out{file};
  print_json(results, out);
  out.flush();
  if (!out) {
    throw std::runtime_error{"--json: writing '" + file + "' failed"};
  }
}

void run_rows(program const& what, program_options const& chosen)
{
  suite rows;
  what.add_rows(rows, chosen);
  if (chosen.list) {
    for (comparison const& c : rows.comparisons()) {
      std::cout << c.row << '\n';
    }
    return;
  }
  require_writable("--json", chosen.json_file);
  require_writable("--raw", chosen.run.raw_file);
  if (!what.only_checks.empty()) {
    std::size_t const checked = rows.check(chosen.run, std::cerr);
    std::cout << what.only_checks << " " << checked
              << " measurements run and give right results; none was timed.\n";
    return;
  }
  std::vector<result> const results = rows.run(chosen.run, std::cerr);
  if (chosen.quick) {
    std::cout << "Small sizes and few repetitions: everything runs and gives right results; the ratios mean "
                 "nothing.\n";
  }
  print_table(results, !chosen.quick, std::cout);
  if (!chosen.json_file.empty()) {
    write_json(chosen.json_file, results);
  }
}

}  // namespace

int run(program const& what, int count, char** arguments)
{
  auto const failed = [&](std::string const& why, int status) {
    std::cerr << what.name << ": " << why << '\n';
    return status;
  };
  try {
    run_rows(what, parse(what, count, arguments));
    return 0;
  } catch (usage_error const& error) {
    return failed(std::string{error.what()} + " (--help lists the options)", 2);
  } catch (std::regex_error const&) {
    return failed("--filter: not a regular expression", 2);
  } catch (no_such_row const& error) {
    return failed(std::string{error.what()} + " (--list prints them)", 2);
  } catch (bad_gradients const& error) {
    return failed(error.what(), 2);
  } catch (std::exception const& error) {
    return failed(error.what(), 1);
  }
}

}  // namespace bird::bench
