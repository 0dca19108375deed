/// Atomic functions and fences of device code, for the types that CUDA has them for.
///
/// Relaxed, as on a device, and written with the compiler's own atomics, so that the checked lane sees them.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "emulation_threads.h"

namespace emulation {

/// The word that stands for a T in a compare-and-swap; it may alias the T.
template <class T>
struct carrier {
  using type [[gnu::may_alias]] = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
};

template <class T, class... Allowed>
inline constexpr bool is_one_of = (std::is_same_v<T, Allowed> || ...);
template <class T>
inline constexpr bool has_bits = is_one_of<T, int, unsigned, unsigned long long>;
template <class T>
inline constexpr bool has_order = has_bits<T> || is_one_of<T, long long>;
template <class T>
inline constexpr bool has_sum = has_bits<T> || is_one_of<T, float, double>;

/// Replaces the value by change(value). @returns the value before
template <class T, class Change>
T change_atomically(T* address, Change const& change)
{
  using word      = typename carrier<T>::type;
  auto* const at  = reinterpret_cast<word*>(address);
  auto const of   = [](word bits) { return value_of<T>(bits); };
  auto const bits = [](T value) { return static_cast<word>(bits_of(value)); };
  may_be_overtaken();
  word before = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(at, &before, bits(change(of(before))), false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {}
  return of(before);
}

template <class T>
using same = std::common_type_t<T>;  // no deduction from the second argument

}  // namespace emulation

template <class T>
T atomicAdd(T* address, emulation::same<T> value)
{
  static_assert(emulation::has_sum<T>);
  if constexpr (std::is_integral_v<T>) {
    emulation::may_be_overtaken();
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
  } else {
    return emulation::change_atomically(address, [=](T before) { return before + value; });
  }
}
template <class T>
T atomicSub(T* address, emulation::same<T> value)
{
  static_assert(emulation::is_one_of<T, int, unsigned>);
  emulation::may_be_overtaken();
  return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
}
template <class T>
T atomicAnd(T* address, emulation::same<T> value)
{
  static_assert(emulation::has_bits<T>);
  emulation::may_be_overtaken();
  return __atomic_fetch_and(address, value, __ATOMIC_RELAXED);
}
template <class T>
T atomicOr(T* address, emulation::same<T> value)
{
  static_assert(emulation::has_bits<T>);
  emulation::may_be_overtaken();
  return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
}
template <class T>
T atomicXor(T* address, emulation::same<T> value)
{
  static_assert(emulation::has_bits<T>);
  emulation::may_be_overtaken();
  return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);
}
template <class T>
T atomicExch(T* address, emulation::same<T> value)
{
  static_assert(emulation::has_bits<T> || std::is_same_v<T, float>);
  return emulation::change_atomically(address, [=](T) { return value; });
}
template <class T>
T atomicMax(T* address, emulation::same<T> value)
{
  static_assert(emulation::has_order<T>);
  return emulation::change_atomically(address, [=](T before) { return before < value ? value : before; });
}
template <class T>
T atomicMin(T* address, emulation::same<T> value)
{
  static_assert(emulation::has_order<T>);
  return emulation::change_atomically(address, [=](T before) { return value < before ? value : before; });
}
template <class T>
T atomicCAS(T* address, emulation::same<T> expected, emulation::same<T> value)
{
  static_assert(emulation::has_bits<T>);
  emulation::may_be_overtaken();
  T before = expected;
  __atomic_compare_exchange_n(address, &before, static_cast<T>(value), false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
  return before;
}

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
