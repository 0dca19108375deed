/// Runs a test with every vector instruction set that this processor has, and with any number of threads.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <omp.h>

namespace codec_test {

/// Calls body() once for each of Highway's targets, then lets Highway choose again.
template <class Body>
void for_each_target(Body const& body)
{
  for (std::int64_t const target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/// OpenMP's number of threads inside a scope.
class thread_count {
 public:
  explicit thread_count(int threads) : before_{omp_get_max_threads()} { omp_set_num_threads(threads); }
  ~thread_count() { omp_set_num_threads(before_); }
  thread_count(thread_count const&)            = delete;
  thread_count& operator=(thread_count const&) = delete;

 private:
  int before_;
};

}  // namespace codec_test
