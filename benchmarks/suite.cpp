#include "suite.hpp"

#include <benchmark/benchmark.h>
#include <omp.h>

#include <exception>
#include <ostream>
#include <regex>
#include <set>

namespace bird::bench {
namespace {

/// Seconds of a call: measurement -> one entry a repetition.
using times = std::map<std::string, std::vector<double>>;

/// Collects times instead of printing them.
class collector : public benchmark::BenchmarkReporter {
 public:
  collector(std::size_t expected, std::ostream& progress) : expected_{expected}, progress_{progress} {}

  bool ReportContext(Context const&) override { return true; }
  void ReportRuns(std::vector<Run> const& runs) override
  {
    for (Run const& run : runs) {
      if (run.run_type != Run::RT_Iteration) {
        continue;
      }
      std::string const& name = run.run_name.function_name;
      if (run.error_occurred) {
        failures_.insert(name + ": " + run.error_message);
      } else {
        times_[name].push_back(run.GetAdjustedRealTime());  // in seconds, the unit that run() asks for
      }
    }
    if (!runs.empty() && runs.front().run_type == Run::RT_Iteration) {
      progress_ << "\rmeasured " << ++done_ << " of " << expected_ << std::flush;
    }
  }

  [[nodiscard]] times const& collected() const { return times_; }
  [[nodiscard]] std::set<std::string> const& failures() const { return failures_; }

 private:
  std::size_t expected_;
  std::ostream& progress_;
  std::size_t done_ = 0;
  times times_;
  std::set<std::string> failures_;
};

double amount_of(measurement const& m, unit in)
{
  return in == unit::gigabytes_per_second ? m.work.bytes : m.work.elements;
}

/// Rates of all repetitions in the row's unit.
std::vector<double> rates(measurement const& m, unit in, std::vector<double> seconds)
{
  for (double& number : seconds) {
    number = amount_of(m, in) / number * 1e-9;
  }
  return seconds;
}

/// A measurement that has been prepared, by the first who calls it.
struct prepared {
  std::function<void()> call;
  std::function<double()> timed;

  void prepare(measurement const& m)
  {
    if (!call && !timed) {
      if (m.prepare_timed) {
        timed = m.prepare_timed();
      } else {
        call = m.prepare();
      }
    }
  }
};

/// Google Benchmark calls this once a repetition, and more often at first to find the number of iterations.
void run_one(benchmark::State& state, measurement const& m, prepared& function)
{
  omp_set_num_threads(m.threads);
  try {
    function.prepare(m);
  } catch (std::exception const& failure) {
    state.SkipWithError(failure.what());
    return;
  }
  for ([[maybe_unused]] auto iteration : state) {
    if (function.timed) {
      state.SetIterationTime(function.timed());
    } else {
      function.call();
    }
  }
}

[[noreturn]] void fail(std::set<std::string> const& failures)
{
  std::string message = "wrong results:";
  for (std::string const& failure : failures) {
    message += "\n  " + failure;
  }
  throw std::runtime_error{message};
}

}  // namespace

void suite::measure(measurement m)
{
  std::string const name = m.name;
  measurements_.emplace(name, std::move(m));
}

suite::selection suite::select(std::string const& filter) const
{
  std::regex const expression{filter};
  selection chosen;
  for (comparison const& c : comparisons_) {
    if (std::regex_search(c.row, expression)) {
      chosen.rows.push_back(c);
      chosen.measurements.insert(c.ours);
      chosen.measurements.insert(c.references.begin(), c.references.end());
    }
  }
  if (chosen.rows.empty()) {
    throw no_such_row{"--filter: no row matches '" + filter + "'"};
  }
  return chosen;
}

std::size_t suite::check(run_options const& options, std::ostream& progress)
{
  selection const chosen = select(options.filter);
  std::set<std::string> failures;
  std::size_t done = 0;
  for (std::string const& name : chosen.measurements) {
    try {
      prepared function;
      function.prepare(measurements_.at(name));
      if (function.timed) {
        (void)function.timed();
      } else {
        function.call();
      }
    } catch (std::exception const& failure) {
      failures.insert(name + ": " + failure.what());
    }
    progress << "\rchecked " << ++done << " of " << chosen.measurements.size() << std::flush;
  }
  progress << '\n';
  if (!failures.empty()) {
    fail(failures);
  }
  return done;
}

std::vector<result> suite::run(run_options const& options, std::ostream& progress)
{
  auto const [chosen, needed] = select(options.filter);
  std::map<std::string, prepared> functions;
  for (std::string const& name : needed) {
    measurement const& m   = measurements_.at(name);
    prepared& function     = functions[name];
    auto* const registered = benchmark::RegisterBenchmark(name.c_str(), [&m, &function](auto& state) {
                               run_one(state, m, function);
                             })->Unit(benchmark::kSecond);
    if (m.prepare_timed) {
      registered->UseManualTime();
    } else {
      registered->UseRealTime();
    }
  }
  std::vector<std::string> arguments = {"bird_bench", "--benchmark_enable_random_interleaving=true",
                                        "--benchmark_repetitions=" + std::to_string(options.repetitions),
                                        "--benchmark_min_time=" + std::to_string(options.seconds)};
  if (!options.raw_file.empty()) {
    arguments.push_back("--benchmark_out=" + options.raw_file);
    arguments.emplace_back("--benchmark_out_format=json");
  }
  std::vector<char*> pointers;
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  collector collected{needed.size(), progress};
  benchmark::RunSpecifiedBenchmarks(&collected);
  benchmark::ClearRegisteredBenchmarks();
  progress << '\n';

  if (!collected.failures().empty()) {
    fail(collected.failures());
  }
  std::vector<result> results;
  for (comparison const& c : chosen) {
    auto const rates_of = [&](std::string const& name) {
      return rates(measurements_.at(name), c.unit, collected.collected().at(name));
    };
    std::vector<named_rates> references;
    for (std::string const& name : c.references) {
      references.push_back({name, rates_of(name)});
    }
    results.push_back(compare_rates(c, rates_of(c.ours), references));
    results.back().microseconds = amount_of(measurements_.at(c.ours), c.unit) / results.back().ours * 1e-3;
  }
  return results;
}

}  // namespace bird::bench
