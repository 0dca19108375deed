/// cuRAND's Philox4x32-10 on the host. Only in builds that found the CUDA toolkit's header.
#pragma once

#include <cstdint>

#include "bird/span.hpp"

namespace bird::peers {

/// Words of the blocks with counters {low, high of number, third, fourth}, number = first_block, ...
void curand_philox(std::uint32_t const (&key)[2], std::uint32_t third, std::uint32_t fourth,
                   std::uint64_t first_block, span<std::uint32_t> words);

}  // namespace bird::peers
