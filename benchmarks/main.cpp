/// bird_bench: measures every host stage against its limits and peers, and prints one table of ratios.
#include <omp.h>

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>

#include "rows.hpp"

namespace {

using namespace bird::bench;

constexpr char const* usage = R"(usage: bird_bench [options]
  --filter REGEX      only rows whose name matches
  --list              print the rows, measure nothing
  --json FILE         write the rows {row, ours, reference, ratio, min, max, goal} as well
  --raw FILE          write Google Benchmark's JSON of all repetitions as well
  --repetitions N     of every measurement (default 9)
  --seconds S         least time of a repetition (default 0.05)
  --gradients FILE    measure on the fp32 tensors of a safetensors file, repeated to each size
  --quick             small sizes, 3 repetitions: proves that everything runs; ratios mean nothing
)";

struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct options {
  run_options run;
  std::string json_file;
  std::string gradients_file;
  bool quick = false;
  bool list  = false;
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

options parse(int count, char** arguments)
{
  options chosen;
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
    } else if (name == "--gradients") {
      chosen.gradients_file = value();
    } else if (name == "--quick") {
      chosen.quick = true;
    } else if (name == "--help") {
      std::cout << usage;
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

axes axes_of(bool quick)
{
  axes over;
  if (quick) {
    over.large >>= 6U;   // 1M
    over.medium >>= 6U;  // 256K
    over.small >>= 6U;   // 16K
  }
  if (omp_get_num_procs() > 1) {
    over.threads.push_back(2);
  }
  return over;
}

void add_all(suite& rows, inputs& data, axes const& over)
{
  add_limits(rows, data, over);
  add_tile_norms(rows, data, over);
  add_sample(rows, data, over);
  add_compress(rows, data, over);
  add_selection_peers(rows, data, over);
  add_quantizer_peers(rows, data, over);
  add_decompress(rows, data, over);
  add_apply(rows, data, over);
  add_lists(rows, data, over);
  add_philox(rows, data, over);
}

/// Found before the measurements, not after them.
void require_writable(std::string const& option, std::string const& file)
{
  if (!file.empty() && !std::ofstream{file, std::ios::app}) {
    throw usage_error{option + ": cannot write '" + file + "'"};
  }
}

}  // namespace

int main(int count, char** arguments)
try {
  options const chosen = parse(count, arguments);
  inputs data;
  if (!chosen.gradients_file.empty()) {
    data = inputs{chosen.gradients_file};
  }
  suite rows;
  add_all(rows, data, axes_of(chosen.quick));
  if (chosen.list) {
    for (comparison const& c : rows.comparisons()) {
      std::cout << c.row << '\n';
    }
    return 0;
  }
  require_writable("--json", chosen.json_file);
  require_writable("--raw", chosen.run.raw_file);
  std::vector<result> const results = rows.run(chosen.run, std::cerr);
  if (chosen.quick) {
    std::cout << "Small sizes and few repetitions: everything runs and gives right results; the ratios mean "
                 "nothing.\n";
  }
  print_table(results, !chosen.quick, std::cout);
  if (!chosen.json_file.empty()) {
    std::ofstream out{chosen.json_file};
    print_json(results, out);
    out.flush();
    if (!out) {
      throw std::runtime_error{"--json: writing '" + chosen.json_file + "' failed"};
    }
  }
  return 0;
} catch (usage_error const& error) {
  std::cerr << "bird_bench: " << error.what() << " (--help lists the options)\n";
  return 2;
} catch (std::regex_error const&) {
  std::cerr << "bird_bench: --filter: not a regular expression\n";
  return 2;
} catch (no_such_row const& error) {
  std::cerr << "bird_bench: " << error.what() << " (--list prints them)\n";
  return 2;
} catch (bad_gradients const& error) {
  std::cerr << "bird_bench: " << error.what() << '\n';
  return 2;
} catch (std::exception const& error) {
  std::cerr << "bird_bench: " << error.what() << '\n';
  return 1;
}
