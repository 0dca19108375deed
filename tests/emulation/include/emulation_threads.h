/// Threads of device code: built-in variables, barriers, warp operations.
///
/// Only the `_sync` forms with explicit masks exist; what is not here does not compile, so that nothing is
/// emulated by accident.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "emulation_types.h"

extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;
inline constexpr int warpSize = 32;

namespace emulation {

enum class warp_operation : int { sync, shuffle, vote, match, reduce };

/// What the lanes of one warp operation brought.
struct warp_values {
  std::uint64_t value[32];
  unsigned mask;  ///< of the lanes that came: all of the caller's mask that have not ended
};

unsigned lane_number();
/// Shared memory of the size that the launch gave, in place of an array without a bound; null for none.
void* dynamic_shared_memory();
/// Returns when all lanes of the mask have come.
warp_values warp_meet(unsigned mask, warp_operation kind, std::uint64_t value);

enum class barrier_vote : int { none, count, all, any };
int block_barrier(barrier_vote vote, int predicate, int line);

void may_be_overtaken();  ///< another thread may run first
void wait_for_others();   ///< the caller polls
[[noreturn]] void report_from_kernel(char const* what);

template <class T>
std::uint64_t bits_of(T value)
{
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T value_of(std::uint64_t bits)
{
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
T shuffle(unsigned mask, T value, unsigned source, bool inside)
{
  warp_values const all = warp_meet(mask, warp_operation::shuffle, bits_of(value));
  if (!inside) {
    return value;
  }
  if ((all.mask >> source & 1U) == 0) {
    report_from_kernel("a shuffle reads a lane that is not in its mask");
  }
  return value_of<T>(all.value[source]);
}

template <class T, class Join>
T reduce(unsigned mask, T value, Join const& join)
{
  warp_values const all = warp_meet(mask, warp_operation::reduce, bits_of(value));
  T result{};
  bool first = true;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((all.mask >> lane & 1U) != 0) {
      T const its = value_of<T>(all.value[lane]);
      result      = first ? its : join(result, its);
      first       = false;
    }
  }
  return result;
}

}  // namespace emulation

// A barrier is known by its line: a compiler may duplicate the call.
inline void __syncthreads(int line = __builtin_LINE())
{
  emulation::block_barrier(emulation::barrier_vote::none, 0, line);
}
inline int __syncthreads_count(int predicate, int line = __builtin_LINE())
{
  return emulation::block_barrier(emulation::barrier_vote::count, predicate, line);
}
inline int __syncthreads_and(int predicate, int line = __builtin_LINE())
{
  return emulation::block_barrier(emulation::barrier_vote::all, predicate, line);
}
inline int __syncthreads_or(int predicate, int line = __builtin_LINE())
{
  return emulation::block_barrier(emulation::barrier_vote::any, predicate, line);
}

inline void __syncwarp(unsigned mask = 0xFFFFFFFFU)
{
  emulation::warp_meet(mask, emulation::warp_operation::sync, 0);
}
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32)
{
  unsigned const segment = emulation::lane_number() & ~static_cast<unsigned>(width - 1);
  return emulation::shuffle(
    mask, value, segment | (static_cast<unsigned>(source) & static_cast<unsigned>(width - 1)), true);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32)
{
  unsigned const lane = emulation::lane_number();
  return emulation::shuffle(mask, value, lane - distance,
                            (lane & static_cast<unsigned>(width - 1)) >= distance);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32)
{
  unsigned const lane = emulation::lane_number();
  bool const inside   = (lane & static_cast<unsigned>(width - 1)) + distance < static_cast<unsigned>(width);
  return emulation::shuffle(mask, value, lane + distance, inside);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32)
{
  unsigned const lane   = emulation::lane_number();
  unsigned const source = lane ^ static_cast<unsigned>(with);
  return emulation::shuffle(mask, value, source, source <= (lane | static_cast<unsigned>(width - 1)));
}
inline unsigned __ballot_sync(unsigned mask, int predicate)
{
  emulation::warp_values const all =
    emulation::warp_meet(mask, emulation::warp_operation::vote, predicate != 0 ? 1 : 0);
  unsigned votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    votes |= (all.mask >> lane & 1U) != 0 ? static_cast<unsigned>(all.value[lane]) << lane : 0U;
  }
  return votes;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0 ? 1 : 0; }
inline int __all_sync(unsigned mask, int predicate)
{
  return __ballot_sync(mask, predicate == 0) == 0 ? 1 : 0;
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value)
{
  emulation::warp_values const all =
    emulation::warp_meet(mask, emulation::warp_operation::match, emulation::bits_of(value));
  unsigned same = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    bool const equal = (all.mask >> lane & 1U) != 0 && all.value[lane] == emulation::bits_of(value);
    same |= equal ? 1U << lane : 0U;
  }
  return same;
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* all_equal)
{
  *all_equal = __match_any_sync(mask, value) == mask ? 1 : 0;
  return *all_equal != 0 ? mask : 0U;
}

// Of 32-bit integers only, as on a device.
#define BIRD_EMULATION_REDUCE(name, type, result)                                         \
  inline type __reduce_##name##_sync(unsigned mask, type value)                           \
  {                                                                                       \
    return emulation::reduce(mask, value, [](type a, type b) -> type { return result; }); \
  }
BIRD_EMULATION_REDUCE(add, unsigned, a + b)
BIRD_EMULATION_REDUCE(min, unsigned, a < b ? a : b)
BIRD_EMULATION_REDUCE(max, unsigned, a < b ? b : a)
BIRD_EMULATION_REDUCE(and, unsigned, a& b)
BIRD_EMULATION_REDUCE(or, unsigned, a | b)
BIRD_EMULATION_REDUCE(xor, unsigned, a ^ b)
BIRD_EMULATION_REDUCE(add, int, a + b)
BIRD_EMULATION_REDUCE(min, int, a < b ? a : b)
BIRD_EMULATION_REDUCE(max, int, a < b ? b : a)
#undef BIRD_EMULATION_REDUCE

/// Only the caller: no more is promised.
inline unsigned __activemask() { return 1U << emulation::lane_number(); }

inline void __nanosleep(unsigned) { emulation::wait_for_others(); }
[[noreturn]] inline void __trap() { emulation::report_from_kernel("__trap"); }
