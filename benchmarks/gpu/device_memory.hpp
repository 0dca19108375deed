/// Device memory of the benchmarks.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "bird/span.hpp"
#include "launch.hpp"

namespace bird::bench {

class device_buffer {
 public:
  explicit device_buffer(std::size_t bytes) : bytes_{bytes}
  {
    device::check(cudaMalloc(&memory_, bytes), "cudaMalloc");
  }
  ~device_buffer() { cudaFree(memory_); }
  device_buffer(device_buffer&& other) noexcept
    : memory_{std::exchange(other.memory_, nullptr)}, bytes_{other.bytes_}
  {
  }
  device_buffer(device_buffer const&)            = delete;
  device_buffer& operator=(device_buffer const&) = delete;
  device_buffer& operator=(device_buffer&&)      = delete;

  template <class T>
  [[nodiscard]] T* as() const
  {
    return reinterpret_cast<T*>(memory_);
  }
  [[nodiscard]] span<std::byte> bytes() const { return {memory_, bytes_}; }

  void upload(void const* from) const
  {
    device::check(cudaMemcpy(memory_, from, bytes_, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  void clear() const { device::check(cudaMemset(memory_, 0, bytes_), "cudaMemset"); }
  template <class T>
  [[nodiscard]] std::vector<T> download(std::size_t count) const
  {
    std::vector<T> copy(count);
    device::check(cudaMemcpy(copy.data(), memory_, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return copy;
  }

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_;
};

}  // namespace bird::bench
