/// Rows of the table: what is compared, and the ratio that comes out.
///
/// A row's ratio is that of the median rates; its range is that of the ratios of repetitions with equal
/// number.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace bird::bench {

/// In what a row compares.
enum class unit { gigabytes_per_second, gigaelements_per_second };

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
  double ours         = 0;  ///< median, in the row's unit
  double reference    = 0;
  double ratio        = 0;
  double least        = 0;
  double largest      = 0;
  double microseconds = 0;  ///< of one call of ours
  std::optional<double> goal;

  [[nodiscard]] bool met() const { return !goal || ratio >= *goal; }
};

/// Rates of all repetitions of one measurement, in the row's unit.
struct named_rates {
  std::string name;
  std::vector<double> rates;
};

/// The reference is the one of largest median. At least one reference; no vector is empty.
result compare_rates(comparison const& c, std::vector<double> const& ours,
                     std::vector<named_rates> const& references);

/// @param judged whether to say which goals are met
void print_table(std::vector<result> const& results, bool judged, std::ostream& out);
void print_json(std::vector<result> const& results, std::ostream& out);

}  // namespace bird::bench
