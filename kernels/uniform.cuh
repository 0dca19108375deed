/// uniform: K slots that do not depend on the data, one in each of K strata.
///
///   tiles    | stratum 0 | stratum 1 | ... | stratum K-1 |     boundaries at floor(s * tiles / K)
///   slot s   a uniformly random tile of stratum s
///
/// Distinct and sorted by construction, found without a scan, and the tile's probability is one over
/// the length of its stratum. Strata keep the sample spread out; the random place within each keeps it
/// from beating with the tensor's own period, as a fixed stride would.
#pragma once

#include "draw.cuh"

namespace bird::rule {

struct stratum {
  std::uint64_t first;
  std::uint64_t length;
};

BIRD_RULE stratum stratum_of(std::uint64_t slot, std::uint64_t tiles, std::uint64_t slots)
{
  std::uint64_t const first = slot * tiles / slots;  // below 2^64: both factors are below 2^32
  return {first, (slot + 1) * tiles / slots - first};
}

BIRD_RULE std::uint64_t uniform_tile(stratum s, std::uint32_t word)
{
  return s.first + (static_cast<std::uint64_t>(word) * s.length >> 32);
}

}  // namespace bird::rule
