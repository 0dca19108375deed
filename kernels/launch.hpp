/// Launches and runtime calls, each checked; the only place that knows how.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <string>
#include <utility>

#include "bird/error.hpp"
#include "dispatch.hpp"

namespace bird::device {

/// @throws cuda_error naming the call and the runtime's own words
inline void check(cudaError_t status, char const* what)
{
  if (status != cudaSuccess) {
    (void)cudaGetLastError();  // one failed launch must not be taken for a failure of the next call
    throw cuda_error{static_cast<int>(status),
                     std::string{what} + ": " + cudaGetErrorName(status) + ", " + cudaGetErrorString(status)};
  }
}

/// Entries of a list that travel in the parameters of a launch (launch_table.cuh): 480 of 64 bytes leave room
/// for 2 KiB of others, since there are 32,764 bytes from CUDA 12.1 on.
inline constexpr std::uint32_t most_by_value = 480;
inline constexpr std::uint32_t few_by_value  = 24;

struct launch_shape {
  std::uint32_t blocks;
  std::uint32_t threads;
  bool cooperative;  ///< all blocks run at once and may wait for each other
};

/// Enqueues a kernel; returns before it runs.
template <class... Parameters, class... Arguments>
void launch(char const* name, void (*kernel)(Parameters...), launch_shape shape, cudaStream_t stream,
            Arguments&&... arguments)
{
  cudaLaunchAttribute attribute{};
  attribute.id              = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim  = dim3(shape.blocks);
  config.blockDim = dim3(shape.threads);
  config.stream   = stream;
  config.attrs    = &attribute;
  config.numAttrs = shape.cooperative ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...), name);
}

[[nodiscard]] int current_device();

/// Multiprocessors of the current device.
[[nodiscard]] inline std::uint32_t multiprocessors()
{
  int count = 0;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, current_device()),
        "cudaDeviceGetAttribute");
  return static_cast<std::uint32_t>(count);
}

/// Blocks for work that is dealt out in `pieces`: enough to fill the device, no more than pieces.
[[nodiscard]] inline std::uint32_t grid_for(std::uint64_t pieces)
{
  constexpr std::uint64_t blocks_a_multiprocessor = 8;  // 2048 threads of 256 a block
  return static_cast<std::uint32_t>(
    std::clamp<std::uint64_t>(pieces, 1, multiprocessors() * blocks_a_multiprocessor));
}

/// Blocks of a cooperative launch: as many as run at once, no more than pieces.
template <class... Parameters>
[[nodiscard]] std::uint32_t resident_grid(void (*kernel)(Parameters...), std::uint32_t threads,
                                          std::uint64_t pieces)
{
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads), 0),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  std::uint64_t const most = std::uint64_t{static_cast<unsigned>(blocks)} * multiprocessors();
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(pieces, 1, most));
}

}  // namespace bird::device
