/// real: the element types of a tensor and float, converted by integer arithmetic.
///
/// Written out rather than taken from cuda_fp16.h so that host and device round alike and a host-only
/// build needs no toolkit. Widening is exact; narrowing rounds to nearest, ties to even.
#pragma once

#include "bird/tensor.hpp"
#include "rule.cuh"

#if !defined(__CUDA_ARCH__)
#include <cstring>
#endif

namespace bird::rule {

/// Storage of the 16-bit types; float stores itself.
struct half16 {
  std::uint16_t bits;
};
struct bfloat16 {
  std::uint16_t bits;
};

BIRD_RULE std::uint32_t bits_of(float value)
{
#if defined(__CUDA_ARCH__)
  return __float_as_uint(value);
#else
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
#endif
}

BIRD_RULE float float_of(std::uint32_t bits)
{
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
#endif
}

inline constexpr std::uint32_t sign_mask      = 0x80000000U;
inline constexpr std::uint32_t infinity_bits  = 0x7F800000U;
inline constexpr std::uint32_t quiet_nan_bits = 0x7FC00000U;
inline constexpr float largest_float          = 3.40282346638528859812e38F;

BIRD_RULE bool is_finite(float value) { return (bits_of(value) & ~sign_mask) < infinity_bits; }
BIRD_RULE float magnitude(float value) { return float_of(bits_of(value) & ~sign_mask); }

BIRD_RULE float widen(float value) { return value; }
BIRD_RULE float widen(bfloat16 value) { return float_of(static_cast<std::uint32_t>(value.bits) << 16); }
BIRD_RULE float widen(half16 value)
{
  std::uint32_t const sign     = static_cast<std::uint32_t>(value.bits & 0x8000U) << 16;
  std::uint32_t const exponent = value.bits >> 10 & 0x1FU;
  std::uint32_t const mantissa = value.bits & 0x3FFU;
  if (exponent == 0x1F) {
    return float_of(sign | infinity_bits | mantissa << 13);
  }
  if (exponent == 0) {  // sub-normal: mantissa * 2^-24, exact in float
    float const small = static_cast<float>(mantissa) * 5.9604644775390625e-8F;
    return float_of(sign | bits_of(small));
  }
  return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
}

template <class T>
struct narrow_to;

template <>
struct narrow_to<float> {
  static BIRD_RULE float from(float value) { return value; }
};

template <>
struct narrow_to<bfloat16> {
  static BIRD_RULE bfloat16 from(float value)
  {
    std::uint32_t const bits = bits_of(value);
    if (!is_finite(value)) {
      bool const nan = (bits & ~sign_mask) > infinity_bits;
      return {static_cast<std::uint16_t>(bits >> 16 | (nan ? 0x40U : 0U))};
    }
    return {static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16)};
  }
};

template <>
struct narrow_to<half16> {
  static BIRD_RULE half16 from(float value)
  {
    std::uint32_t const sign = bits_of(value) >> 16 & 0x8000U;
    std::uint32_t const bits = bits_of(value) & ~sign_mask;
    if (bits > infinity_bits) {
      return {static_cast<std::uint16_t>(sign | 0x7E00U)};
    }
    if (bits >= 0x477FF000U) {  // 65520 and more round to infinity
      return {static_cast<std::uint16_t>(sign | 0x7C00U)};
    }
    if (bits < 0x38800000U) {  // below 2^-14: a multiple of 2^-24, rounded by adding 0.5 (ulp 2^-24)
      std::uint32_t const rounded = bits_of(float_of(bits) + 0.5F) - bits_of(0.5F);
      return {static_cast<std::uint16_t>(sign | rounded)};
    }
    std::uint32_t const rounded = bits + 0xFFFU + (bits >> 13 & 1U);
    return {static_cast<std::uint16_t>(sign | ((rounded - (112U << 23)) >> 13))};
  }
};

/// Largest finite value of a stored type, as float.
template <class T>
BIRD_RULE float largest();
template <>
BIRD_RULE float largest<float>()
{
  return largest_float;
}
template <>
BIRD_RULE float largest<half16>()
{
  return 65504.0F;
}
template <>
BIRD_RULE float largest<bfloat16>()
{
  return 3.38953138925153547590e38F;
}

/// Narrows a finite value; one beyond the range becomes the largest finite value, since Inf would say
/// "overflow in the gradient", which it was not.
template <class T>
BIRD_RULE T narrow_saturating(float value)
{
  float const limit = largest<T>();
  return narrow_to<T>::from(value > limit ? limit : value < -limit ? -limit : value);
}

/// A double as a float; one beyond the range becomes the largest float, a NaN stays.
BIRD_RULE float to_finite_float(double sum)
{
  return sum > static_cast<double>(largest_float) ? largest_float : static_cast<float>(sum);
}

/// 2^exponent for exponents from -1022 to 1023, exactly.
BIRD_RULE double power_of_two(int exponent)
{
  auto const bits = static_cast<std::uint64_t>(exponent + 1023) << 52;
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
#endif
}

/// A power of two near 1 / value for a positive float, within 2^-126 .. 2^126; 1 for 0.
BIRD_RULE float power_of_two_near_inverse(float value)
{
  std::uint32_t const field = bits_of(value) >> 23 & 0xFFU;
  std::uint32_t const other = field >= 253 ? 1 : field == 0 ? 253 : 254 - field;
  return value == 0 ? 1.0F : float_of(other << 23);
}

}  // namespace bird::rule
