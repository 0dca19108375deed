/// What an element-wise compressor makes of a gradient: positions and values of the kept elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bird/span.hpp"
#include "memory.hpp"
#include "threads.hpp"

namespace bird::peers {

/// Kept elements, without a promise on their order unless a function makes one.
struct sparse_view {
  std::uint32_t const* index = nullptr;
  float const* value         = nullptr;
  std::size_t count          = 0;
};

/// Room for the kept elements of a gradient of `capacity` elements, memory of which is touched only as far as
/// it is used. While threads compact, each writes from the begin of its own share; join() closes the gaps.
class sparse_buffer {
 public:
  sparse_buffer() = default;
  explicit sparse_buffer(std::size_t capacity)
    : index_{capacity, pages::small}, value_{capacity, pages::small}
  {
  }

  [[nodiscard]] std::uint32_t* index() { return index_.data(); }
  [[nodiscard]] float* value() { return value_.data(); }
  [[nodiscard]] sparse_view first(std::size_t count) const { return {index_.data(), value_.data(), count}; }

  /// Moves the runs that parts of a gradient of `total` elements left behind together.
  /// @returns elements in all
  std::size_t join(std::size_t total, std::vector<part_result<std::size_t>> const& counts)
  {
    int const parts    = static_cast<int>(counts.size());
    std::size_t joined = counts[0].value;
    for (int part = 1; part < parts; ++part) {
      joined += counts[static_cast<std::size_t>(part)].value;
    }
#pragma omp parallel for num_threads(std::min(parts, 2)) schedule(static, 1)
    for (int half = 0; half < 2; ++half) {
      std::size_t to = counts[0].value;
      for (int part = 1; part < parts; ++part) {
        std::size_t const n    = counts[static_cast<std::size_t>(part)].value;
        std::size_t const from = chunk_of(total, part, parts).begin;
        if (half == 0) {
          std::memmove(index_.data() + to, index_.data() + from, n * sizeof(std::uint32_t));
        } else {
          std::memmove(value_.data() + to, value_.data() + from, n * sizeof(float));
        }
        to += n;
      }
    }
    return joined;
  }

 private:
  array<std::uint32_t> index_;
  array<float> value_;
};

/// Magnitudes compare as integers: the bits of |x|. NaN is larger than all numbers.
inline std::uint32_t magnitude_bits(float x)
{
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits & 0x7FFFFFFFU;
}

inline float from_magnitude_bits(std::uint32_t bits)
{
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

/// Shortens `kept`, whose elements all have magnitude_bits >= threshold, to k by leaving out the last of
/// those that equal the threshold. @returns elements left
inline std::size_t drop_ties(sparse_buffer& kept, std::size_t count, std::uint32_t threshold, std::size_t k)
{
  if (count <= k) {
    return count;
  }
  std::size_t last = count;  // the excess is among the elements from here on
  for (std::size_t excess = count - k; excess > 0;) {
    excess -= magnitude_bits(kept.value()[--last]) == threshold ? 1U : 0U;
  }
  std::size_t left = last;
  for (std::size_t i = last; i < count; ++i) {
    if (magnitude_bits(kept.value()[i]) != threshold) {
      kept.index()[left]   = kept.index()[i];
      kept.value()[left++] = kept.value()[i];
    }
  }
  return left;
}

}  // namespace bird::peers
