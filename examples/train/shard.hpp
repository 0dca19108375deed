/// shard: which training images each worker sees.
#pragma once

#include <cstdint>
#include <vector>

#include "bird/span.hpp"

namespace bird::trainer {

/// Image numbers of one worker.
using shard = std::vector<std::uint32_t>;

/// Deals `count` images out at random, evenly (sizes differ by at most one).
[[nodiscard]] std::vector<shard> deal_evenly(std::uint32_t count, int workers, std::uint64_t seed);

/// Splits each class among the workers in shares drawn from a symmetric Dirichlet distribution: the
/// smaller `alpha`, the fewer classes a worker sees. Every image goes to exactly one worker.
/// Draws again until each worker has `at_least` images.
/// @throws invalid_argument naming --skew when a hundred draws do not give that
[[nodiscard]] std::vector<shard> deal_skewed(span<std::uint8_t const> labels, int workers, double alpha,
                                             std::uint32_t at_least, std::uint64_t seed);

}  // namespace bird::trainer
