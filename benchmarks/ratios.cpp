#include "ratios.hpp"

#include <algorithm>
#include <cstdio>
#include <ostream>

namespace bird::bench {
namespace {

double median(std::vector<double> numbers)
{
  std::sort(numbers.begin(), numbers.end());
  std::size_t const middle = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2;
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

result compare_rates(comparison const& c, std::vector<double> const& ours,
                     std::vector<named_rates> const& references)
{
  named_rates const* reference = nullptr;
  double best                  = 0;
  for (named_rates const& candidate : references) {
    double const middle = median(candidate.rates);
    if (reference == nullptr || middle > best) {
      reference = &candidate;
      best      = middle;
    }
  }
  result r;
  r.row            = c.row;
  r.reference_name = reference->name;
  r.unit           = c.unit;
  r.goal           = c.goal;
  r.ours           = median(ours);
  r.reference      = best;
  r.ratio          = r.ours / r.reference;
  r.least          = ours[0] / reference->rates[0];
  r.largest        = r.least;
  for (std::size_t i = 1; i < std::min(ours.size(), reference->rates.size()); ++i) {
    r.least   = std::min(r.least, ours[i] / reference->rates[i]);
    r.largest = std::max(r.largest, ours[i] / reference->rates[i]);
  }
  return r;
}

void print_table(std::vector<result> const& results, bool judged, std::ostream& out)
{
  std::size_t width = 3;
  for (result const& r : results) {
    width = std::max(width, r.row.size());
  }
  auto const column = static_cast<int>(width);
  char line[512];
  std::snprintf(line, sizeof line, "%-*s %10s %10s %-4s %8s  %-17s %6s  %-3s %10s\n", column, "row", "ours",
                "reference", "", "ratio", "min..max", "goal", "met", "us");
  out << line;
  for (result const& r : results) {
    char range[64];
    std::snprintf(range, sizeof range, "%.3g..%.3g", r.least, r.largest);
    char goal[32] = "-";
    if (r.goal) {
      std::snprintf(goal, sizeof goal, "%.4g", *r.goal);
    }
    std::snprintf(line, sizeof line, "%-*s %10.4g %10.4g %-4s %8.3g  %-17s %6s  %-3s %10.4g\n", column,
                  r.row.c_str(), r.ours, r.reference, name_of(r.unit), r.ratio, range, goal,
                  !r.goal || !judged ? ""
                  : r.met()          ? "yes"
                                     : "NO",
                  r.microseconds);
    out << line;
  }
}

void print_json(std::vector<result> const& results, std::ostream& out)
{
  out << "[\n";
  char const* separator = "";
  for (result const& r : results) {
    char numbers[256];
    std::snprintf(
      numbers, sizeof numbers,
      R"("ours": %.6g, "reference": %.6g, "ratio": %.6g, "min": %.6g, "max": %.6g, "microseconds": %.6g)",
      r.ours, r.reference, r.ratio, r.least, r.largest, r.microseconds);
    char goal[32] = "null";
    if (r.goal) {
      std::snprintf(goal, sizeof goal, "%.6g", *r.goal);
    }
    out << separator << R"(  {"row": ")" << escaped(r.row) << "\", " << numbers << R"(, "goal": )" << goal
        << R"(, "met": )"
        << (!r.goal   ? "null"
            : r.met() ? "true"
                      : "false")
        << R"(, "unit": ")" << name_of(r.unit) << R"(", "reference_name": ")" << escaped(r.reference_name)
        << "\"}";
    separator = ",\n";
  }
  out << "\n]\n";
}

}  // namespace bird::bench
