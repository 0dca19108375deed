/// How a caller's scratch is divided on the device, and how much of it is needed: the same walk does both.
#pragma once

#include <cstddef>
#include <cstdint>

#include "packet_layout.cuh"

namespace bird::device {

class scratch_cursor {
 public:
  /// @param scratch null to measure only
  explicit scratch_cursor(std::byte* scratch) : scratch_{scratch} {}

  /// Room for `count` of T at a multiple of 16 bytes; null when nothing is wanted or only measured.
  template <class T>
  T* take(std::uint64_t count)
  {
    std::byte* const first = scratch_ == nullptr || count == 0 ? nullptr : scratch_ + taken_;
    taken_ += rule::round_up(count * sizeof(T), rule::section_alignment);
    return reinterpret_cast<T*>(first);
  }
  [[nodiscard]] std::uint64_t taken() const { return taken_; }

 private:
  std::byte* scratch_;
  std::uint64_t taken_ = 0;
};

}  // namespace bird::device
