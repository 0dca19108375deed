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

/// Rates of all repetitions in the row's unit.
std::vector<double> rates(measurement const& m, unit in, std::vector<double> seconds)
{
  double const amount = in == unit::gigabytes_per_second ? m.work.bytes : m.work.elements;
  for (double& number : seconds) {
    number = amount / number * 1e-9;
  }
  return seconds;
}

/// Google Benchmark calls this once a repetition, and more often at first to find the number of iterations.
void run_one(benchmark::State& state, measurement const& m, std::function<void()>& function)
{
  omp_set_num_threads(m.threads);
  if (!function) {
    try {
      function = m.prepare();
    } catch (std::exception const& failure) {
      state.SkipWithError(failure.what());
      return;
    }
  }
  for ([[maybe_unused]] auto iteration : state) {
    function();
  }
}

}  // namespace

void suite::measure(measurement m)
{
  std::string const name = m.name;
  measurements_.emplace(name, std::move(m));
}

std::vector<result> suite::run(run_options const& options, std::ostream& progress)
{
  std::regex const filter{options.filter};
  std::vector<comparison> chosen;
  std::set<std::string> needed;
  for (comparison const& c : comparisons_) {
    if (std::regex_search(c.row, filter)) {
      chosen.push_back(c);
      needed.insert(c.ours);
      needed.insert(c.references.begin(), c.references.end());
    }
  }
  if (chosen.empty()) {
    throw no_such_row{"--filter: no row matches '" + options.filter + "'"};
  }

  std::map<std::string, std::function<void()>> functions;
  for (std::string const& name : needed) {
    measurement const& m            = measurements_.at(name);
    std::function<void()>& function = functions[name];
    benchmark::RegisterBenchmark(name.c_str(), [&m, &function](auto& state) { run_one(state, m, function); })
      ->UseRealTime()
      ->Unit(benchmark::kSecond);
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
    std::string message = "wrong results:";
    for (std::string const& failure : collected.failures()) {
      message += "\n  " + failure;
    }
    throw std::runtime_error{message};
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
  }
  return results;
}

}  // namespace bird::bench
