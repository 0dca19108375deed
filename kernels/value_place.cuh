/// value_place: where an element of a value region belongs.
///
///   region of a segment   | slot 0: stride elements | slot 1 | ... |     dealt out in batches of elements
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "device_list.cuh"

namespace bird::device {

/// Slot of the segment, and element of its tile.
struct value_place {
  std::uint32_t slot;
  std::uint32_t at;
};

/// Finds places in a batch. Its first place is found by a long division, the others by a short one.
class value_locator {
 public:
  __device__ value_locator(std::uint64_t begin, std::uint32_t stride)
    : begin_{begin},
      stride_{stride},
      slot_{static_cast<std::uint32_t>(begin / stride)},
      at_{static_cast<std::uint32_t>(begin % stride)}
  {
  }
  [[nodiscard]] __device__ value_place of(std::uint64_t element) const
  {
    auto const ahead = static_cast<std::uint32_t>(element - begin_);
    if (stride_ > batch_elements) {  // at most one boundary is crossed
      std::uint64_t const at = std::uint64_t{at_} + ahead;
      return at < stride_ ? value_place{slot_, static_cast<std::uint32_t>(at)}
                          : value_place{slot_ + 1, static_cast<std::uint32_t>(at - stride_)};
    }
    std::uint32_t const at = at_ + ahead;
    return {slot_ + at / stride_, at % stride_};
  }

 private:
  std::uint64_t begin_;
  std::uint32_t stride_;
  std::uint32_t slot_;
  std::uint32_t at_;
};

}  // namespace bird::device
