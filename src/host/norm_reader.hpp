/// Norms of a segment, a chunk at a time, whether they were stored or are the elements themselves.
#pragma once

#include "host/dispatch.hpp"
#include "host/stages.hpp"

namespace bird::host {

/// Norms of tiles [first, first + count) of a segment. With tiles of one element a norm is |x|: reading the
/// tensor again is cheaper than storing as many norms. A non-finite element counts as zero, as in tile_norms.
class norm_reader {
 public:
  norm_reader(segment_plan const& segment, dtype type, float const* norms)
    : data_{segment.data}, type_{type}, norms_{norms == nullptr ? nullptr : norms + segment.first_tile}
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

 private:
  void const* data_;
  dtype type_;
  float const* norms_;
};

}  // namespace bird::host
