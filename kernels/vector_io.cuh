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

/// The elements of sixteen bytes.
template <class T>
__device__ inline void unpack_vector(uint4 raw, T, float* out)
{
  unpack(raw.x, T{}, out);
  unpack(raw.y, T{}, out + sizeof(std::uint32_t) / sizeof(T));
  unpack(raw.z, T{}, out + 2 * sizeof(std::uint32_t) / sizeof(T));
  unpack(raw.w, T{}, out + 3 * sizeof(std::uint32_t) / sizeof(T));
}

/// @param address a multiple of 16
template <class T>
__device__ inline uint4 load_raw(T const* address)
{
  return *reinterpret_cast<uint4 const*>(address);
}

/// Elements first, first + 1, ... of which `count` exist; zeros take the place of the others.
template <class T>
__device__ inline void load_some(T const* elements, std::uint64_t first, std::uint64_t count, bool aligned,
                                 float* out)
{
  constexpr std::uint32_t width = vector_width<T>;
  if (aligned && first + width <= count) {
    unpack_vector(load_raw(elements + first), T{}, out);
    return;
  }
  for (std::uint32_t i = 0; i < width; ++i) {
    out[i] = first + i < count ? rule::widen(elements[first + i]) : 0.0F;
  }
}

/// Vectors that a thread has under way at once: with one the latency of the memory is not hidden.
inline constexpr std::uint32_t vectors_at_once = 4;

/// Calls visit(values) for the vectors at first, first + stride, ... below `end`, in this order; what lies
/// beyond `count` counts as zeros.
template <class T, class Number, class Visit>
__device__ inline void for_each_vector(T const* elements, Number first, Number end, std::uint32_t stride,
                                       Number count, bool aligned, Visit const& visit)
{
  constexpr std::uint32_t width = vector_width<T>;
  constexpr std::uint32_t many  = vectors_at_once;
  if (aligned) {
    std::uint32_t const reach = stride * (many - 1) + width;  // of the vectors at once
    for (; first + reach <= (end < count ? end : count); first += stride * many) {
      uint4 raw[many];
      for (std::uint32_t i = 0; i < many; ++i) {
        raw[i] = load_raw(elements + (first + stride * i));
      }
      for (std::uint32_t i = 0; i < many; ++i) {
        float values[width];
        unpack_vector(raw[i], T{}, values);
        visit(values);
      }
    }
  }
  for (; first < end; first += stride) {
    float values[width];
    load_some(elements, first, count, aligned, values);
    visit(values);
  }
}

__device__ inline std::uint32_t pack(float const* values, float) { return rule::bits_of(values[0]); }
template <class T>
__device__ inline std::uint32_t pack(T const* values, T)
{
  return static_cast<std::uint32_t>(values[0].bits) | static_cast<std::uint32_t>(values[1].bits) << 16;
}

template <class T>
__device__ inline uint4 pack_vector(T const* values)
{
  constexpr std::uint32_t a_word = sizeof(std::uint32_t) / sizeof(T);
  return make_uint4(pack(values, T{}), pack(values + a_word, T{}), pack(values + 2 * a_word, T{}),
                    pack(values + 3 * a_word, T{}));
}

/// @param address a multiple of 16
template <class T>
__device__ inline void store_vector(T* address, T const* values)
{
  *reinterpret_cast<uint4*>(address) = pack_vector(values);
}

/// Elements first, first + 1, ... of which `count` exist.
template <class T>
__device__ inline void store_some(T* elements, std::uint64_t first, std::uint64_t count, bool aligned,
                                  T const* values)
{
  constexpr std::uint32_t width = vector_width<T>;
  if (aligned && first + width <= count) {
    store_vector(elements + first, values);
    return;
  }
  for (std::uint32_t i = 0; i < width && first + i < count; ++i) {
    elements[first + i] = values[i];
  }
}

}  // namespace bird::device
