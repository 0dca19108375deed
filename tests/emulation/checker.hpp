/// What the checked lane is told of device code.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emulation {

/// One access. `return_address` is in the code that makes it.
void access(void const* address, std::size_t size, bool writes, bool atomic, void const* return_address);

/// Before an atomic operation others may run. One that loads what it loaded before polls.
void before_atomic(void const* address, bool only_loads, std::uint64_t value);
/// @param order one of __ATOMIC_*
void after_atomic(void const* address, std::size_t size, bool reads, bool writes, int order,
                  void const* return_address);
void fence(int order);

}  // namespace emulation
