/// OpenMP as the stages use it, with arithmetic that does not depend on the caller's settings.
#pragma once

#include <omp.h>

#include <cfenv>
#include <cstdint>

namespace bird::host {

/// Round to nearest and keep sub-normal numbers, whatever the caller set for its own thread (frameworks
/// flush sub-normals to zero, which would change norms and so the sample). Restores the caller's settings.
class default_arithmetic {
 public:
  default_arithmetic()
  {
    std::fegetenv(&caller_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~default_arithmetic() { std::fesetenv(&caller_); }
  default_arithmetic(default_arithmetic const&)            = delete;
  default_arithmetic& operator=(default_arithmetic const&) = delete;

 private:
  std::fenv_t caller_{};
};

/// Elements below which waking the threads (about 3 us) costs more than they save.
inline constexpr std::uint64_t parallel_elements = 256 * 1024;

/// Calls body(i) for i in [0, items), by OpenMP's threads if `many`. Each i is independent of the others.
template <class Body>
void parallel_for(std::uint64_t items, bool many, Body const& body)
{
  if (!many || items < 2) {
    for (std::uint64_t i = 0; i < items; ++i) {
      body(i);
    }
    return;
  }
#pragma omp parallel
  {
    default_arithmetic const settings;
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(items); ++i) {
      body(static_cast<std::uint64_t>(i));
    }
  }
}

/// Calls body(begin, end) for contiguous stretches that cover [0, items), one a thread.
template <class Body>
void parallel_ranges(std::uint64_t items, bool many, Body const& body)
{
  if (!many || items < 2) {
    body(std::uint64_t{0}, items);
    return;
  }
#pragma omp parallel
  {
    default_arithmetic const settings;
    auto const threads = static_cast<std::uint64_t>(omp_get_num_threads());
    auto const thread  = static_cast<std::uint64_t>(omp_get_thread_num());
    body(items * thread / threads, items * (thread + 1) / threads);
  }
}

}  // namespace bird::host
