/// slot: one draw of a tile, as samplers hand it to whoever writes the packet.
#pragma once

#include <cstdint>

namespace bird::rule {

struct slot {
  std::uint32_t tile;  ///< among all tiles of the list
  float multiplier;    ///< one over the expected number of slots of this tile
};

}  // namespace bird::rule
