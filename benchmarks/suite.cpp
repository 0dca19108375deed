#include "suite.hpp"

#include <benchmark/benchmark.h>
#include <omp.h>

#include <algorithm>
#include <cstdio>
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

double median(std::vector<double> numbers)
{
  std::sort(numbers.begin(), numbers.end());
  std::size_t const middle = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2;
}

/// Rates of all repetitions in the row's unit.
std::vector<double> rates(measurement const& m, unit in, std::vector<double> seconds)
{
  double const amount = in == unit::gigabytes_per_second ? m.work.bytes : m.work.elements;
  for (double& number : seconds) {
    number = amount / number * 1e-9;
  }
  return seconds;
}

result evaluate(comparison const& c, std::map<std::string, measurement> const& measurements, times const& all)
{
  result r;
  r.row  = c.row;
  r.unit = c.unit;
  r.goal = c.goal;

  std::vector<double> reference;
  for (std::string const& name : c.references) {
    std::vector<double> candidate = rates(measurements.at(name), c.unit, all.at(name));
    if (reference.empty() || median(candidate) > r.reference) {
      r.reference      = median(candidate);
      r.reference_name = name;
      reference        = std::move(candidate);
    }
  }
  std::vector<double> const ours = rates(measurements.at(c.ours), c.unit, all.at(c.ours));
  r.ours                         = median(ours);
  r.ratio                        = r.ours / r.reference;
  r.least                        = r.ratio;
  r.largest                      = r.ratio;
  for (std::size_t i = 0; i < std::min(ours.size(), reference.size()); ++i) {
    r.least   = std::min(r.least, ours[i] / reference[i]);
    r.largest = std::max(r.largest, ours[i] / reference[i]);
  }
  return r;
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

std::string escaped(std::string const& text)
{
  std::string out;
  for (char const c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out;
}

char const* name_of(unit in) { return in == unit::gigabytes_per_second ? "GB/s" : "G/s"; }

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
    results.push_back(evaluate(c, measurements_, collected.collected()));
  }
  return results;
}

void print_table(std::vector<result> const& results, bool judged, std::ostream& out)
{
  std::size_t width = 3;
  for (result const& r : results) {
    width = std::max(width, r.row.size());
  }
  auto const column = static_cast<int>(width);
  char line[512];
  std::snprintf(line, sizeof line, "%-*s %10s %10s %-4s %8s  %-17s %6s  %s\n", column, "row", "ours",
                "reference", "", "ratio", "min..max", "goal", "met");
  out << line;
  for (result const& r : results) {
    char range[64];
    std::snprintf(range, sizeof range, "%.3g..%.3g", r.least, r.largest);
    char goal[32] = "-";
    if (r.goal) {
      std::snprintf(goal, sizeof goal, "%.4g", *r.goal);
    }
    std::snprintf(line, sizeof line, "%-*s %10.4g %10.4g %-4s %8.3g  %-17s %6s  %s\n", column, r.row.c_str(),
                  r.ours, r.reference, name_of(r.unit), r.ratio, range, goal,
                  !r.goal || !judged ? ""
                  : r.met()          ? "yes"
                                     : "NO");
    out << line;
  }
}

void print_json(std::vector<result> const& results, std::ostream& out)
{
  out << "[\n";
  char const* separator = "";
  for (result const& r : results) {
    char numbers[256];
    std::snprintf(numbers, sizeof numbers,
                  R"("ours": %.6g, "reference": %.6g, "ratio": %.6g, "min": %.6g, "max": %.6g)", r.ours,
                  r.reference, r.ratio, r.least, r.largest);
    char goal[32] = "null";
    if (r.goal) {
      std::snprintf(goal, sizeof goal, "%.6g", *r.goal);
    }
    out << separator << R"(  {"row": ")" << escaped(r.row) << "\", " << numbers << R"(, "goal": )" << goal
        << R"(, "met": )" << (r.met() ? "true" : "false") << R"(, "unit": ")" << name_of(r.unit)
        << R"(", "reference_name": ")" << escaped(r.reference_name) << "\"}";
    separator = ",\n";
  }
  out << "\n]\n";
}

}  // namespace bird::bench
