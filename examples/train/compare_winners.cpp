#include "compare_winners.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report_text.hpp"

namespace bird::trainer {
namespace {

template <class Better, class Admitted>
std::optional<std::size_t> best_of(comparison const& all, Better better, Admitted admitted)
{
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < all.results.size(); ++i) {
    if (admitted(all.results[i]) && (!best || better(all.results[i], all.results[*best]))) {
      best = i;
    }
  }
  return best;
}

std::string described(comparison const& all, contender_result const& one)
{
  if (one.sends_floats) {
    return "none but dense itself";
  }
  std::string text = fmt::format("{} ({}, {} of the bytes", one.name, percent_text(one.accuracy()),
                                 fraction_text(counted_bytes(all, one), counted_dense_bytes(all, one)));
  if (!one.stateless()) {
    text += ", keeping " + bytes_text(one.state_bytes) + " in each worker";
  }
  return text + ")";
}

}  // namespace

double counted_bytes(comparison const& all, contender_result const& one)
{
  return one.bytes_up + (all.dense_reply ? 0 : one.bytes_down);
}

double counted_dense_bytes(comparison const& all, contender_result const& one)
{
  return one.dense_bytes_up + (all.dense_reply ? 0 : one.dense_bytes_down);
}

std::optional<verdict> at_equal_accuracy(comparison const& all, double points)
{
  auto const dense = std::find_if(all.results.begin(), all.results.end(),
                                  [](contender_result const& one) { return one.sends_floats; });
  if (dense == all.results.end()) {
    return std::nullopt;
  }
  double const floor = dense->accuracy() - points / 100;
  auto const fewer   = [&](contender_result const& a, contender_result const& b) {
    return counted_bytes(all, a) < counted_bytes(all, b);
  };
  // A hair of tolerance, so that "within 0.5 points" holds for 0.5 points after rounding.
  auto const admitted = [&](contender_result const& one) { return one.accuracy() >= floor - 1e-9; };
  verdict result;
  result.condition =
    fmt::format("within {} {} of dense", number_text(points), points == 1 ? "point" : "points");
  result.winner = best_of(all, fewer, admitted);
  result.without_memory =
    best_of(all, fewer, [&](auto const& one) { return admitted(one) && one.stateless(); });
  return result;
}

verdict at_equal_bytes(comparison const& all, double divisor)
{
  auto const better = [](contender_result const& a, contender_result const& b) {
    return a.accuracy() > b.accuracy();
  };
  auto const admitted = [&](contender_result const& one) {
    return counted_bytes(all, one) * divisor <= counted_dense_bytes(all, one);
  };
  verdict result;
  result.condition = fmt::format("with at most 1/{} of dense's bytes", number_text(divisor));
  result.winner    = best_of(all, better, admitted);
  result.without_memory =
    best_of(all, better, [&](auto const& one) { return admitted(one) && one.stateless(); });
  for (std::size_t i = 0; result.winner && i < all.results.size(); ++i) {
    double const behind = all.results[*result.winner].accuracy() - all.results[i].accuracy();
    if (i != *result.winner && admitted(all.results[i]) && behind < noise_points / 100) {
      result.level.push_back(i);
    }
  }
  return result;
}

double projected_seconds(contender_result const& one, double megabits)
{
  double const bytes = (one.bytes_up + one.bytes_down) / std::max(1, one.workers);
  return one.seconds + (megabits > 0 ? bytes * 8 / (megabits * 1e6) : 0);
}

std::string sentence(comparison const& all, verdict const& what)
{
  if (!what.winner) {
    return what.condition + ": none";
  }
  contender_result const& winner = all.results[*what.winner];
  std::string text               = what.condition + ": " + described(all, winner);
  for (std::size_t i = 0; i < what.level.size(); ++i) {
    text += (i == 0 ? "; not told apart from it: " : ", ") + described(all, all.results[what.level[i]]);
  }
  if (!winner.stateless()) {
    text += what.without_memory ? "; without memory: " + described(all, all.results[*what.without_memory])
                                : "; without memory: none";
  }
  return text;
}

}  // namespace bird::trainer
