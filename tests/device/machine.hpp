/// The machine that device tests run on: a device, or the emulated one. The only place that knows which.
#pragma once

#include <cuda_runtime.h>

#include <string>

#if !BIRD_TEST_ON_A_DEVICE
#include "emulation.hpp"
#endif

namespace bird_test {

#if BIRD_TEST_ON_A_DEVICE

/// Why nothing can run here; empty: it can.
inline std::string missing()
{
  int devices     = 0;
  bool const none = cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0;
  return none ? "no CUDA device: the emulated one has the same tests (device_test)" : "";
}
inline void start_afresh() { (void)cudaGetLastError(); }
/// What went wrong since the last call; compute-sanitizer tells more (tests/run --gpu).
inline std::string complaints()
{
  cudaError_t const last = cudaDeviceSynchronize();
  return last == cudaSuccess ? "" : cudaGetErrorString(last);
}
inline std::size_t live_allocations() { return 0; }  // compute-sanitizer counts them
inline bool is_checked() { return false; }

#else

inline std::string missing() { return ""; }
inline void start_afresh() { emulation::reset(); }
inline std::string complaints() { return emulation::take_reports(); }
inline std::size_t live_allocations() { return emulation::live_allocations(); }
/// True where each access of a kernel is checked, which takes its time.
inline bool is_checked() { return emulation::is_checked(); }

#endif

}  // namespace bird_test
