/// Anonymous memory for inputs and outputs, in huge pages where the system gives them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>

#include "bird/span.hpp"

namespace bird::peers {

enum class pages { huge, small };

/// `count` elements, zero at first. Memory is taken page by page as it is touched.
template <class T>
class array {
 public:
  array() = default;
  explicit array(std::size_t count, pages kind = pages::huge)
    : size_{count}, bytes_{count * sizeof(T) + slack}
  {
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::bad_alloc{};
    }
    data_ = static_cast<T*>(memory);
    madvise(memory, bytes_, kind == pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  array(array&& other) noexcept
    : data_{std::exchange(other.data_, nullptr)}, size_{std::exchange(other.size_, 0)}, bytes_{other.bytes_}
  {
  }
  array& operator=(array&& other) noexcept
  {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  array(array const&)            = delete;
  array& operator=(array const&) = delete;
  ~array()
  {
    if (data_ != nullptr) {
      munmap(data_, bytes_);
    }
  }

  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] T const* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  T const& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  T const* begin() const { return data_; }
  T const* end() const { return data_ + size_; }

 private:
  static constexpr std::size_t slack = 256;  // whole vectors may be stored past the last element

  T* data_           = nullptr;
  std::size_t size_  = 0;
  std::size_t bytes_ = 0;
};

}  // namespace bird::peers
