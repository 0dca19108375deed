/// values: what a kept tile's elements become on the wire, and back.
///
///   sign   one bit; decoded +-magnitude(scale, items), scale = norm that one slot carries
///          An exact zero has no sign: it gets a fair random bit (draw.cuh), so that its mean stays zero.
///          Measured on gradients of LeNet-5 on Fashion-MNIST (step 100, 36 % zeros, tiles of 8, ratio 0.1):
///          omega 1.19; with a mask of zeros and the tile's norm kept 1.25, and the mask costs bits; with +v
///          a bias of 0.17 |g|.
///   full   x * multiplier / scale; decoded stored * scale, scale = a power of two
#pragma once

#include "bird/packet.hpp"
#include "real.cuh"

namespace bird::rule {

/// Magnitude of each of the `items` elements of a sign-coded tile whose norm is to be `scale`.
BIRD_RULE float sign_magnitude(norm kind, float scale, std::uint32_t items)
{
  if (kind == norm::l1) {
    return scale / static_cast<float>(items);
  }
#if defined(__CUDA_ARCH__)
  return scale / __fsqrt_rn(static_cast<float>(items));
#else
  return scale / __builtin_sqrtf(static_cast<float>(items));
#endif
}

/// The least power of two, at least 1, that brings values up to `largest_value` into half the range of a
/// stored type. 1 for nearly every gradient; more where fp16 would overflow.
template <class Stored>
BIRD_RULE float value_scale(double largest_value)
{
  float scale = 1.0F;
  while (largest_value > 0.5 * static_cast<double>(largest<Stored>()) * static_cast<double>(scale) &&
         scale < 1.0e38F) {
    scale *= 2;
  }
  return scale;
}

/// The factor of a segment's stored values: 1 unless values of this sample could leave the stored type's
/// range.
BIRD_RULE float stored_scale(values what, dtype wire, double largest_value)
{
  if (what == values::bf16 || wire == dtype::bfloat16) {
    return value_scale<bfloat16>(largest_value);
  }
  return wire == dtype::float16 ? value_scale<half16>(largest_value) : value_scale<float>(largest_value);
}

}  // namespace bird::rule
