/// Groups and streams: nothing happens before the outermost end, and then in the order of each stream.
#include <atomic>
#include <chrono>

#include "ranks.hpp"

namespace {

using namespace loopback_test;

class Group : public Loopback {};
class Stream : public Loopback {};

cudaStream_t stream(std::uintptr_t n) { return reinterpret_cast<cudaStream_t>(n); }

TEST_F(Group, DoesNothingBeforeTheOutermostEnd)
{
  on_ranks(1, [](ncclComm_t comm, int) {
    int const send = 3;
    int recv       = 0;
    ncclGroupStart();
    ncclGroupStart();
    EXPECT_EQ(ncclAllReduce(&send, &recv, 1, ncclInt32, ncclSum, comm, nullptr), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_EQ(recv, 0);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_EQ(recv, 3);
  });
}

TEST_F(Group, EndWithoutAStartIsRefused)
{
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  EXPECT_EQ(ncclGroupSimulateEnd(nullptr), ncclInvalidUsage);
}

TEST_F(Group, IsOfOneThreadOnly)
{
  on_ranks(1, [](ncclComm_t comm, int) {
    ncclGroupStart();
    std::thread([&] {
      int x = 2;
      EXPECT_EQ(ncclAllReduce(&x, &x, 1, ncclInt32, ncclAvg, comm, nullptr), ncclSuccess);
      EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    }).join();
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  });
}

TEST_F(Group, HoldsAnErrorUntilItsEndAndThenDoesNothing)
{
  on_ranks(1, [](ncclComm_t comm, int) {
    int const send = 3;
    int recv       = 0;
    ncclGroupStart();
    EXPECT_EQ(ncclAllReduce(&send, &recv, 1, ncclInt32, ncclSum, comm, nullptr), ncclSuccess);
    EXPECT_EQ(ncclBroadcast(&send, &recv, 1, ncclInt32, 9, comm, nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    EXPECT_EQ(recv, 0);
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess) << "the next one is clean";
  });
}

TEST_F(Group, SimulatedIsForgotten)
{
  on_ranks(1, [](ncclComm_t comm, int) {
    int const send     = 3;
    int recv           = 0;
    ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
    ncclGroupStart();
    ncclAllReduce(&send, &recv, 1, ncclInt32, ncclSum, comm, nullptr);
    EXPECT_EQ(ncclGroupSimulateEnd(&info), ncclSuccess);
    EXPECT_GT(info.estimatedTime, 0.0F);
    EXPECT_EQ(recv, 0);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage) << "it is closed";
  });
}

TEST_F(Group, MakesCommunicatorsAtItsEnd)
{
  ncclUniqueId const id = new_id();
  ncclComm_t comms[2]   = {};
  ncclGroupStart();
  EXPECT_EQ(ncclCommInitRank(&comms[0], 2, id, 0), ncclSuccess);
  EXPECT_EQ(ncclCommInitRank(&comms[1], 2, id, 1), ncclSuccess);
  EXPECT_EQ(comms[0], nullptr);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  for (ncclComm_t comm : comms) {
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  }
}

TEST_F(Group, RunsSeveralOperationsOfSeveralCommunicatorsInOneThread)
{
  ncclComm_t a[2];
  ncclComm_t b[2];
  ASSERT_EQ(ncclCommInitAll(a, 2, nullptr), ncclSuccess);
  ASSERT_EQ(ncclCommInitAll(b, 2, nullptr), ncclSuccess);
  int in_a[2] = {1, 2};
  int in_b[2] = {10, 20};
  int moved   = 0;
  ncclGroupStart();
  for (int i = 0; i < 2; ++i) {
    ncclAllReduce(&in_a[i], &in_a[i], 1, ncclInt32, ncclSum, a[i], stream(5));
    ncclAllReduce(&in_b[i], &in_b[i], 1, ncclInt32, ncclProd, b[i], stream(6));
    ncclAllReduce(&in_a[i], &in_a[i], 1, ncclInt32, ncclSum, a[i], stream(5));
  }
  ncclSend(&in_a[0], 1, ncclInt32, 1, a[0], stream(5));
  ncclRecv(&moved, 1, ncclInt32, 0, a[1], stream(5));
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  loopbackStreamSynchronize(stream(5));
  loopbackStreamSynchronize(stream(6));
  EXPECT_EQ(in_a[1], 6);
  EXPECT_EQ(in_b[0], 200);
  EXPECT_EQ(moved, 6);
  for (int i = 0; i < 2; ++i) {
    ncclCommDestroy(a[i]);
    ncclCommDestroy(b[i]);
  }
}

TEST_F(Stream, RunsLaterAndInOrder)
{
  on_ranks(2, [](ncclComm_t comm, int rank) {
    loopbackSetDevice(rank);
    int value = rank + 1;
    for (int i = 0; i < 5; ++i) {  // in another order of sums and squares it would be another number
      EXPECT_EQ(ncclAllReduce(&value, &value, 1, ncclInt32, i % 2 == 0 ? ncclSum : ncclProd, comm, stream(7)),
                ncclSuccess);
    }
    loopbackStreamSynchronize(stream(7));
    EXPECT_EQ(value, ((3 * 3) * 2) * ((3 * 3) * 2) * 2);
  });
}

TEST_F(Stream, CallReturnsThoughNobodyElseHasCalled)
{
  std::atomic<bool> returned{false};
  on_ranks(2, [&](ncclComm_t comm, int rank) {
    int value = 1;
    if (rank == 0) {
      EXPECT_EQ(ncclAllReduce(&value, &value, 1, ncclInt32, ncclSum, comm, stream(9)), ncclSuccess);
      returned = true;
    } else {
      while (!returned) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      EXPECT_EQ(ncclAllReduce(&value, &value, 1, ncclInt32, ncclSum, comm, stream(9)), ncclSuccess);
    }
    loopbackStreamSynchronize(stream(9));
    EXPECT_EQ(value, 2);
  });
}

TEST_F(Stream, IsWaitedForByAGroupThatUsesIt)
{
  on_ranks(2, [&](ncclComm_t comm, int) {
    int first  = 1;
    int second = 0;
    int third  = 0;
    // On another stream, and slow: the group on both must see what it leaves.
    loopbackPlanFaults("slow:0:20,slow:1:20");
    ncclAllReduce(&first, &first, 1, ncclInt32, ncclSum, comm, stream(3));
    ncclGroupStart();
    ncclAllReduce(&second, &second, 1, ncclInt32, ncclSum, comm, stream(4));
    ncclAllReduce(&first, &third, 1, ncclInt32, ncclSum, comm, stream(3));
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    loopbackStreamSynchronize(stream(4));
    EXPECT_EQ(third, 4);
    loopbackStreamSynchronize(stream(3));
  });
}

TEST_F(Stream, IsFlushedByFinalize)
{
  on_ranks(2, [](ncclComm_t comm, int rank) {
    int value = 1;
    loopbackPlanFaults("slow:1:30");
    ncclAllReduce(&value, &value, 1, ncclInt32, ncclSum, comm, stream(11));
    EXPECT_EQ(ncclCommFinalize(comm), ncclSuccess);
    EXPECT_EQ(value, 2) << rank;
  });
}

}  // namespace
