/// tile_norms: the norm of every tile, by the fixed tree of tile_norm.cuh, which three shapes of work obey:
///
///   tile <= 16     a thread a tile: its elements are lanes 0 .. tile - 1 of the tree, the rest is zero
///   tile < 8192    a group of 64 / V threads a tile, V elements in 16 bytes:
///
///       row 0   | thread 0: lanes 0 .. V-1 | thread 1: lanes V .. 2V-1 | ... |        64 elements
///       row 1   |          added to the same lanes                           |
///       tree    lane l += lane l+32, ... , l+V by shuffles, then l+V/2 .. l+1 in registers
///
///   else           a block a tile: each group takes chunks in turn, one thread adds their sums in order
#pragma once

#include "block.cuh"
#include "device_list.cuh"
#include "tile_norm.cuh"
#include "vector_io.cuh"

namespace bird::device {

inline constexpr std::uint32_t thread_tile = 16;
inline constexpr std::uint32_t block_tile  = 8 * 1024;

/// The threads that share a row of 64 lanes.
template <class T>
struct lane_group {
  static constexpr std::uint32_t width   = vector_width<T>;
  static constexpr std::uint32_t threads = rule::norm_lanes / width;
  static constexpr std::uint32_t a_block = block_threads / threads;

  static __device__ std::uint32_t rank() { return threadIdx.x % threads; }
  static __device__ std::uint32_t number() { return threadIdx.x / threads; }
  static __device__ std::uint32_t mask() { return ((1U << threads) - 1) << (lane_id() / threads * threads); }
};

/// Sum of one chunk of at most rule::chunk_items elements; valid in the group's first thread.
template <class Sum, class T>
__device__ Sum sum_of_chunk(T const* elements, std::uint32_t count)
{
  using group                   = lane_group<T>;
  constexpr std::uint32_t width = group::width;
  bool const aligned            = is_vector_aligned(elements);
  Sum lanes[width]              = {};
  for_each_vector(elements, group::rank() * width, count, rule::norm_lanes, count, aligned,
                  [&](float const* values) {
                    for (std::uint32_t i = 0; i < width; ++i) {
                      rule::add_term(lanes[i], values[i]);
                    }
                  });
  for (std::uint32_t distance = group::threads / 2; distance > 0; distance /= 2) {
    for (std::uint32_t i = 0; i < width; ++i) {
      lanes[i] += __shfl_down_sync(group::mask(), lanes[i], distance, group::threads);
    }
  }
  for (std::uint32_t half = width / 2; half > 0; half /= 2) {
    for (std::uint32_t i = 0; i < half; ++i) {
      lanes[i] += lanes[i + half];
    }
  }
  return lanes[0];
}

template <class T>
__device__ double sum_of_chunk(norm kind, T const* elements, std::uint32_t count)
{
  return kind == norm::l1 ? static_cast<double>(sum_of_chunk<float, T>(elements, count))
                          : sum_of_chunk<double, T>(elements, count);
}

__device__ inline std::uint32_t chunk_length(std::uint64_t first, std::uint64_t count)
{
  return static_cast<std::uint32_t>(count - first < rule::chunk_items ? count - first : rule::chunk_items);
}

/// Norm of a tile; valid in the group's first thread.
template <class T>
__device__ rule::tile_norm norm_by_group(norm kind, T const* elements, std::uint64_t count)
{
  double sum = 0;
  for (std::uint64_t first = 0; first < count; first += rule::chunk_items) {
    sum += sum_of_chunk(kind, elements + first, chunk_length(first, count));
  }
  return lane_group<T>::rank() == 0 ? rule::finish_norm(kind, sum, elements, count)
                                    : rule::tile_norm{0.0F, false};
}

/// Norm of a tile of any length; all threads of the block must call it; valid in thread 0.
template <class T>
__device__ rule::tile_norm norm_by_block(norm kind, T const* elements, std::uint64_t count)
{
  using group = lane_group<T>;
  __shared__ double sums[group::a_block];
  constexpr std::uint64_t stride = std::uint64_t{group::a_block} * rule::chunk_items;
  double sum                     = 0;
  for (std::uint64_t round = 0; round < count; round += stride) {
    std::uint64_t const first = round + std::uint64_t{group::number()} * rule::chunk_items;
    if (first < count) {
      double const one = sum_of_chunk(kind, elements + first, chunk_length(first, count));
      if (group::rank() == 0) {
        sums[group::number()] = one;
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (std::uint32_t i = 0; i < group::a_block && round + i * rule::chunk_items < count; ++i) {
        sum += sums[i];
      }
    }
    __syncthreads();
  }
  return threadIdx.x == 0 ? rule::finish_norm(kind, sum, elements, count) : rule::tile_norm{0.0F, false};
}

/// Norm of a tile of at most thread_tile elements.
template <class Sum, class T>
__device__ rule::tile_norm tree_of_thread(norm kind, T const* elements, std::uint32_t count)
{
  constexpr std::uint32_t width = vector_width<T>;
  bool const aligned            = is_vector_aligned(elements);
  Sum lanes[thread_tile];
  for (std::uint32_t first = 0; first < thread_tile; first += width) {
    float values[width];
    load_some(elements, first, count, aligned, values);
    for (std::uint32_t i = 0; i < width; ++i) {
      lanes[first + i] = 0;
      rule::add_term(lanes[first + i], values[i]);
    }
  }
  for (std::uint32_t half = thread_tile / 2; half > 0; half /= 2) {
    for (std::uint32_t i = 0; i < half; ++i) {
      lanes[i] += lanes[i + half];
    }
  }
  return rule::finish_norm(kind, static_cast<double>(lanes[0]), elements, count);
}

template <class T>
__device__ rule::tile_norm norm_by_thread(norm kind, T const* elements, std::uint32_t count)
{
  return kind == norm::l1 ? tree_of_thread<float, T>(kind, elements, count)
                          : tree_of_thread<double, T>(kind, elements, count);
}

/// Elements of tile number `tile` of a segment.
__device__ inline std::uint64_t items_of(segment const& s, std::uint32_t tile)
{
  std::uint64_t const left = s.count - std::uint64_t{tile} * s.tile;
  return left < s.tile ? left : s.tile;
}

}  // namespace bird::device
