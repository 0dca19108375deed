/// Measurements, and the rows of ratios that are made of them.
///
/// All measurements of a run are repeated in random order in one process, so that what disturbs the machine
/// disturbs both sides of a ratio alike. A row's ratio is that of the medians; its range is that of the
/// ratios of the repetitions with equal number.
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace bird::bench {

/// What one call of a measured function gets done.
struct work {
  double bytes    = 0;  ///< of dense input, unless the row says otherwise
  double elements = 0;
};

/// In what a row compares.
enum class unit { gigabytes_per_second, gigaelements_per_second };

/// Allocates, runs once and checks the result; returns the function that is timed.
/// @throws std::runtime_error when the result is wrong
using preparation = std::function<std::function<void()>()>;

struct measurement {
  std::string name;
  int threads;
  bench::work work;
  preparation prepare;
};

struct comparison {
  std::string row;
  std::string ours;                     ///< name of a measurement
  std::vector<std::string> references;  ///< the fastest of these is the reference
  bench::unit unit;
  std::optional<double> goal;  ///< least ratio
};

/// A row with its numbers.
struct result {
  std::string row;
  std::string reference_name;  ///< the one that was fastest
  bench::unit unit;
  double ours      = 0;  ///< median, in the row's unit
  double reference = 0;
  double ratio     = 0;
  double least     = 0;
  double largest   = 0;
  std::optional<double> goal;

  [[nodiscard]] bool met() const { return !goal || ratio >= *goal; }
};

struct no_such_row : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct run_options {
  std::string filter = ".*";  ///< rows whose name it matches somewhere (ECMAScript)
  int repetitions    = 9;
  double seconds     = 0.05;  ///< least time of one repetition
  std::string raw_file;       ///< Google Benchmark's own JSON; empty: none
};

class suite {
 public:
  /// Adds a measurement. A second one of the same name is ignored: several rows may need it.
  void measure(measurement m);
  void compare(comparison c) { comparisons_.push_back(std::move(c)); }

  [[nodiscard]] std::vector<comparison> const& comparisons() const { return comparisons_; }

  /// Measures what the rows that match need. Progress goes to `progress`.
  /// @throws no_such_row when none matches, std::runtime_error naming the measurements that failed their
  /// check
  std::vector<result> run(run_options const& options, std::ostream& progress);

 private:
  std::map<std::string, measurement> measurements_;
  std::vector<comparison> comparisons_;
};

/// @param judged whether to say which goals are met
void print_table(std::vector<result> const& results, bool judged, std::ostream& out);
void print_json(std::vector<result> const& results, std::ostream& out);

}  // namespace bird::bench
