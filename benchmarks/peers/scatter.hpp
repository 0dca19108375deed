/// Decoders of the peers: how sparse packets become, or are added to, a dense gradient.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bird/span.hpp"
#include "sparse.hpp"

namespace bird::peers {

/// Zeros everywhere, then each element of `kept` to its place. Positions are distinct.
void fill_and_scatter(sparse_view kept, span<float> dense);

/// dense[index] += weight * value, for positions that are distinct.
void scatter_add(sparse_view kept, float weight, span<float> dense);

/// Tiles of equal length: `value` holds those whose numbers are in `tile`, which ascend strictly.
struct tile_view {
  std::uint32_t const* tile;
  float const* value;
  std::size_t count;
  std::size_t tile_elements;
};

/// Zeros everywhere by memset, then each tile to its place.
void fill_and_copy_tiles(tile_view kept, span<float> dense);

}  // namespace bird::peers
