/// Philox4x32-10: the counter-based generator of Salmon et al., "Parallel random numbers: as easy as
/// 1, 2, 3" (SC 2011), section 3.3 and table 2 (ten rounds).
///
/// A pure function of counter and key, so any thread of any machine can evaluate any draw. The same
/// function as curand_Philox4x32_10 and r123::Philox4x32; written out here because a host-only build
/// has neither (the tests compare all three where they are installed).
#pragma once

#include "rule.cuh"

namespace bird::rule {

struct philox_block {
  std::uint32_t word[4];
};

struct philox_key {
  std::uint32_t word[2];
};

// Scalars, since a constexpr array of a namespace has no storage on a device.
inline constexpr std::uint32_t philox_multiplier_0 = 0xD2511F53U;
inline constexpr std::uint32_t philox_multiplier_1 = 0xCD9E8D57U;
inline constexpr std::uint32_t philox_weyl_0       = 0x9E3779B9U;
inline constexpr std::uint32_t philox_weyl_1       = 0xBB67AE85U;
inline constexpr int philox_rounds                 = 10;

BIRD_RULE philox_block philox(philox_block counter, philox_key key)
{
  for (int round = 0; round < philox_rounds; ++round) {
    auto const left  = static_cast<std::uint64_t>(philox_multiplier_0) * counter.word[0];
    auto const right = static_cast<std::uint64_t>(philox_multiplier_1) * counter.word[2];
    counter          = {{static_cast<std::uint32_t>(right >> 32) ^ counter.word[1] ^ key.word[0],
                         static_cast<std::uint32_t>(right),
                         static_cast<std::uint32_t>(left >> 32) ^ counter.word[3] ^ key.word[1],
                         static_cast<std::uint32_t>(left)}};
    key.word[0] += philox_weyl_0;
    key.word[1] += philox_weyl_1;
  }
  return counter;
}

}  // namespace bird::rule
