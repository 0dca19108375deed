/// Random-k: elements kept without looking at them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bird/span.hpp"
#include "sparse.hpp"

namespace bird::peers {

/// One Philox4x32-10 word an element (word i % 4 of counter i / 4, key = seed): kept if it is below ratio *
/// 2^32. Values are divided by the ratio. Near-ascending positions: within groups of 16 they may be permuted.
sparse_view random_k_philox(span<float const> gradient, double ratio, std::uint64_t seed,
                            sparse_buffer& kept);

/// k positions drawn with replacement (splitmix64 as a counter-based generator), values times count / k.
sparse_view random_k_draws(span<float const> gradient, std::size_t k, std::uint64_t seed,
                           sparse_buffer& kept);

}  // namespace bird::peers
