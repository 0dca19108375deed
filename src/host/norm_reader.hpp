/// Norms of a segment, a chunk at a time, whether they were stored or are the elements themselves.
#pragma once

#include "dispatch.hpp"
#include "host/stages.hpp"

namespace bird::host {

/// Norms of tiles [first, first + count) of a segment. With tiles of one element a norm is |x|: reading the
/// tensor again is cheaper than storing as many norms. A non-finite element counts as zero, as in tile_norms.
class norm_reader {
 public:
  norm_reader(segment_plan const& segment, dtype type, float const* norms, bool non_finite)
    : data_{segment.data},
      type_{type},
      non_finite_{non_finite},
      norms_{norms == nullptr ? nullptr : norms + segment.first_tile}
  {
  }

  /// @param buffer of `count`, used where the norms are not stored
  [[nodiscard]] float const* read(std::uint64_t first, std::uint64_t count, float* buffer) const
  {
    if (norms_ != nullptr) {
      return norms_ + first;
    }
    dispatch(type_, [&](auto tag) {
      using T                 = typename decltype(tag)::type;
      T const* const elements = static_cast<T const*>(data_) + first;
      for (std::uint64_t i = 0; i < count; ++i) {
        float const value = rule::magnitude(rule::widen(elements[i]));
        buffer[i]         = rule::is_finite(value) ? value : 0.0F;
      }
    });
    return buffer;
  }

  /// The same up to the sign of each norm, which saves a copy where the elements are floats.
  [[nodiscard]] float const* read_signed(std::uint64_t first, std::uint64_t count, float* buffer) const
  {
    bool const as_they_are = norms_ == nullptr && type_ == dtype::float32 && !non_finite_;
    return as_they_are ? static_cast<float const*>(data_) + first : read(first, count, buffer);
  }

 private:
  void const* data_;
  dtype type_;
  bool non_finite_;
  float const* norms_;
};

}  // namespace bird::host
