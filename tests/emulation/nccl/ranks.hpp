/// Ranks as threads, for the loopback's tests.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "loopback.h"

namespace loopback_test {

/// Runs body(rank) in as many threads and waits for them.
inline void in_threads(int ranks, std::function<void(int)> const& body)
{
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back(body, r);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

inline ncclUniqueId new_id()
{
  ncclUniqueId id;
  EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  return id;
}

/// Runs body(comm, rank) on the ranks of a new communicator, and destroys it.
inline void on_ranks(int ranks, std::function<void(ncclComm_t, int)> const& body)
{
  ncclUniqueId const id = new_id();
  in_threads(ranks, [&](int rank) {
    ncclComm_t comm = nullptr;
    ASSERT_EQ(ncclCommInitRank(&comm, ranks, id, rank), ncclSuccess) << ncclGetLastError(nullptr);
    body(comm, rank);
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  });
}

/// No plan of faults and no handle outlives its test.
class Loopback : public ::testing::Test {
 protected:
  void TearDown() override
  {
    loopbackPlanFaults(nullptr);
    EXPECT_EQ(loopbackLiveCommunicators(), 0);
  }
};

}  // namespace loopback_test
