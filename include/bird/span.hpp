/// A pointer and a length: C++20's std::span, as far as this library's interfaces need it in C++17.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace bird {

template <class T>
class span {
 public:
  constexpr span() noexcept = default;
  constexpr span(T* data, std::size_t size) noexcept : data_{data}, size_{size} {}

  template <std::size_t N>
  constexpr span(T (&array)[N]) noexcept : data_{array}, size_{N}
  {
  }

  /// Any contiguous container whose elements convert to T without changing size (vector, array, span).
  template <class Container,
            class Element = std::remove_pointer_t<decltype(std::declval<Container&>().data())>,
            class         = std::enable_if_t<std::is_convertible_v<Element (*)[], T (*)[]>>>
  constexpr span(Container&& container) noexcept : data_{container.data()}, size_{container.size()}
  {
  }

  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr T* begin() const noexcept { return data_; }
  [[nodiscard]] constexpr T* end() const noexcept { return data_ + size_; }
  constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }

  [[nodiscard]] constexpr span first(std::size_t count) const noexcept { return {data_, count}; }
  [[nodiscard]] constexpr span subspan(std::size_t offset) const noexcept
  {
    return {data_ + offset, size_ - offset};
  }
  [[nodiscard]] constexpr span subspan(std::size_t offset, std::size_t count) const noexcept
  {
    return {data_ + offset, count};
  }

 private:
  T* data_          = nullptr;
  std::size_t size_ = 0;
};

}  // namespace bird
