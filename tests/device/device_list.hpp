/// Lists of tensors on the host and, equal, on the device.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "bird/compressor.hpp"
#include "machine.hpp"
#include "packet_layout.cuh"
#include "real.cuh"

namespace bird_test {

inline void require(cudaError_t status, char const* what)
{
  if (status != cudaSuccess) {
    throw std::runtime_error{std::string{what} + ": " + cudaGetErrorName(status)};
  }
}

/// Device memory with an offset, so that any alignment can be tested.
class device_buffer {
 public:
  explicit device_buffer(std::size_t bytes, std::size_t offset = 0) : bytes_{bytes}, offset_{offset}
  {
    require(cudaMalloc(&memory_, bytes + offset), "cudaMalloc");
  }
  ~device_buffer() { cudaFree(memory_); }
  device_buffer(device_buffer&& other) noexcept
    : memory_{std::exchange(other.memory_, nullptr)}, bytes_{other.bytes_}, offset_{other.offset_}
  {
  }
  device_buffer(device_buffer const&)            = delete;
  device_buffer& operator=(device_buffer const&) = delete;
  device_buffer& operator=(device_buffer&&)      = delete;

  [[nodiscard]] std::byte* data() const { return memory_ + offset_; }
  [[nodiscard]] bird::span<std::byte> span() const { return {data(), bytes_}; }
  void fill_from(void const* from) const
  {
    if (bytes_ != 0) {
      require(cudaMemcpy(data(), from, bytes_, cudaMemcpyHostToDevice), "cudaMemcpy");
    }
  }
  [[nodiscard]] std::vector<std::byte> bytes() const
  {
    std::vector<std::byte> copy(bytes_);
    if (bytes_ != 0) {
      require(cudaMemcpy(copy.data(), data(), bytes_, cudaMemcpyDeviceToHost), "cudaMemcpy");
    }
    return copy;
  }

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_;
  std::size_t offset_;
};

/// 16-byte aligned host memory.
class host_buffer {
 public:
  explicit host_buffer(std::size_t bytes) : bytes_{bytes}, storage_(bytes / 16 + 1) {}
  [[nodiscard]] bird::span<std::byte> span()
  {
    return {reinterpret_cast<std::byte*>(storage_.data()), bytes_};
  }

 private:
  struct alignas(16) unit {
    std::byte bytes[16];
  };
  std::size_t bytes_;
  std::vector<unit> storage_;
};

inline void store(bird::dtype type, float value, std::byte* at)
{
  if (type == bird::dtype::float32) {
    std::memcpy(at, &value, sizeof value);
  } else if (type == bird::dtype::float16) {
    auto const half = bird::rule::narrow_to<bird::rule::half16>::from(value);
    std::memcpy(at, &half, sizeof half);
  } else {
    auto const half = bird::rule::narrow_to<bird::rule::bfloat16>::from(value);
    std::memcpy(at, &half, sizeof half);
  }
}

struct shape {
  std::uint64_t count;
  bird::segment_role role = bird::segment_role::sampled;
  std::uint32_t row       = 0;
};

/// Normal numbers, some of them large, some zero.
class twin_list {
 public:
  /// @param misalignment elements by which device tensors stand off a multiple of 256 bytes
  twin_list(bird::dtype type, std::vector<shape> const& shapes, std::uint64_t seed,
            std::size_t misalignment = 0)
  {
    std::mt19937_64 random{seed};
    std::normal_distribution<float> normal;
    std::size_t const element = bird::element_bytes(type);
    for (shape const& s : shapes) {
      std::vector<std::byte> values(s.count * element);
      for (std::uint64_t i = 0; i < s.count; ++i) {
        float const scale = i / 200 % 5 == 0 ? 10.0F : 0.1F;
        store(type, i % 11 == 3 ? 0.0F : scale * normal(random), values.data() + i * element);
      }
      store_.push_back(std::move(values));
      on_device_.emplace_back(s.count * element, misalignment * element);
      host_.push_back({store_.back().data(), s.count, type, s.row, s.role});
      device_.push_back(host_.back());
      device_.back().data = on_device_.back().data();
    }
    upload();
  }

  [[nodiscard]] std::vector<bird::const_tensor_view> const& host() const { return host_; }
  [[nodiscard]] std::vector<bird::const_tensor_view> const& device() const { return device_; }
  void set(std::size_t tensor, std::uint64_t element, float value)
  {
    bird::dtype const type = host_[tensor].type;
    store(type, value, store_[tensor].data() + element * bird::element_bytes(type));
    upload();
  }

 private:
  void upload()
  {
    for (std::size_t i = 0; i < store_.size(); ++i) {
      on_device_[i].fill_from(store_[i].data());
    }
  }

  std::vector<std::vector<std::byte>> store_;
  std::vector<device_buffer> on_device_;
  std::vector<bird::const_tensor_view> host_;
  std::vector<bird::const_tensor_view> device_;
};

/// Tensors to decode into, on both sides, filled with a pattern.
class twin_outputs {
 public:
  twin_outputs(std::vector<bird::const_tensor_view> const& like, bird::dtype type)
  {
    for (bird::const_tensor_view const& view : like) {
      std::vector<std::byte> values(view.count * bird::element_bytes(type));
      for (std::uint64_t i = 0; i < view.count; ++i) {
        store(type, 0.25F * static_cast<float>(i % 7), values.data() + i * bird::element_bytes(type));
      }
      store_.push_back(std::move(values));
      on_device_.emplace_back(store_.back().size());
      on_device_.back().fill_from(store_.back().data());
      host_.push_back({store_.back().data(), view.count, type});
      device_.push_back({on_device_.back().data(), view.count, type});
    }
  }
  [[nodiscard]] std::vector<bird::tensor_view> const& host() const { return host_; }
  [[nodiscard]] std::vector<bird::tensor_view> const& device() const { return device_; }
  [[nodiscard]] bool same() const
  {
    for (std::size_t i = 0; i < store_.size(); ++i) {
      if (on_device_[i].bytes() != store_[i]) {
        return false;
      }
    }
    return true;
  }

 private:
  std::vector<std::vector<std::byte>> store_;
  std::vector<device_buffer> on_device_;
  std::vector<bird::tensor_view> host_;
  std::vector<bird::tensor_view> device_;
};

class stream {
 public:
  explicit stream(unsigned flags = cudaStreamNonBlocking)
  {
    require(cudaStreamCreateWithFlags(&handle_, flags), "cudaStreamCreateWithFlags");
  }
  ~stream() { cudaStreamDestroy(handle_); }
  stream(stream const&)            = delete;
  stream& operator=(stream const&) = delete;
  [[nodiscard]] cudaStream_t get() const { return handle_; }
  operator bird::stream_ref() const { return bird::stream_ref{handle_}; }
  void wait() const { require(cudaStreamSynchronize(handle_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t handle_ = nullptr;
};

/// Begins each test on a fresh machine, and fails it for whatever went wrong there.
class device_test : public ::testing::Test {
 protected:
  void SetUp() override
  {
    if (std::string const why = missing(); !why.empty()) {
      GTEST_SKIP() << why;
    }
    start_afresh();
    allocations_ = live_allocations();
  }
  void TearDown() override
  {
    if (!IsSkipped()) {
      EXPECT_EQ(complaints(), "");
      EXPECT_EQ(live_allocations(), allocations_) << "device memory was leaked";
    }
  }

 private:
  std::size_t allocations_ = 0;
};

}  // namespace bird_test
