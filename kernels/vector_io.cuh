/// vector_io: sixteen bytes at a time, and one element at a time where an address does not allow it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "real.cuh"

namespace bird::device {

/// Elements of type T in sixteen bytes.
template <class T>
inline constexpr std::uint32_t vector_width = 16 / sizeof(T);

__device__ inline bool is_vector_aligned(void const* address)
{
  return reinterpret_cast<std::uintptr_t>(address) % 16 == 0;
}

__device__ inline void unpack(std::uint32_t word, float, float* out) { out[0] = rule::float_of(word); }
template <class T>
__device__ inline void unpack(std::uint32_t word, T, float* out)
{
  out[0] = rule::widen(T{static_cast<std::uint16_t>(word)});
  out[1] = rule::widen(T{static_cast<std::uint16_t>(word >> 16)});
}

/// @param address a multiple of 16
template <class T>
__device__ inline void load_vector(T const* address, float* out)
{
  uint4 const raw = *reinterpret_cast<uint4 const*>(address);
  unpack(raw.x, T{}, out);
  unpack(raw.y, T{}, out + sizeof(std::uint32_t) / sizeof(T));
  unpack(raw.z, T{}, out + 2 * sizeof(std::uint32_t) / sizeof(T));
  unpack(raw.w, T{}, out + 3 * sizeof(std::uint32_t) / sizeof(T));
}

/// Elements first, first + 1, ... of which `count` exist; zeros take the place of the others.
template <class T>
__device__ inline void load_some(T const* elements, std::uint64_t first, std::uint64_t count, bool aligned,
                                 float* out)
{
  constexpr std::uint32_t width = vector_width<T>;
  if (aligned && first + width <= count) {
    load_vector(elements + first, out);
    return;
  }
  for (std::uint32_t i = 0; i < width; ++i) {
    out[i] = first + i < count ? rule::widen(elements[first + i]) : 0.0F;
  }
}

__device__ inline std::uint32_t pack(float const* values, float) { return rule::bits_of(values[0]); }
template <class T>
__device__ inline std::uint32_t pack(T const* values, T)
{
  return static_cast<std::uint32_t>(values[0].bits) | static_cast<std::uint32_t>(values[1].bits) << 16;
}

/// @param address a multiple of 16
template <class T>
__device__ inline void store_vector(T* address, T const* values)
{
  constexpr std::uint32_t a_word = sizeof(std::uint32_t) / sizeof(T);
  *reinterpret_cast<uint4*>(address) =
    make_uint4(pack(values, T{}), pack(values + a_word, T{}), pack(values + 2 * a_word, T{}),
               pack(values + 3 * a_word, T{}));
}

}  // namespace bird::device
