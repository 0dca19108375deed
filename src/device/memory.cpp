#include "device/front.hpp"
#include "launch.hpp"

namespace bird::device {

int current_device()
{
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

void check_device_memory(void const* address, std::string const& name, int device)
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
  if (attributes.type == cudaMemoryTypeDevice && attributes.device != device) {
    throw invalid_argument(name + ": lies on device " + std::to_string(attributes.device) +
                           ", but the current device is " + std::to_string(device));
  }
}

}  // namespace bird::device
