/// Captures and graphs keep CUDA's rules.
#include <gtest/gtest.h>

#include "on_streams.hpp"

namespace {

using emulation_test::on_streams;

class Capture : public on_streams {
 protected:
  /// Ends the capture of the first stream and launches what it gave.
  void launch_captured(int times = 1)
  {
    cudaGraph_t graph    = nullptr;
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(first, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    for (int i = 0; i < times; ++i) {
      EXPECT_EQ(cudaGraphLaunch(exec, first), cudaSuccess);
    }
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(first), cudaSuccess);
  }
  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal)
  {
    ASSERT_EQ(cudaStreamBeginCapture(first, mode), cudaSuccess);
  }
  /// Ends a capture that something has spoilt.
  void expect_end(cudaError_t status)
  {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(first, &graph), status);
    EXPECT_EQ(graph, nullptr);
    cudaStreamCaptureStatus state{};
    EXPECT_EQ(cudaStreamIsCapturing(first, &state), cudaSuccess);
    EXPECT_EQ(state, cudaStreamCaptureStatusNone);
  }
};

TEST_F(Capture, RecordsWorkThatEachLaunchRuns)
{
  begin();
  append(first, 1);
  append(first, 2);
  launch_captured(3);
  EXPECT_EQ(log(), (std::vector<unsigned>{1, 2, 1, 2, 1, 2}));
}

TEST_F(Capture, ForksAndJoinsThroughEvents)
{
  std::set<std::vector<unsigned>> orders;
  for_each_seed([&] {
    cudaEvent_t joined = nullptr;
    cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);
    begin();
    append(first, 1);
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event, 0);
    append(first, 2);
    append(second, 3);
    cudaEventRecord(joined, second);
    cudaStreamWaitEvent(first, joined, 0);
    append(first, 4);
    launch_captured();
    orders.insert(log());
    cudaEventDestroy(joined);
  });
  EXPECT_EQ(orders, (std::set<std::vector<unsigned>>{{1, 2, 3, 4}, {1, 3, 2, 4}}));
}

TEST_F(Capture, ThatLeavesAForkedStreamBehindFails)
{
  begin();
  append(first, 1);
  cudaEventRecord(event, first);
  cudaStreamWaitEvent(second, event, 0);
  append(second, 2);
  expect_end(cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(append(second, 3), cudaSuccess);  // it is captured no more
  EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  EXPECT_EQ(log(), (std::vector<unsigned>{3}));
}

TEST_F(Capture, ForbidsWaitsAndAllocations)
{
  void* memory   = nullptr;
  auto const bad = {
    +[](cudaStream_t stream, cudaEvent_t, void**) { return cudaStreamSynchronize(stream); },
    +[](cudaStream_t stream, cudaEvent_t, void**) { return cudaStreamQuery(stream); },
    +[](cudaStream_t, cudaEvent_t, void**) { return cudaDeviceSynchronize(); },
    +[](cudaStream_t, cudaEvent_t, void** m) { return cudaMalloc(m, 16); },
    +[](cudaStream_t, cudaEvent_t, void** m) { return cudaMallocHost(m, 16); },
    +[](cudaStream_t, cudaEvent_t, void** m) { return cudaFree(*m); },
    +[](cudaStream_t, cudaEvent_t, void** m) { return cudaMemcpy(*m, *m, 1, cudaMemcpyDefault); },
  };
  for (auto const& call : bad) {
    begin();
    EXPECT_EQ(call(first, event, &memory), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(append(first, 1), cudaErrorStreamCaptureInvalidated);
    expect_end(cudaErrorStreamCaptureInvalidated);
  }
}

TEST_F(Capture, InTheRelaxedModeAllowsAnAllocation)
{
  begin(cudaStreamCaptureModeRelaxed);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 16), cudaSuccess);
  append(first, 1);
  launch_captured();
  cudaFree(memory);
}

TEST_F(Capture, ForbidsToAskOrWaitForItsEvents)
{
  begin();
  cudaEventRecord(event, first);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorCapturedEvent);
  expect_end(cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaEventSynchronize(event), cudaErrorCapturedEvent);
}

TEST_F(Capture, ForbidsPageableMemoryInACopy)
{
  unsigned number = 1;
  begin();
  EXPECT_EQ(cudaMemcpyAsync(entries, &number, sizeof number, cudaMemcpyHostToDevice, first),
            cudaErrorStreamCaptureUnsupported);
  expect_end(cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, ForbidsWorkOfTheLegacyStreamThatWouldWaitForIt)
{
  cudaStream_t blocking = nullptr;
  cudaStreamCreateWithFlags(&blocking, cudaStreamDefault);
  cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(append(nullptr, 1), cudaErrorStreamCaptureImplicit);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(blocking, &graph), cudaErrorStreamCaptureInvalidated);
  cudaStreamDestroy(blocking);
}

TEST_F(Capture, ForbidsAWaitForWorkOutsideOfIt)
{
  append(second, 1);
  cudaEventRecord(event, second);
  begin();
  EXPECT_EQ(cudaStreamWaitEvent(first, event, 0), cudaErrorStreamCaptureIsolation);
  expect_end(cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, MustEndInTheStreamInWhichItBegan)
{
  begin();
  cudaEventRecord(event, first);
  cudaStreamWaitEvent(second, event, 0);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(second, &graph), cudaErrorStreamCaptureUnmatched);
  expect_end(cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, IsImpossibleInTheLegacyStream)
{
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
}

TEST_F(Capture, OfAnotherStreamIsNotMerged)
{
  begin();
  cudaEventRecord(event, first);
  cudaStreamBeginCapture(second, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(cudaStreamWaitEvent(second, event, 0), cudaErrorStreamCaptureMerge);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(second, &graph), cudaErrorStreamCaptureInvalidated);
  expect_end(cudaErrorStreamCaptureInvalidated);
}

}  // namespace
