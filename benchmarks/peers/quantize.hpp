/// Quantizers: every element is sent in fewer bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bird/span.hpp"

namespace bird::peers {

/// One bit an element (1 = negative, element i is bit i % 8 of byte i / 8). @returns mean |x|, the magnitude
float sign_pack(span<float const> gradient, std::uint8_t* bits);

/// Four bits an element, as QSGD and CGX do: buckets of 512 between their least and largest value, in 15
/// steps, rounded at random so that the mean is the element's own. In every run of 32 elements, byte j holds
/// element j in its low and element 16 + j in its high half. gradient.size() is a multiple of
/// bucket_elements.
inline constexpr std::size_t bucket_elements = 512;
struct bucket_range {
  float least;
  float step;
};
void bucket_quantize(span<float const> gradient, std::uint32_t seed, std::uint8_t* packed,
                     bucket_range* ranges);

/// IEEE binary16, rounded to nearest even. `halves` is aligned to 64 bytes and written around the cache.
void half_cast(span<float const> gradient, std::uint16_t* halves);

}  // namespace bird::peers
