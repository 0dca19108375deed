/// Streams whose work writes a log, for tests of what is ordered and what is not.
#pragma once

#include <set>
#include <vector>

#include "on_device.hpp"

namespace emulation_test {

/// entries[0] counts the entries behind it.
inline __global__ void append_entry(unsigned* entries, unsigned what)
{
  if (threadIdx.x == 0) {
    entries[1 + atomicAdd(entries, 1U)] = what;
  }
}

class on_streams : public ::testing::Test {
 protected:
  void SetUp() override
  {
    emulation::reset();
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDefault);
    cudaMalloc(&entries, 64 * sizeof *entries);
    clear();
  }
  void TearDown() override
  {
    EXPECT_EQ(emulation::take_reports(), "");
    emulation::reset();
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaEventDestroy(event);
    cudaFree(entries);
  }

  void clear()
  {
    cudaMemset(entries, 0, 64 * sizeof *entries);
    cudaDeviceSynchronize();
  }
  /// Queues work that writes down its number.
  cudaError_t append(cudaStream_t stream, unsigned what)
  {
    cudaLaunchConfig_t config{};
    config.blockDim = dim3(32);
    config.stream   = stream;
    return cudaLaunchKernelEx(&config, append_entry, entries, what);
  }
  [[nodiscard]] unsigned entry(unsigned i) const
  {
    unsigned copy = 0;
    EXPECT_EQ(cudaMemcpy(&copy, entries + i, sizeof copy, cudaMemcpyDeviceToHost), cudaSuccess);
    return copy;
  }
  [[nodiscard]] std::vector<unsigned> log() const
  {
    std::vector<unsigned> entries_so_far(entry(0));
    for (unsigned i = 0; i < entries_so_far.size(); ++i) {
      entries_so_far[i] = entry(i + 1);
    }
    return entries_so_far;
  }
  /// Runs with an empty log under each of 20 seeds. Races are the point of some, so they are not looked at.
  template <class Body>
  void for_each_seed(Body const& body)
  {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      emulation::settings settings;
      settings.seed         = seed;
      settings.report_races = false;
      emulation::reset(settings);
      clear();
      body();
      ASSERT_EQ(emulation::take_reports(), "");
    }
  }

  cudaStream_t first  = nullptr;
  cudaStream_t second = nullptr;
  cudaEvent_t event   = nullptr;
  unsigned* entries   = nullptr;
};

}  // namespace emulation_test
