/// Runs a lambda as a kernel, for tests of what device code may call.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <vector>

#include "emulation.hpp"

namespace emulation_test {

using value = unsigned long long;

template <class Body>
__global__ void store_results(Body body, value* results)
{
  results[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<value>(body(threadIdx.x));
}

template <class Body>
__global__ void only_run(Body body)
{
  body(threadIdx.x);
}

/// Starts body(number of the thread in its block) and waits. Its captures must be device memory or values.
template <class Body>
cudaError_t run(Body const& body, unsigned threads = 32, unsigned blocks = 1)
{
  cudaLaunchConfig_t config{};
  config.gridDim           = dim3(blocks);
  config.blockDim          = dim3(threads);
  cudaError_t const status = cudaLaunchKernelEx(&config, only_run<Body>, body);
  return status != cudaSuccess ? status : cudaDeviceSynchronize();
}

/// What each thread returned; a report fails the test.
template <class Body>
std::vector<value> results_of(Body const& body, unsigned threads = 32, unsigned blocks = 1)
{
  std::vector<value> results(std::size_t{threads} * blocks);
  std::size_t const bytes = results.size() * sizeof(value);
  value* memory           = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
  cudaLaunchConfig_t config{};
  config.gridDim  = dim3(blocks);
  config.blockDim = dim3(threads);
  EXPECT_EQ(cudaLaunchKernelEx(&config, store_results<Body>, body, memory), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(results.data(), memory, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(emulation::take_reports(), "");
  cudaFree(memory);
  return results;
}

/// Device memory that holds one value.
template <class T>
class device_value {
 public:
  explicit device_value(T initial)
  {
    EXPECT_EQ(cudaMalloc(&memory_, sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(memory_, &initial, sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~device_value() { cudaFree(memory_); }
  device_value(device_value const&)            = delete;
  device_value& operator=(device_value const&) = delete;
  [[nodiscard]] T* address() const { return memory_; }
  [[nodiscard]] T get() const
  {
    T copy{};
    EXPECT_EQ(cudaMemcpy(&copy, memory_, sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return copy;
  }

 private:
  T* memory_ = nullptr;
};

/// A fresh device for each test.
class on_device : public ::testing::Test {
 protected:
  void SetUp() override { emulation::reset(); }
  void TearDown() override { emulation::reset(); }
};

}  // namespace emulation_test
