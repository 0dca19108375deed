/// Bits, roundings, cached loads and stores of device code.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "emulation_threads.h"

inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline int __popcll(unsigned long long value) { return __builtin_popcountll(value); }
inline int __clz(int value) { return value == 0 ? 32 : __builtin_clz(static_cast<unsigned>(value)); }
inline int __clzll(long long value)
{
  return value == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(value));
}
inline int __ffs(int value) { return __builtin_ffs(value); }
inline int __ffsll(long long value) { return __builtin_ffsll(value); }
inline unsigned long long __brevll(unsigned long long value)
{
  unsigned long long reversed = 0;
  for (int bit = 0; bit < 64; ++bit) {
    reversed |= (value >> bit & 1U) << (63 - bit);
  }
  return reversed;
}
inline unsigned __brev(unsigned value) { return static_cast<unsigned>(__brevll(value) >> 32); }

inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(std::uint64_t{a} * b >> 32); }
inline int __mulhi(int a, int b) { return static_cast<int>(std::int64_t{a} * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
  __extension__ using wide = unsigned __int128;
  return static_cast<unsigned long long>(static_cast<wide>(a) * b >> 64);
}

inline unsigned __float_as_uint(float value)
{
  return emulation::value_of<unsigned>(emulation::bits_of(value));
}
inline int __float_as_int(float value) { return emulation::value_of<int>(emulation::bits_of(value)); }
inline float __uint_as_float(unsigned value) { return emulation::value_of<float>(value); }
inline float __int_as_float(int value) { return emulation::value_of<float>(static_cast<unsigned>(value)); }
inline long long __double_as_longlong(double value)
{
  return emulation::value_of<long long>(emulation::bits_of(value));
}
inline double __longlong_as_double(long long value)
{
  return emulation::value_of<double>(emulation::bits_of(value));
}

// The host rounds to nearest, and is compiled without contraction.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dsqrt_rn(double a) { return std::sqrt(a); }

// Where a value is cached makes no difference here.
#define BIRD_EMULATION_LOAD(name) \
  template <class T>              \
  T name(T const* address)        \
  {                               \
    return *address;              \
  }
BIRD_EMULATION_LOAD(__ldg)
BIRD_EMULATION_LOAD(__ldca)
BIRD_EMULATION_LOAD(__ldcg)
BIRD_EMULATION_LOAD(__ldcs)
BIRD_EMULATION_LOAD(__ldlu)
#undef BIRD_EMULATION_LOAD
#define BIRD_EMULATION_STORE(name)                   \
  template <class T>                                 \
  void name(T* address, std::common_type_t<T> value) \
  {                                                  \
    *address = value;                                \
  }
BIRD_EMULATION_STORE(__stwb)
BIRD_EMULATION_STORE(__stcg)
BIRD_EMULATION_STORE(__stcs)
BIRD_EMULATION_STORE(__stwt)
#undef BIRD_EMULATION_STORE

template <class T>
constexpr std::enable_if_t<std::is_arithmetic_v<T>, T> min(T a, T b)
{
  return b < a ? b : a;
}
template <class T>
constexpr std::enable_if_t<std::is_arithmetic_v<T>, T> max(T a, T b)
{
  return a < b ? b : a;
}
