#include "device/front.hpp"
#include "launch.hpp"

namespace bird::device {

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
