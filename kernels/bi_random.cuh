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

}  // namespace bird::rule
