/// Weights of a chunk of norms, by the vector; rule::weight_scale is the specification. The sign of a norm
/// does not matter here, so elements may stand for their norms.
#pragma once

#include "host/sample.hpp"
#include "weight.cuh"

namespace bird::host {

/// weights[i] = weight of |norms[i]|.
void weights_of(rule::weight_scale scale, float const* norms, std::uint64_t count, std::uint64_t* weights);

struct weight_sum {
  std::uint64_t sum      = 0;
  std::uint64_t non_zero = 0;  ///< how many are
};
[[nodiscard]] weight_sum sum_weights(rule::weight_scale scale, float const* norms, std::uint64_t count);

/// Numbers i, rising, of the norms whose bit pattern without sign is at least `least`. @returns how many
std::uint32_t find_at_least(std::uint32_t least, float const* norms, std::uint32_t count,
                            std::uint32_t* numbers);

/// Bit pattern of the least norm whose weight is at least `weight`; above `largest`, the largest norm of the
/// segment, if there is none.
[[nodiscard]] std::uint32_t least_norm_bits(rule::weight_scale scale, float largest, std::uint64_t weight);

}  // namespace bird::host
