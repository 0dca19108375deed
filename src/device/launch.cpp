#include "device/launch.hpp"

#include <algorithm>

#include "device/front.hpp"

namespace bird::device {

std::uint32_t multiprocessors()
{
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  int count = 0;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return static_cast<std::uint32_t>(count);
}

std::uint32_t grid_for(std::uint64_t pieces)
{
  constexpr std::uint64_t blocks_a_multiprocessor = 8;  // 2048 threads of 256 a block
  std::uint64_t const most                        = multiprocessors() * blocks_a_multiprocessor;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(pieces, 1, most));
}

void check_device_memory(void const* address, std::string const& name)
{
  if (address == nullptr) {
    return;
  }
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, address), "cudaPointerGetAttributes");
  if (attributes.type == cudaMemoryTypeUnregistered) {
    throw invalid_argument(name + ": address " + std::to_string(reinterpret_cast<std::uintptr_t>(address)) +
                           " is pageable host memory, but a CUDA stream was given; use bird::on_host");
  }
  int current = 0;
  check(cudaGetDevice(&current), "cudaGetDevice");
  if (attributes.type == cudaMemoryTypeDevice && attributes.device != current) {
    throw invalid_argument(name + ": lies on device " + std::to_string(attributes.device) +
                           ", but the current device is " + std::to_string(current));
  }
}

}  // namespace bird::device
