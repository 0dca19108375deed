/// tile_norms on the device: see tile_norms.cuh.
///
/// Reads every element once. Writes the norms, and of each item the largest norm and whether an Inf or NaN
/// was met, which the next kernel gathers: no atomics, so nothing need be cleared before. It also clears the
/// counters of the next kernel and leaves the list in memory for it.
#include "tile_norms.cuh"

#include "compress.hpp"
#include "launch.hpp"
#include "launch_table.cuh"

namespace bird::device {
namespace {

/// Largest norm of what a thread saw, as bits (norms are not negative, so bits sort as they do).
struct summary {
  std::uint32_t largest = 0;
  bool non_finite       = false;

  __device__ void add(rule::tile_norm const& one)
  {
    std::uint32_t const bits = rule::bits_of(one.norm);
    largest                  = bits > largest ? bits : largest;
    non_finite               = non_finite || one.non_finite;
  }
};

template <class T>
__device__ summary norms_of_item(norm_work const& work, segment const& s, std::uint32_t item)
{
  T const* const data      = static_cast<T const*>(s.data);
  std::uint32_t const span = item_tiles(s.tile);
  std::uint32_t const from = (item - s.first_item) * span;
  std::uint32_t const end  = s.tiles - from < span ? s.tiles : from + span;
  summary seen;
  auto const keep = [&](std::uint32_t tile, rule::tile_norm const& one) {
    work.norms[s.first_tile + tile] = one.norm;
    seen.add(one);
  };
  if (s.tile <= thread_tile) {
    for (std::uint32_t tile = from + threadIdx.x; tile < end; tile += block_threads) {
      keep(tile, norm_by_thread(work.kind, data + std::uint64_t{tile} * s.tile,
                                static_cast<std::uint32_t>(items_of(s, tile))));
    }
  } else if (s.tile < block_tile) {
    for (std::uint32_t tile = from + lane_group<T>::number(); tile < end; tile += lane_group<T>::a_block) {
      rule::tile_norm const one =
        norm_by_group(work.kind, data + std::uint64_t{tile} * s.tile, items_of(s, tile));
      if (lane_group<T>::rank() == 0) {
        keep(tile, one);
      }
    }
  } else {
    for (std::uint32_t tile = from; tile < end; ++tile) {
      rule::tile_norm const one =
        norm_by_block(work.kind, data + std::uint64_t{tile} * s.tile, items_of(s, tile));
      if (threadIdx.x == 0) {
        keep(tile, one);
      }
    }
  }
  return seen;
}

/// Largest magnitude of the finite elements of an item.
template <class T>
__device__ summary elements_of_item(segment const& s, std::uint32_t item)
{
  constexpr std::uint32_t width = vector_width<T>;
  T const* const data           = static_cast<T const*>(s.data);
  bool const aligned            = is_vector_aligned(data);
  std::uint64_t const from      = std::uint64_t{item - s.first_item} * item_elements;
  std::uint64_t const end       = s.count - from < item_elements ? s.count : from + item_elements;
  summary seen;
  for_each_vector(data, from + threadIdx.x * width, end, block_threads * width, s.count, aligned,
                  [&](float const* values) {
                    for (std::uint32_t i = 0; i < width; ++i) {
                      bool const finite = rule::is_finite(values[i]);
                      seen.add({finite ? rule::magnitude(values[i]) : 0.0F, !finite});
                    }
                  });
  return seen;
}

template <class T>
__device__ void tile_norms(norm_work const& work, segment const* segments)
{
  for (std::uint32_t i = grid_thread(); i < work.cleared_words; i += grid_threads()) {
    work.cleared[i] = 0;
  }
  if (work.list != segments) {
    for (std::uint32_t i = grid_thread(); i < work.segment_count; i += grid_threads()) {
      work.list[i] = segments[i];
    }
  }
  for (std::uint32_t item = blockIdx.x; item < work.items; item += gridDim.x) {
    segment const& s   = segments[segment_of(segments, work.segment_count, &segment::first_item, item)];
    bool const sampled = s.role == segment_role::sampled;
    summary const seen =
      sampled && work.norms != nullptr ? norms_of_item<T>(work, s, item) : elements_of_item<T>(s, item);
    std::uint32_t const largest = block_max(seen.largest);
    int const non_finite        = __syncthreads_or(seen.non_finite ? 1 : 0);
    if (threadIdx.x == 0) {
      work.summaries[item] = largest | (non_finite != 0 ? rule::sign_mask : 0U);
    }
  }
}

template <class T, std::uint32_t Capacity>
__global__ void __launch_bounds__(block_threads, streaming_blocks)
  tile_norms_of_table(norm_work work, __grid_constant__ launch_table<segment, Capacity> const table)
{
  tile_norms<T>(work, table.entries);
}

template <class T>
__global__ void __launch_bounds__(block_threads, streaming_blocks) tile_norms_of_list(norm_work work)
{
  tile_norms<T>(work, work.list);
}

}  // namespace

void tile_norms(dtype type, norm_work const& work, span<segment const> segments, cudaStream_t stream)
{
  launch_shape const shape{grid_for(work.items), block_threads, false};
  dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (segments.size() <= few_by_value) {
      launch("tile_norms", tile_norms_of_table<T, few_by_value>, shape, stream, work,
             table_of<few_by_value>(segments));
    } else if (segments.size() <= most_by_value) {
      launch("tile_norms", tile_norms_of_table<T, most_by_value>, shape, stream, work,
             table_of<most_by_value>(segments));
    } else {
      put(segments, work.list, stream);
      launch("tile_norms", tile_norms_of_list<T>, shape, stream, work);
    }
  });
}

}  // namespace bird::device
