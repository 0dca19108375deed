/// Communicators are made, asked, split, shrunk and ended as NCCL's.
#include <algorithm>
#include <cstdlib>

#include "ranks.hpp"

namespace {

using namespace loopback_test;

class Communicator : public Loopback {};
class UniqueId : public Loopback {};
class Split : public Loopback {};
class Shrink : public Loopback {};
class NonBlocking : public Loopback {};
class Memory : public Loopback {};

/// The sum of the ranks' numbers, so that a test sees who takes part.
int sum_of_ranks(ncclComm_t comm)
{
  int rank = -1;
  EXPECT_EQ(ncclCommUserRank(comm, &rank), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(&rank, &rank, 1, ncclInt32, ncclSum, comm, nullptr), ncclSuccess);
  return rank;
}

TEST_F(Communicator, KnowsItsRankSizeAndDevice)
{
  on_ranks(3, [](ncclComm_t comm, int rank) {
    int count = 0;
    int self  = -1;
    EXPECT_EQ(ncclCommCount(comm, &count), ncclSuccess);
    EXPECT_EQ(ncclCommUserRank(comm, &self), ncclSuccess);
    EXPECT_EQ(count, 3);
    EXPECT_EQ(self, rank);
  });
}

TEST_F(Communicator, OfAllDevicesIsMadeAndUsedByOneThread)
{
  int const devices[3] = {4, 2, 7};
  ncclComm_t comms[3]  = {};
  ASSERT_EQ(ncclCommInitAll(comms, 3, devices), ncclSuccess);
  int values[3] = {1, 2, 4};
  ncclGroupStart();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ncclAllReduce(&values[i], &values[i], 1, ncclInt32, ncclSum, comms[i], nullptr), ncclSuccess);
  }
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  for (int i = 0; i < 3; ++i) {
    int device = -1;
    EXPECT_EQ(values[i], 7);
    EXPECT_EQ(ncclCommCuDevice(comms[i], &device), ncclSuccess);
    EXPECT_EQ(device, devices[i]);
    EXPECT_EQ(ncclCommDestroy(comms[i]), ncclSuccess);
  }
}

TEST_F(Communicator, WithADeviceTwiceIsRefused)
{
  int const devices[2] = {1, 1};
  ncclComm_t comms[2]  = {};
  EXPECT_EQ(ncclCommInitAll(comms, 2, devices), ncclInvalidUsage);
}

TEST_F(Communicator, MayBeMadeFromSeveralIds)
{
  ncclUniqueId ids[2] = {new_id(), new_id()};
  in_threads(2, [&](int rank) {
    ncclComm_t comm = nullptr;
    EXPECT_EQ(ncclCommInitRankScalable(&comm, 2, rank, 2, ids, nullptr), ncclSuccess);
    EXPECT_EQ(sum_of_ranks(comm), 1);
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  });
}

TEST_F(Communicator, DestroyedTwiceIsDetected)
{
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitAll(&comm, 1, nullptr), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(comm), ncclInvalidArgument);
  EXPECT_EQ(ncclCommAbort(comm), ncclInvalidArgument);
  int count = 0;
  EXPECT_EQ(ncclCommCount(comm, &count), ncclInvalidArgument);
}

TEST_F(Communicator, AddressIsGivenOutAgain)
{
  ncclComm_t first  = nullptr;
  ncclComm_t second = nullptr;
  ASSERT_EQ(ncclCommInitAll(&first, 1, nullptr), ncclSuccess);
  ncclCommDestroy(first);
  ASSERT_EQ(ncclCommInitAll(&second, 1, nullptr), ncclSuccess);
  EXPECT_EQ(first, second) << "so that a table keyed by addresses is found out";
  ncclCommDestroy(second);
}

TEST_F(Communicator, ThatIsNullMayBeEndedInEveryWay)
{
  EXPECT_EQ(ncclCommDestroy(nullptr), ncclSuccess);
  EXPECT_EQ(ncclCommAbort(nullptr), ncclSuccess);
  EXPECT_EQ(ncclCommFinalize(nullptr), ncclSuccess);
}

TEST_F(Communicator, FinalizedTakesNoMoreOperations)
{
  on_ranks(2, [](ncclComm_t comm, int) {
    EXPECT_EQ(sum_of_ranks(comm), 1);
    EXPECT_EQ(ncclCommFinalize(comm), ncclSuccess);
    int x = 0;
    EXPECT_EQ(ncclAllReduce(&x, &x, 1, ncclInt32, ncclSum, comm, nullptr), ncclInvalidUsage);
    EXPECT_EQ(ncclCommFinalize(comm), ncclInvalidUsage);
  });
}

TEST_F(Communicator, RevokedRefusesOperationsButMayBeShrunkAndDestroyed)
{
  on_ranks(2, [](ncclComm_t comm, int rank) {
    EXPECT_EQ(ncclCommRevoke(comm, 1), ncclInvalidArgument);
    EXPECT_EQ(ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT), ncclSuccess);
    int x = 0;
    EXPECT_EQ(ncclAllReduce(&x, &x, 1, ncclInt32, ncclSum, comm, nullptr), ncclInvalidUsage);
    EXPECT_EQ(ncclCommFinalize(comm), ncclInvalidUsage);
    ncclComm_t child = nullptr;
    EXPECT_EQ(ncclCommSplit(comm, 0, -rank, &child, nullptr), ncclSuccess);
    EXPECT_EQ(sum_of_ranks(child), 1);
    EXPECT_EQ(ncclCommDestroy(child), ncclSuccess);
  });
}

TEST_F(Communicator, ThatRanksDisagreeAboutIsRefused)
{
  ncclUniqueId const id = new_id();
  setenv("LOOPBACK_DEADLINE_MS", "300", 1);
  std::vector<ncclResult_t> results(2);
  in_threads(2, [&](int rank) {
    ncclComm_t comm                         = nullptr;
    results[static_cast<std::size_t>(rank)] = ncclCommInitRank(&comm, rank + 2, id, rank);
    EXPECT_EQ(comm, nullptr);
  });
  unsetenv("LOOPBACK_DEADLINE_MS");
  EXPECT_EQ(std::count(results.begin(), results.end(), ncclInvalidArgument), 1) << "the second says so";
  EXPECT_EQ(std::count(results.begin(), results.end(), ncclSystemError), 1) << "the first has waited";
}

TEST_F(Communicator, WhoseRanksDoNotComeGivesUpAndNamesThem)
{
  setenv("LOOPBACK_DEADLINE_MS", "100", 1);
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitRank(&comm, 3, new_id(), 1), ncclSystemError);
  unsetenv("LOOPBACK_DEADLINE_MS");
  EXPECT_NE(std::string(ncclGetLastError(nullptr)).find("came no rank 0 2"), std::string::npos)
    << ncclGetLastError(nullptr);
}

TEST_F(Communicator, HasRegistrationsThatAreCheckedAndEndWithIt)
{
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitAll(&comm, 1, nullptr), ncclSuccess);
  char buffer[64];
  void* handle     = nullptr;
  ncclWindow_t win = nullptr;
  EXPECT_EQ(ncclCommRegister(comm, nullptr, 64, &handle), ncclInvalidArgument);
  EXPECT_EQ(ncclCommRegister(comm, buffer, 64, &handle), ncclSuccess);
  EXPECT_EQ(ncclCommDeregister(comm, handle), ncclSuccess);
  EXPECT_EQ(ncclCommDeregister(comm, handle), ncclInvalidArgument);
  EXPECT_EQ(ncclCommWindowRegister(comm, buffer, 64, &win, 7), ncclInvalidArgument);
  EXPECT_EQ(ncclCommWindowRegister(comm, buffer, 64, &win, NCCL_WIN_COLL_SYMMETRIC), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess) << "and deregisters it";
}

TEST_F(UniqueId, IsOftenMadeNeverTwiceAndHasAZeroTail)
{
  ncclUniqueId const a = new_id();
  ncclUniqueId const b = new_id();
  EXPECT_FALSE(std::equal(a.internal, a.internal + NCCL_UNIQUE_ID_BYTES, b.internal));
  EXPECT_TRUE(std::all_of(a.internal + 24, a.internal + NCCL_UNIQUE_ID_BYTES, [](char c) { return c == 0; }));
}

TEST_F(UniqueId, ThatWasNotMadeByNcclIsRefused)
{
  ncclUniqueId id = new_id();
  id.internal[0] ^= 1;
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitRank(&comm, 1, id, 0), ncclInvalidArgument);
  id               = new_id();
  id.internal[127] = 1;
  EXPECT_EQ(ncclCommInitRank(&comm, 1, id, 0), ncclInvalidArgument);
}

TEST_F(Split, GroupsByColourAndOrdersByKey)
{
  on_ranks(4, [](ncclComm_t comm, int rank) {
    ncclComm_t child = nullptr;
    EXPECT_EQ(ncclCommSplit(comm, rank % 2, -rank, &child, nullptr), ncclSuccess);
    int count = 0;
    int self  = -1;
    ncclCommCount(child, &count);
    ncclCommUserRank(child, &self);
    EXPECT_EQ(count, 2);
    EXPECT_EQ(self, rank < 2 ? 1 : 0);
    int members = 1 << rank;
    EXPECT_EQ(ncclAllReduce(&members, &members, 1, ncclInt32, ncclSum, child, nullptr), ncclSuccess);
    EXPECT_EQ(members, rank % 2 == 0 ? 5 : 10);
    EXPECT_EQ(ncclCommDestroy(child), ncclSuccess);
  });
}

TEST_F(Split, WithoutAColourGivesNull)
{
  on_ranks(3, [](ncclComm_t comm, int rank) {
    auto child = reinterpret_cast<ncclComm_t>(&rank);
    EXPECT_EQ(ncclCommSplit(comm, rank == 0 ? NCCL_SPLIT_NOCOLOR : 5, rank, &child, nullptr), ncclSuccess);
    EXPECT_EQ(child == nullptr, rank == 0);
    if (child != nullptr) {
      EXPECT_EQ(sum_of_ranks(child), 1);
    }
    EXPECT_EQ(ncclCommDestroy(child), ncclSuccess);
  });
}

TEST_F(Split, WorksForAllRanksOfOneThreadInAGroup)
{
  ncclComm_t comms[3];
  ncclComm_t children[3];
  ASSERT_EQ(ncclCommInitAll(comms, 3, nullptr), ncclSuccess);
  ncclGroupStart();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ncclCommSplit(comms[i], 0, 0, &children[i], nullptr), ncclSuccess);
  }
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  for (int i = 0; i < 3; ++i) {
    int self = -1;
    EXPECT_EQ(ncclCommUserRank(children[i], &self), ncclSuccess);
    EXPECT_EQ(self, i);
    EXPECT_EQ(ncclCommDestroy(children[i]), ncclSuccess);
    EXPECT_EQ(ncclCommDestroy(comms[i]), ncclSuccess);
  }
}

TEST_F(Shrink, LeavesOutRanksThatDoNotCall)
{
  on_ranks(4, [](ncclComm_t comm, int rank) {
    int excluded[1] = {1};
    if (rank == 1) {
      return;
    }
    ncclComm_t child = nullptr;
    EXPECT_EQ(ncclCommShrink(comm, excluded, 1, &child, nullptr, NCCL_SHRINK_DEFAULT), ncclSuccess);
    EXPECT_EQ(sum_of_ranks(child), 3);
    EXPECT_EQ(ncclCommDestroy(child), ncclSuccess);
  });
}

TEST_F(Shrink, WithAbortEndsWhatTheParentWaitsFor)
{
  on_ranks(3, [](ncclComm_t comm, int rank) {
    if (rank == 2) {
      return;  // and leaves, so that the others' operation fails
    }
    int x = 0;
    EXPECT_EQ(ncclAllReduce(&x, &x, 1, ncclInt32, ncclSum, comm, nullptr), ncclRemoteError);
    int excluded[1]  = {2};
    ncclComm_t child = nullptr;
    EXPECT_EQ(ncclCommShrink(comm, excluded, 1, &child, nullptr, NCCL_SHRINK_DEFAULT), ncclRemoteError);
    EXPECT_EQ(ncclCommShrink(comm, excluded, 1, &child, nullptr, NCCL_SHRINK_ABORT), ncclSuccess);
    EXPECT_EQ(sum_of_ranks(child), 1);
    EXPECT_EQ(ncclCommDestroy(child), ncclSuccess);
  });
}

TEST_F(Shrink, WithoutItsOwnRankIsRefused)
{
  on_ranks(1, [](ncclComm_t comm, int) {
    int excluded[1]  = {0};
    ncclComm_t child = nullptr;
    EXPECT_EQ(ncclCommShrink(comm, excluded, 1, &child, nullptr, NCCL_SHRINK_DEFAULT), ncclInvalidArgument);
    EXPECT_EQ(ncclCommShrink(comm, excluded, 0, &child, nullptr, NCCL_SHRINK_DEFAULT), ncclInvalidArgument);
  });
}

/// Polls until it is no longer in progress; how often it was.
int polls_until_ready(ncclComm_t comm)
{
  ncclResult_t state = ncclInProgress;
  for (int polls = 0; polls < 20000; ++polls) {
    EXPECT_EQ(ncclCommGetAsyncError(comm, &state), ncclSuccess);
    if (state != ncclInProgress) {
      EXPECT_EQ(state, ncclSuccess) << ncclGetLastError(comm);
      return polls;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ADD_FAILURE() << "in progress for ever";
  return -1;
}

TEST_F(NonBlocking, IsInProgressUntilAllHaveJoined)
{
  ncclUniqueId const id = new_id();
  in_threads(2, [&](int rank) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking     = 0;
    ncclComm_t comm     = nullptr;
    EXPECT_EQ(ncclCommInitRankConfig(&comm, 2, id, rank, &config), ncclInProgress);
    ASSERT_NE(comm, nullptr);
    polls_until_ready(comm);
    EXPECT_EQ(sum_of_ranks(comm), 1);
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  });
}

TEST_F(NonBlocking, OperationRunsOnlyAfterThePlannedPolls)
{
  EXPECT_EQ(loopbackPlanFaults("polls:3"), ncclSuccess);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking     = 0;
  ncclComm_t comm     = nullptr;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, new_id(), 0, &config), ncclInProgress);
  EXPECT_GE(polls_until_ready(comm), 3);
  int const send = 5;
  int recv       = 0;
  EXPECT_EQ(ncclAllReduce(&send, &recv, 1, ncclInt32, ncclSum, comm, nullptr), ncclInProgress);
  EXPECT_EQ(recv, 0);
  EXPECT_EQ(ncclAllReduce(&send, &recv, 1, ncclInt32, ncclSum, comm, nullptr), ncclInvalidArgument)
    << "may not be used yet";
  EXPECT_EQ(polls_until_ready(comm), 3);
  EXPECT_EQ(recv, 5);
  EXPECT_EQ(ncclAllReduce(&send, &recv, 1, ncclInt32, ncclSum, comm, nullptr), ncclInProgress);
  EXPECT_EQ(ncclCommAbort(comm), ncclSuccess) << "forgets it";
}

TEST_F(NonBlocking, MayBeAbortedBeforeAnyoneElseJoins)
{
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking     = 0;
  ncclComm_t comm     = nullptr;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 2, new_id(), 0, &config), ncclInProgress);
  int count = 0;
  EXPECT_EQ(ncclCommCount(comm, &count), ncclInvalidArgument);
  EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
}

TEST_F(NonBlocking, ConfigThatWasNotInitializedIsRefused)
{
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  ncclComm_t comm     = nullptr;
  config.magic        = 1;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, new_id(), 0, &config), ncclInvalidArgument);
  config          = NCCL_CONFIG_INITIALIZER;
  config.blocking = 2;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, new_id(), 0, &config), ncclInvalidArgument);
}

TEST_F(Memory, IsAllocatedAlignedAndFreed)
{
  void* memory = nullptr;
  EXPECT_EQ(ncclMemAlloc(&memory, 1000), ncclSuccess);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0U);
  EXPECT_EQ(ncclMemFree(memory), ncclSuccess);
  EXPECT_EQ(ncclMemFree(nullptr), ncclSuccess);
  EXPECT_EQ(ncclMemAlloc(nullptr, 1), ncclInvalidArgument);
}

}  // namespace
