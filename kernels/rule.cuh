/// What every rule header needs: the qualifier of a function that runs on host and device alike.
///
/// Rules are pure functions: no memory of their own, no clock, no launch shape. Both backends call
/// them, which is why both give the same bits. They are compiled without contraction of a * b + c
/// (-ffp-contract=off, -fmad=false), since a fused and an unfused sum round differently.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define BIRD_RULE __host__ __device__ inline
#else
#define BIRD_RULE inline
#endif

namespace bird::rule {

/// Product of two 64-bit numbers, which systematic positions and probabilities need in full.
/// (__extension__: a GNU type that ISO C++ does not know; nvcc has it on the device since CUDA 11.5.)
__extension__ typedef unsigned __int128 uint128;

/// Bits that are needed to write `value`; 0 for 0.
BIRD_RULE std::uint32_t bit_width(std::uint64_t value)
{
#if defined(__CUDA_ARCH__)
  return 64U - static_cast<std::uint32_t>(__clzll(static_cast<long long>(value)));
#else
  return value == 0 ? 0U : 64U - static_cast<std::uint32_t>(__builtin_clzll(value));
#endif
}

/// Quotient rounded up.
BIRD_RULE std::uint64_t ceil_div(std::uint64_t dividend, std::uint64_t divisor)
{
  return dividend / divisor + (dividend % divisor != 0 ? 1 : 0);
}

/// The next multiple of `alignment`, a power of two.
BIRD_RULE std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment)
{
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace bird::rule
