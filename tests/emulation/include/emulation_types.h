/// The vector types of CUDA, with their alignment, and the words of its language that a C++ compiler must not
/// see.
#pragma once

#include <cstddef>
#include <cstdint>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __restrict__ __restrict
// One copy a block: see thread_local_image in ../machine.hpp.
#define __shared__ thread_local

// Two of a kind are aligned to their size, four to at most sixteen bytes.
#define BIRD_EMULATION_VECTORS(name, element)                                                     \
  struct alignas(2 * sizeof(element)) name##2 { element x, y; };                                  \
  struct name##3 { element x, y, z; };                                                            \
  struct alignas(sizeof(element) < 4 ? 4 * sizeof(element) : 16) name##4 { element x, y, z, w; }; \
  inline name##2 make_##name##2(element x, element y) { return {x, y}; }                          \
  inline name##3 make_##name##3(element x, element y, element z) { return {x, y, z}; }            \
  inline name##4 make_##name##4(element x, element y, element z, element w) { return {x, y, z, w}; }
BIRD_EMULATION_VECTORS(char, signed char)
BIRD_EMULATION_VECTORS(uchar, unsigned char)
BIRD_EMULATION_VECTORS(short, short)
BIRD_EMULATION_VECTORS(ushort, unsigned short)
BIRD_EMULATION_VECTORS(int, int)
BIRD_EMULATION_VECTORS(uint, unsigned)
BIRD_EMULATION_VECTORS(longlong, long long)
BIRD_EMULATION_VECTORS(ulonglong, unsigned long long)
BIRD_EMULATION_VECTORS(float, float)
BIRD_EMULATION_VECTORS(double, double)
#undef BIRD_EMULATION_VECTORS

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x{x_}, y{y_}, z{z_} {}
};
