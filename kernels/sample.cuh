/// sample: what the samplers share: the norms, the keys, and the walk over the chunks of a list.
///
/// A sampler is a sequence of phases. In each, blocks take chunks (or whole segments) in turn; between two of
/// them all blocks meet, so a phase sees everything that the one before it wrote.
#pragma once

#include "block.cuh"
#include "compress.hpp"
#include "draw.cuh"
#include "grid_barrier.cuh"
#include "tile_norms.cuh"
#include "weight.cuh"

namespace bird::device {

/// One chunk of a segment: its tiles [first, first + count), or draws.
struct chunk_view {
  segment const* s;
  segment_state* state;
  chunk_state* sums;
  std::uint32_t first;
  std::uint32_t count;
};

/// Pieces of a segment that chunks are made of, and how many a chunk takes.
template <sampling How>
struct chunk_shape {
  static constexpr std::uint32_t pieces = chunk_tiles;
  static __device__ std::uint32_t of(segment const& s) { return s.tiles; }
};
/// Draws are few and each reads a tile, so chunks are small.
template <>
struct chunk_shape<sampling::uniform> {
  static constexpr std::uint32_t pieces = chunk_draws;
  static __device__ std::uint32_t of(segment const& s) { return s.slots; }
};

/// Calls visit(chunk) for each chunk of this block. All threads of the block take part.
template <sampling How, class Visit>
__device__ void for_each_chunk(compress_work const& w, Visit const& visit)
{
  for (std::uint32_t chunk = blockIdx.x; chunk < w.chunks; chunk += gridDim.x) {
    std::uint32_t const number = segment_of(w.list, w.header.segment_count, &segment::first_chunk, chunk);
    segment const& s           = w.list[number];
    std::uint32_t const first  = (chunk - s.first_chunk) * chunk_shape<How>::pieces;
    std::uint32_t const left   = chunk_shape<How>::of(s) - first;
    visit(chunk_view{&s, w.states + number, w.chunk_states + chunk, first,
                     left < chunk_shape<How>::pieces ? left : chunk_shape<How>::pieces});
  }
}

__device__ inline bool is_drawn_from(segment const& s)
{
  return s.role == segment_role::sampled && s.count != 0;
}

/// Calls visit(segment, state) for each sampled segment of this block.
template <class Visit>
__device__ void for_each_sampled(compress_work const& w, Visit const& visit)
{
  for (std::uint32_t number = blockIdx.x; number < w.header.segment_count; number += gridDim.x) {
    if (is_drawn_from(w.list[number])) {
      visit(w.list[number], w.states[number]);
    }
  }
}

/// Ends a phase: all blocks meet, settle(segment, state) is called for each sampled segment with what the
/// phase counted, then() once after that, and all go on. A single segment is settled by the block that comes
/// last, which saves a barrier; many are dealt out to all blocks.
template <class Settle, class Then>
__device__ void meet(grid_barrier& grid, compress_work const& w, Settle const& settle, Then const& then)
{
  if (w.header.segment_count > 1) {
    grid.wait();
    for_each_sampled(w, settle);
    grid.wait(then);
    return;
  }
  grid.wait([&] {
    if (w.header.segment_count == 1 && is_drawn_from(w.list[0])) {
      settle(w.list[0], w.states[0]);
      __syncthreads();
    }
    then();
  });
}

/// Chunks of a segment: [first_chunk, end).
__device__ inline std::uint32_t end_of_chunks(compress_work const& w, segment const& s)
{
  return s.number + 1 < w.header.segment_count ? w.list[s.number + 1].first_chunk : w.chunks;
}

/// Replaces what each chunk of a segment counted by the sum of the chunks before it. @returns the sums of all
__device__ inline chunk_state scan_chunks(compress_work const& w, segment const& s)
{
  chunk_state all{0, 0};
  std::uint32_t const end = end_of_chunks(w, s);
  for (std::uint32_t base = s.first_chunk; base < end; base += block_threads) {
    std::uint32_t const chunk = base + threadIdx.x;
    chunk_state const mine    = chunk < end ? w.chunk_states[chunk] : chunk_state{0, 0};
    prefix const first        = block_prefix(mine.first);
    prefix const second       = block_prefix(mine.second);
    if (chunk < end) {
      w.chunk_states[chunk] = {all.first + first.before, all.second + second.before};
    }
    all.first += first.total;
    all.second += second.total;
  }
  return all;
}

/// Sums over the chunks of a segment.
__device__ inline chunk_state sum_chunks(compress_work const& w, segment const& s)
{
  chunk_state mine{0, 0};
  for (std::uint32_t chunk = s.first_chunk + threadIdx.x; chunk < end_of_chunks(w, s);
       chunk += block_threads) {
    mine.first += w.chunk_states[chunk].first;
    mine.second += w.chunk_states[chunk].second;
  }
  return {block_sum(mine.first), block_sum(mine.second)};
}

/// Norm of a tile. With tiles of one element it is |x|, which need not be stored.
template <class T>
__device__ float norm_at(compress_work const& w, segment const& s, std::uint32_t tile)
{
  if (w.norms != nullptr) {
    return w.norms[s.first_tile + tile];
  }
  float const value = rule::magnitude(rule::widen(static_cast<T const*>(s.data)[tile]));
  return rule::is_finite(value) ? value : 0.0F;
}

__device__ inline std::uint32_t step_of(compress_work const& w)
{
  return w.header.step + (w.step_counter != nullptr ? *w.step_counter : 0);
}

__device__ inline rule::philox_key key_of(compress_work const& w)
{
  return rule::stream_key(w.header.seed, step_of(w), w.header.tensor_id);
}

/// Whether items [first, end) hold an Inf or NaN; all threads of the block must ask.
__device__ inline bool any_non_finite(std::uint32_t const* summaries, std::uint32_t first, std::uint32_t end)
{
  bool seen = false;
  for (std::uint32_t item = first + threadIdx.x; item < end; item += block_threads) {
    seen = seen || (summaries[item] & rule::sign_mask) != 0;
  }
  return __syncthreads_or(seen ? 1 : 0) != 0;
}

/// End of the items of segment `number`.
__device__ inline std::uint32_t end_of_items(segment const* list, std::uint32_t number,
                                             std::uint32_t segments, std::uint32_t items)
{
  return number + 1 < segments ? list[number + 1].first_item : items;
}

/// Error feedback: what the gradients decide, whatever the residuals hold. After an Inf or NaN nothing is
/// drawn, and the segment that holds it says so.
__device__ inline void refuse_gradients(compress_work const& w, std::uint32_t number, bool refused,
                                        std::uint32_t& largest, bool& flag)
{
  if (refused) {
    gradient_summaries const& g = w.gradients;
    largest                     = 0;
    flag                        = any_non_finite(g.summaries, g.list[number].first_item,
                                                 end_of_items(g.list, number, w.header.segment_count, g.items));
  }
}

/// First phase of every sampler: what tile_norms saw, segment by segment.
template <class T>
__device__ void gather_summaries(compress_work const& w)
{
  bool const refused = w.buffers != nullptr && any_non_finite(w.gradients.summaries, 0, w.gradients.items);
  if (refused && grid_thread() == 0) {
    w.control->refused = 1;
  }
  for (std::uint32_t number = blockIdx.x; number < w.header.segment_count; number += gridDim.x) {
    segment const& s        = w.list[number];
    std::uint32_t const end = end_of_items(w.list, number, w.header.segment_count, w.items);
    std::uint32_t largest   = 0;
    for (std::uint32_t item = s.first_item + threadIdx.x; item < end; item += block_threads) {
      std::uint32_t const bits = w.summaries[item] & ~rule::sign_mask;
      largest                  = bits > largest ? bits : largest;
    }
    largest   = block_max(largest);
    bool flag = any_non_finite(w.summaries, s.first_item, end);
    refuse_gradients(w, number, refused, largest, flag);
    float companion   = 0;
    bool const summed = s.role == segment_role::companion && w.header.values == values::sign && s.count != 0;
    if (summed) {
      companion = norm_by_block(norm::l1, static_cast<T const*>(s.data), s.count).norm;
    }
    if (threadIdx.x == 0) {
      segment_state state{};
      // uniform: that of the drawn tiles, which are not known yet
      state.largest    = w.header.sampling == sampling::uniform ? 0.0F : rule::float_of(largest);
      state.non_finite = flag ? 1 : 0;
      state.scale      = summed ? companion : 1.0F;
      w.states[number] = state;
    }
  }
}

}  // namespace bird::device
