/// Measurements, and running those that the wanted rows need.
///
/// All measurements of a run are repeated in random order in one process, so that what disturbs the machine
/// disturbs both sides of a ratio alike.
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "ratios.hpp"

namespace bird::bench {

/// What one call of a measured function gets done.
struct work {
  double bytes    = 0;  ///< of dense input, unless the row says otherwise
  double elements = 0;
};

/// Allocates, runs once and checks the result; returns the function that is timed.
/// @throws std::runtime_error when the result is wrong
using preparation = std::function<std::function<void()>()>;

/// The same for a function that measures itself, as a device does: it returns the seconds of one call.
using timed_preparation = std::function<std::function<double()>()>;

struct measurement {
  std::string name;
  int threads;
  bench::work work;
  preparation prepare;
  timed_preparation prepare_timed = {};  ///< instead of `prepare`
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

  /// Prepares the measurements that the rows that match need, which checks their results, and calls each
  /// once. Same exceptions. @returns how many
  std::size_t check(run_options const& options, std::ostream& progress);

 private:
  struct selection {
    std::vector<comparison> rows;
    std::set<std::string> measurements;
  };
  [[nodiscard]] selection select(std::string const& filter) const;

  std::map<std::string, measurement> measurements_;
  std::vector<comparison> comparisons_;
};

}  // namespace bird::bench
