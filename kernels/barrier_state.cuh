/// The memory of a grid_barrier, as the host lays it out.
#pragma once

#include <cstdint>

namespace bird::device {

/// Zero when the kernel starts.
struct barrier_state {
  std::uint32_t arrived;   ///< blocks, upwards for ever: barrier number n is full at n * blocks
  std::uint32_t released;  ///< number of the last barrier that everybody may leave
};

}  // namespace bird::device
