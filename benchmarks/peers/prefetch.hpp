/// The order in which a streaming loop asks for the lines ahead of it.
///
/// Some processors stop at page ends and gain from reading four pages at once; others lose a third by
/// it. So the pattern is measured once, and every peer uses the winner.
#pragma once

#include <cstddef>

namespace bird::peers {

/// For every 256 bytes at offset i, four lines are fetched:
/// (i & ~block) + distance + ((i & block) >> shift) + {0, 1, 2, 3} * stride.
struct prefetch_pattern {
  std::size_t block;     ///< bytes of a block less one; 0: strictly linear
  unsigned shift;        ///< log2 of the pages that are fetched side by side
  std::size_t distance;  ///< bytes ahead
  std::size_t stride;    ///< bytes from one line to the next

  // Always inlined: a function that does nothing but prefetch counts as one without effect, and GCC 12 drops
  // calls of it.
  __attribute__((always_inline)) void operator()(void const* base, std::size_t offset) const
  {
    char const* const line =
      static_cast<char const*>(base) + ((offset & ~block) + distance + ((offset & block) >> shift));
    __builtin_prefetch(line);
    __builtin_prefetch(line + stride);
    __builtin_prefetch(line + 2 * stride);
    __builtin_prefetch(line + 3 * stride);
  }
};

inline constexpr prefetch_pattern linear_prefetch{0, 0, 4096, 64};
inline constexpr prefetch_pattern page_interleaved_prefetch{16383, 2, 16384, 4096};

/// The faster of the two on this machine, by a measurement that is made at the first call.
prefetch_pattern const& best_prefetch();

}  // namespace bird::peers
