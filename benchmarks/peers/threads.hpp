/// Splits work over OpenMP's threads the way the library's host stages do: one contiguous run a thread.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>

namespace bird::peers {

struct range {
  std::size_t begin;
  std::size_t end;
};

/// Runs begin at multiples of this many elements: four pages of fp32, the block of the prefetch pattern.
inline constexpr std::size_t chunk_elements = 4096;
/// Below this many elements forking a team costs more than it saves.
inline constexpr std::size_t parallel_elements = 1U << 18U;

inline range chunk_of(std::size_t count, int part, int parts)
{
  std::size_t const chunks = (count + chunk_elements - 1) / chunk_elements;
  auto const edge          = [&](int p) {
    return std::min(count,
                             chunks * static_cast<std::size_t>(p) / static_cast<std::size_t>(parts) * chunk_elements);
  };
  return {edge(part), edge(part + 1)};
}

inline int parts_for(std::size_t count) { return count < parallel_elements ? 1 : omp_get_max_threads(); }

/// Calls work(part, range) once for each of parts_for(count) parts.
template <class Work>
void for_each_chunk(std::size_t count, Work&& work)
{
  int const parts = parts_for(count);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
  for (int part = 0; part < parts; ++part) {
    work(part, chunk_of(count, part, parts));
  }
}

/// A value that one part writes, alone on its cache line.
template <class T>
struct alignas(64) part_result {
  T value{};
};

}  // namespace bird::peers
