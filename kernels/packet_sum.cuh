/// packet_sum: the terms of a packet's checksum, dealt out to the threads of a grid.
#pragma once

#include <cstddef>

#include "block.cuh"
#include "packet_layout.cuh"

namespace bird::device {

/// This thread's part of the sum of rule::checksum_term over all words; the checksum's own half counts as
/// zero.
/// @param bytes of the packet, a multiple of 4
__device__ inline std::uint64_t sum_of_terms(std::byte const* packet, std::uint64_t bytes)
{
  std::uint64_t const own = offsetof(packet_header, checksum) / 8;  // in the upper half of this word
  auto const* const words = reinterpret_cast<std::uint64_t const*>(packet);
  std::uint64_t sum       = 0;
  for (std::uint64_t i = grid_thread(); i < bytes / 8; i += grid_threads()) {
    sum += rule::checksum_term(i, i == own ? words[i] & 0xFFFFFFFFU : words[i]);
  }
  if (grid_thread() == 0 && bytes % 8 != 0) {
    sum += rule::checksum_term(bytes / 8, *reinterpret_cast<std::uint32_t const*>(packet + bytes - 4));
  }
  return sum;
}

}  // namespace bird::device
