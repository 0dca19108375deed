/// compare_winners: who wins at equal accuracy, and who at equal bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compare.hpp"

namespace bird::trainer {

/// Accuracies closer than this say nothing: seeds alone spread by about 0.2 points each way.
inline constexpr double noise_points = 0.4;

/// Bytes by which methods are told apart: both ways, or up alone where all replies are dense.
[[nodiscard]] double counted_bytes(comparison const& all, contender_result const& one);
[[nodiscard]] double counted_dense_bytes(comparison const& all, contender_result const& one);

struct verdict {
  std::string condition;              ///< "within 0.5 points of dense", "with at most 1/30 of its bytes"
  std::optional<std::size_t> winner;  ///< number in comparison::results
  std::vector<std::size_t> level;     ///< others that are not told apart from the winner
  std::optional<std::size_t> without_memory;  ///< winner among those that keep no state
};

/// Fewest bytes among those whose mean accuracy is no more than `points` below dense's. Absent without a
/// dense reference.
[[nodiscard]] std::optional<verdict> at_equal_accuracy(comparison const& all, double points);

/// Best mean accuracy among those that send at most dense / divisor; `level` are those within noise_points.
[[nodiscard]] verdict at_equal_bytes(comparison const& all, double divisor);

/// Training time on links of so many Mb/s: the time measured without one, and then each worker's bytes up and
/// down over a link of its own, one after the other. 0 Mb/s: not limited.
[[nodiscard]] double projected_seconds(contender_result const& one, double megabits);

/// "tile wins: 87.9 % at 1/19 of the bytes" and what else there is to say.
[[nodiscard]] std::string sentence(comparison const& all, verdict const& what);

}  // namespace bird::trainer
