/// device_list: a list of tensors as kernels see it, and how its work is cut.
///
/// Work is numbered through the whole list, so that one launch serves any number of tensors, and each tensor
/// knows the number of its first piece:
///
///   items    what a block reads at once for norms: whole tiles, or plain elements where no norm is wanted
///   chunks   what a block samples at once: tiles (uniform: slots)
///   batches  what a block writes at once: elements of a value region
///
/// The cuts are for speed alone; no result depends on them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "bird/compressor.hpp"
#include "slot.cuh"
#include "systematic.cuh"

namespace bird::device {

inline constexpr std::uint32_t item_elements  = 16 * 1024;  ///< 64 KiB of fp32
inline constexpr std::uint32_t chunk_tiles    = 2048;
inline constexpr std::uint32_t chunk_draws    = 32;
inline constexpr std::uint32_t batch_elements = 8 * 1024;

inline constexpr std::uint32_t select_bins = 2048;  ///< of one histogram of a radix select: 11 bits

struct segment {
  void const* data;
  std::uint64_t count;
  std::uint32_t tile;  ///< elements per tile; 0 unless sampled
  std::uint32_t tiles;
  std::uint32_t first_tile;
  std::uint32_t slots;   ///< K: the most that it may keep; of a companion that of its parent
  std::uint32_t parent;  ///< companion: number of the sampled segment
  std::uint32_t number;  ///< of this segment in the list
  std::uint32_t first_item;
  std::uint32_t first_chunk;
  std::uint32_t first_batch;
  std::uint32_t first_draw;  ///< uniform: of its candidates among those of the list
  std::uint32_t histogram;   ///< number of this segment among the sampled ones
  segment_role role;
};

using rule::slot;

/// What the phases of compress learn of one segment.
struct segment_state {
  std::uint64_t weight_sum;     ///< of all its tiles; uniform: of strata lengths times weights
  std::uint64_t threshold_sum;  ///< bi_random: of all survival thresholds
  std::uint64_t total;          ///< systematic: W, the weights of the tiles that are not certain
  std::uint64_t offset;         ///< systematic: r
  std::uint64_t certain_from;   ///< systematic: least weight of a certain tile
  std::uint64_t wanted;         ///< select: tiles still to be found; in the end: ties that are kept
  std::uint64_t region_offset;
  double companion_factor;
  float largest;              ///< norm; uniform: of the candidates
  std::uint32_t non_finite;   ///< an Inf or NaN somewhere
  std::uint32_t non_zero;     ///< tiles with a norm; bi_random: survivors
  std::uint32_t light_slots;  ///< systematic: slots of the tiles that are not certain
  std::uint32_t cut;          ///< select: key of the last tile that is kept
  std::uint32_t all_kept;     ///< top: fewer tiles than slots have a norm
  std::uint32_t slots;        ///< kept
  std::uint32_t first_slot;   ///< among those of the packet
  float scale;
};

/// Of one chunk: first sums of its own, then sums of all chunks of the segment before it.
struct chunk_state {
  std::uint64_t first;   ///< systematic: weights; select: tiles above the cut; uniform: kept candidates
  std::uint64_t second;  ///< systematic: certain tiles; select: ties
};

/// The last of `count` numbers that is not above `number`, or the first; they rise, and first(i) is the i-th.
/// So pieces that are numbered through a list find the entry that they belong to.
template <class First>
__device__ std::uint32_t last_not_above(std::uint32_t number, std::uint32_t count, First const& first)
{
  std::uint32_t low  = 0;
  std::uint32_t high = count;
  while (high - low > 1) {
    std::uint32_t const middle             = low + (high - low) / 2;
    (first(middle) <= number ? low : high) = middle;
  }
  return low;
}

/// The number of the segment that holds piece `piece`, by the member that counts pieces.
__device__ inline std::uint32_t segment_of(segment const* segments, std::uint32_t count,
                                           std::uint32_t segment::*first, std::uint32_t piece)
{
  return last_not_above(piece, count, [&](std::uint32_t i) { return segments[i].*first; });
}

/// Tiles of one item.
BIRD_RULE std::uint32_t item_tiles(std::uint32_t tile)
{
  return tile == 0 || tile >= item_elements ? 1 : item_elements / tile;
}

}  // namespace bird::device
