/// peer_selection: which k of n positions a peer sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bird/compressor.hpp"

namespace bird::trainer {

/// Positions of the k largest keys (each below 2^31, 1 <= k <= size) in ascending order; of equal keys the
/// first ones, and never a zero, so that fewer than k may come back.
[[nodiscard]] std::vector<std::uint32_t> largest_positions(std::vector<std::uint32_t> const& keys,
                                                           std::size_t k);

/// k distinct positions below `count` (k <= count < 2^31), in no order, as a pure function of the key. Each
/// position is among them with probability k / count over the keys.
[[nodiscard]] std::vector<std::uint32_t> random_positions(std::size_t count, std::size_t k, sample_key key);

}  // namespace bird::trainer
