/// bi_random: BIRD's two random stages.
///
///   stage 1  tile j survives with q_j = (a_j / max a)^gamma        gamma = 1: BIRD; else BIRD+
///   stage 2  of B survivors, a uniformly random subset of K        if B > K; m = min(B, K) remain
///
/// Every survivor of both stands for B / m of its kind, so that E[B / m; j kept] = q_j exactly. Stage 2 keeps
/// the K survivors with the smallest random words (ties: the lower tile), which is a uniform subset. Sources:
/// the authors' 2022 prototype for the two stages and the factor B / m, BIRD's abstract for the L1 norm;
/// gamma is a reconstruction, since BIRD+ has no public code.
#pragma once

#include "draw.cuh"
#include "power.cuh"

namespace bird::rule {

/// q_j scaled to 2^32; a word below it survives. At least 1 for a norm that is not 0.
BIRD_RULE std::uint64_t survival_threshold(float norm, float largest, double gamma)
{
  if (norm <= 0) {
    return 0;
  }
  double const share  = static_cast<double>(norm) / static_cast<double>(largest);
  double const chance = gamma == 1.0 ? share : power(share, gamma);
  auto const scaled   = static_cast<std::uint64_t>(chance * 4294967296.0);
  return norm == largest ? std::uint64_t{1} << 32 : scaled == 0 ? 1 : scaled;
}

/// What the survivors of a segment make of it.
struct bi_random {
  double stands_for;   ///< B / m
  double expectation;  ///< sum of q_j over all tiles

  /// @param thresholds sum of all tiles' survival thresholds
  BIRD_RULE bi_random(std::uint64_t survivors, std::uint64_t kept, std::uint64_t thresholds)
    : stands_for{static_cast<double>(survivors) / static_cast<double>(kept)},
      expectation{static_cast<double>(thresholds) / 4294967296.0}
  {
  }
  /// One over the probability of a kept tile.
  BIRD_RULE float multiplier(std::uint64_t threshold) const
  {
    return static_cast<float>(stands_for * 4294967296.0 / static_cast<double>(threshold));
  }
  /// The norm that one slot carries: BIRD's largest norm, or the segment's over the expected survivors.
  BIRD_RULE float scale(double gamma, float largest, double segment_norm) const
  {
    return to_finite_float(stands_for *
                           (gamma == 1.0 ? static_cast<double>(largest) : segment_norm / expectation));
  }
  BIRD_RULE double companion_factor() const { return stands_for / expectation; }
  /// |x| / q <= a / q <= max a for gamma <= 1.
  BIRD_RULE double largest_value(float largest) const { return stands_for * static_cast<double>(largest); }
};

}  // namespace bird::rule
