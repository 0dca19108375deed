/// Software prefetch for kernels that stream through a tensor once.
///
/// One sequential stream leaves a core's memory parallelism unused: Intel's hardware prefetcher works within
/// a 4 KiB page and starts afresh at each. There, touching four pages of the next 16 KiB in turn reads 1.4
/// to 1.7 times as fast. AMD's Zen 4 follows the stream by itself and loses a quarter from that pattern; it
/// gains a little from lines one page ahead. Both measured by `benchmarks/run` (rows "read limit").
#pragma once

#include <cstddef>
#include <cstdint>

// GCC 12 takes a function that only prefetches for one without effect and drops the calls of it, unless it is
// inlined before it can.
#define BIRD_ALWAYS_INLINE [[gnu::always_inline]] inline

namespace bird::host {

enum class prefetch_pattern : std::uint8_t { page_ahead, four_pages };

/// The pattern of this processor; found once.
[[nodiscard]] prefetch_pattern prefetch_pattern_of_cpu();

/// Follows a kernel through memory and prefetches ahead of it.
class stream_prefetch {
 public:
  static constexpr std::size_t page  = 4096;
  static constexpr std::size_t block = 4 * page;
  static constexpr std::size_t step  = 256;  ///< four lines of 64 bytes

  stream_prefetch(void const* begin, void const* end, prefetch_pattern pattern)
    : begin_{static_cast<char const*>(begin)},
      next_{begin_},
      end_{static_cast<char const*>(end)},
      pattern_{pattern}
  {
  }

  /// The kernel is about to read at `at`.
  BIRD_ALWAYS_INLINE void operator()(void const* at)
  {
    while (next_ <= at) {
      ahead(next_);
      next_ += step;
    }
  }

 private:
  BIRD_ALWAYS_INLINE void ahead(char const* at) const
  {
    if (pattern_ == prefetch_pattern::page_ahead) {
      for (std::size_t line = 0; line < step; line += 64) {
        touch(at + page + line);
      }
      return;
    }
    auto const offset       = static_cast<std::size_t>(at - begin_);
    char const* const first = at - offset % block + block + offset % block / 4;
    for (std::size_t pages = 0; pages < 4; ++pages) {
      touch(first + pages * page);
    }
  }
  /// A hint; the address need not be mapped, but stays inside the tensor so as not to read a neighbour's.
  BIRD_ALWAYS_INLINE void touch(char const* address) const
  {
    if (address < end_) {
      __builtin_prefetch(address);
    }
  }

  char const* begin_;
  char const* next_;
  char const* end_;
  prefetch_pattern pattern_;
};

}  // namespace bird::host

#undef BIRD_ALWAYS_INLINE
