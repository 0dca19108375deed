/// launch_table: a list that travels in the parameters of a launch, so that nothing has to be copied before
/// it and a captured graph keeps it.
///
/// A short list travels in a short table, which is less to copy; one that is too long for the parameters is
/// put into device memory by launches of its own.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "block.cuh"
#include "launch.hpp"

namespace bird::device {

template <class T, std::uint32_t Capacity>
struct launch_table {
  T entries[Capacity];
};

template <std::uint32_t Capacity, class T>
launch_table<T, Capacity> table_of(span<T const> list)
{
  launch_table<T, Capacity> table{};
  std::copy(list.begin(), list.end(), table.entries);
  return table;
}

template <class T>
__global__ void put_list(T* memory, std::uint32_t count,
                         __grid_constant__ launch_table<T, most_by_value> const table)
{
  for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    memory[i] = table.entries[i];
  }
}

/// Enqueues the copy of a list of any length.
template <class T>
void put(span<T const> list, T* memory, cudaStream_t stream)
{
  for (std::size_t first = 0; first < list.size(); first += most_by_value) {
    std::size_t const count = std::min<std::size_t>(most_by_value, list.size() - first);
    launch("put_list", put_list<T>, {1, block_threads, false}, stream, memory + first,
           static_cast<std::uint32_t>(count), table_of<most_by_value>(list.subspan(first, count)));
  }
}

}  // namespace bird::device
