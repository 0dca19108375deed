/// atomics: loads, stores and sums that order memory between blocks, with the order in the name.
///
/// One header, so that the only PTX of the library stands here. A compiler that is not nvcc uses its own
/// atomics, which mean the same. All are device-wide (scope .gpu).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace bird::device {

/// What was written before a release is seen after an acquire that reads its value.
__device__ inline std::uint32_t load_acquire(std::uint32_t const* address)
{
#if defined(__CUDA_ARCH__)
  std::uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
#else
  return __atomic_load_n(address, __ATOMIC_ACQUIRE);
#endif
}

__device__ inline void store_release(std::uint32_t* address, std::uint32_t value)
{
#if defined(__CUDA_ARCH__)
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
#else
  __atomic_store_n(address, value, __ATOMIC_RELEASE);
#endif
}

/// @returns the value before
__device__ inline std::uint32_t add_acquire_release(std::uint32_t* address, std::uint32_t value)
{
#if defined(__CUDA_ARCH__)
  std::uint32_t before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(address), "r"(value)
               : "memory");
  return before;
#else
  return __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL);
#endif
}

/// Sums, maxima and bits of counters that a barrier separates from their readers; they order nothing.
__device__ inline void add(std::uint64_t* address, std::uint64_t value)
{
  atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value));
}
__device__ inline void add(std::uint32_t* address, std::uint32_t value) { atomicAdd(address, value); }
__device__ inline void raise(std::uint32_t* address, std::uint32_t value) { atomicMax(address, value); }
__device__ inline void set_bits(std::uint32_t* address, std::uint32_t bits) { atomicOr(address, bits); }

}  // namespace bird::device
