/// The runtime keeps CUDA's rules: errors, copies, streams, events, allocations.
#include <gtest/gtest.h>

#include "on_device.hpp"
#include "on_streams.hpp"

namespace {

using namespace emulation_test;

class Stream : public on_streams {};
class Event : public on_streams {};
class Copy : public on_streams {};
class Memory : public on_streams {};
class Error : public on_streams {};
class Device : public on_streams {};

TEST_F(Stream, RunsNothingUntilTheHostWaits)
{
  append(first, 1);
  EXPECT_EQ(emulation::launches().size(), 0U);
  EXPECT_EQ(cudaStreamSynchronize(first), cudaSuccess);
  EXPECT_EQ(emulation::launches().size(), 1U);
}

TEST_F(Stream, KeepsItsOwnOrder)
{
  for_each_seed([&] {
    for (unsigned i = 1; i <= 5; ++i) {
      append(first, i);
    }
    cudaStreamSynchronize(first);
    EXPECT_EQ(log(), (std::vector<unsigned>{1, 2, 3, 4, 5}));
  });
}

TEST_F(Stream, HasNoOrderAmongOthers)
{
  std::set<std::vector<unsigned>> orders;
  for_each_seed([&] {
    append(first, 1);
    append(second, 2);
    cudaDeviceSynchronize();
    orders.insert(log());
  });
  EXPECT_EQ(orders, (std::set<std::vector<unsigned>>{{1, 2}, {2, 1}}));
}

TEST_F(Stream, ThatBlocksHasOrderWithTheLegacyStream)
{
  cudaStream_t blocking = nullptr;
  cudaStreamCreateWithFlags(&blocking, cudaStreamDefault);
  for_each_seed([&] {
    append(blocking, 1);
    append(nullptr, 2);
    append(blocking, 3);
    cudaDeviceSynchronize();
    EXPECT_EQ(log(), (std::vector<unsigned>{1, 2, 3}));
  });
  cudaStreamDestroy(blocking);
}

TEST_F(Stream, ThatDoesNotBlockHasNoOrderWithTheLegacyStream)
{
  std::set<std::vector<unsigned>> orders;
  for_each_seed([&] {
    append(first, 1);
    append(nullptr, 2);
    cudaDeviceSynchronize();
    orders.insert(log());
  });
  EXPECT_EQ(orders.size(), 2U);
}

TEST_F(Stream, PolledLongEnoughIsDone)
{
  append(first, 1);
  int polls = 0;
  while (cudaStreamQuery(first) == cudaErrorNotReady && polls < 1000) {
    ++polls;
  }
  EXPECT_LT(polls, 1000);
  EXPECT_EQ(log(), (std::vector<unsigned>{1}));
}

TEST_F(Stream, ThatWasDestroyedIsRefused)
{
  cudaStream_t gone = nullptr;
  cudaStreamCreateWithFlags(&gone, cudaStreamNonBlocking);
  cudaStreamDestroy(gone);
  EXPECT_EQ(cudaStreamSynchronize(gone), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
}

TEST_F(Stream, CallsAFunctionOfTheHostInItsTurnAndItMayCallNothing)
{
  struct seen {
    int launches       = -1;
    cudaError_t status = cudaSuccess;
  } state;
  append(first, 1);
  cudaLaunchHostFunc(
    first,
    [](void* argument) {
      auto* const s = static_cast<seen*>(argument);
      s->launches   = static_cast<int>(emulation::launches().size());
      s->status     = cudaStreamSynchronize(nullptr);
    },
    &state);
  append(first, 2);
  EXPECT_EQ(state.launches, -1);
  EXPECT_EQ(cudaStreamSynchronize(first), cudaSuccess);
  EXPECT_EQ(state.launches, 1);
  EXPECT_EQ(state.status, cudaErrorNotPermitted);
}

TEST_F(Event, OrdersTheStreamsThatRecordAndWait)
{
  for_each_seed([&] {
    append(first, 1);
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event, 0);
    append(second, 2);
    cudaStreamSynchronize(second);
    EXPECT_EQ(log(), (std::vector<unsigned>{1, 2}));
  });
}

TEST_F(Event, IsWaitedForAsItWasRecordedWhenTheWaitWasQueued)
{
  std::set<std::vector<unsigned>> orders;
  for_each_seed([&] {
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event, 0);
    append(first, 1);
    cudaEventRecord(event, first);  // no matter to the wait
    append(second, 2);
    cudaDeviceSynchronize();
    orders.insert(log());
  });
  EXPECT_EQ(orders.size(), 2U);
}

TEST_F(Event, ThatWasNeverRecordedIsNoWait)
{
  EXPECT_EQ(cudaStreamWaitEvent(second, event, 0), cudaSuccess);
  append(second, 2);
  EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
}

TEST_F(Event, MeasuresTimeOnceBothAreReached)
{
  cudaEvent_t end = nullptr;
  cudaEventCreateWithFlags(&end, cudaEventDefault);
  cudaEventRecord(event, first);
  append(first, 1);
  cudaEventRecord(end, first);
  EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, end), cudaSuccess);
  EXPECT_GE(milliseconds, 0.0F);
  cudaEventDestroy(end);
}

TEST_F(Copy, FromPageableMemoryReadsItWhenQueued)
{
  unsigned number = 5;
  cudaMemcpyAsync(entries, &number, sizeof number, cudaMemcpyHostToDevice, first);
  number = 6;
  cudaStreamSynchronize(first);
  EXPECT_EQ(entry(0), 5U);
}

TEST_F(Copy, FromPinnedMemoryReadsItLate)
{
  unsigned* number = nullptr;
  cudaMallocHost(&number, sizeof *number);
  *number = 5;
  cudaMemcpyAsync(entries, number, sizeof *number, cudaMemcpyHostToDevice, first);
  *number = 6;
  cudaStreamSynchronize(first);
  EXPECT_EQ(entry(0), 6U);
  cudaFreeHost(number);
}

TEST_F(Copy, ToPinnedMemoryIsNotThereBeforeTheHostWaits)
{
  unsigned* number = nullptr;
  cudaMallocHost(&number, sizeof *number);
  *number = 7;
  cudaMemsetAsync(entries, 0, sizeof *number, first);
  cudaMemcpyAsync(number, entries, sizeof *number, cudaMemcpyDeviceToHost, first);
  EXPECT_EQ(*number, 7U);
  cudaStreamSynchronize(first);
  EXPECT_EQ(*number, 0U);
  cudaFreeHost(number);
}

TEST_F(Copy, InTheWrongDirectionOrPastAnAllocationIsRefused)
{
  unsigned number = 5;
  EXPECT_EQ(cudaMemcpyAsync(entries, &number, sizeof number, cudaMemcpyDeviceToHost, first),
            cudaErrorInvalidValue);
  std::vector<char> much(10000);
  EXPECT_EQ(cudaMemcpy(much.data(), entries, much.size(), cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemsetAsync(entries, 0, much.size(), first), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(&number, 0, sizeof number), cudaErrorInvalidValue);
}

TEST_F(Memory, IsListedUntilItIsFreed)
{
  std::size_t const before = emulation::live_allocations();
  void* memory             = nullptr;
  cudaMalloc(&memory, 1234);
  EXPECT_EQ(emulation::live_allocations(), before + 1);
  EXPECT_EQ(emulation::list_allocations().back().bytes, 1234U);
  EXPECT_FALSE(emulation::list_allocations().back().pinned);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(emulation::live_allocations(), before);
}

TEST_F(Memory, SaysWhatItIs)
{
  unsigned own     = 0;
  unsigned* pinned = nullptr;
  cudaMallocHost(&pinned, sizeof own);
  cudaPointerAttributes of{};
  EXPECT_EQ(cudaPointerGetAttributes(&of, entries + 1), cudaSuccess);
  EXPECT_EQ(of.type, cudaMemoryTypeDevice);
  EXPECT_EQ(of.devicePointer, entries + 1);
  EXPECT_EQ(cudaPointerGetAttributes(&of, pinned), cudaSuccess);
  EXPECT_EQ(of.type, cudaMemoryTypeHost);
  EXPECT_EQ(cudaPointerGetAttributes(&of, &own), cudaSuccess);
  EXPECT_EQ(of.type, cudaMemoryTypeUnregistered);
  cudaFreeHost(pinned);
}

TEST_F(Memory, OfAStreamIsThereInItsTurn)
{
  unsigned* mine           = nullptr;
  std::size_t const before = emulation::live_allocations();
  ASSERT_EQ(cudaMallocAsync(&mine, 64, first), cudaSuccess);
  cudaMemsetAsync(mine, 0, 64, first);
  EXPECT_EQ(cudaFreeAsync(mine, first), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(first), cudaSuccess);
  EXPECT_EQ(emulation::take_reports(), "");
  EXPECT_EQ(emulation::live_allocations(), before);
}

TEST_F(Memory, FreedBeforeACopyRunsIsReported)
{
  unsigned* mine = nullptr;
  cudaMallocAsync(&mine, 64, first);
  cudaFreeAsync(mine, first);
  EXPECT_EQ(cudaMemsetAsync(mine, 0, 64, first), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(first), cudaErrorLaunchFailure);
  EXPECT_NE(emulation::take_reports().find("freed"), std::string::npos);
}

TEST_F(Error, OfAGridStaysUntilReset)
{
  EXPECT_EQ(run([](unsigned) { __trap(); }), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaStreamSynchronize(first), cudaErrorLaunchFailure);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 16), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_STREQ(cudaGetErrorName(cudaErrorLaunchFailure), "cudaErrorLaunchFailure");
  (void)emulation::take_reports();
  emulation::reset();
  EXPECT_EQ(cudaStreamSynchronize(first), cudaSuccess);
}

TEST_F(Error, CanBePlannedForOneKindOfCall)
{
  void* memory = nullptr;
  emulation::fail_call(1, cudaErrorLaunchOutOfResources, emulation::call::launch);
  EXPECT_EQ(cudaMalloc(&memory, 16), cudaSuccess);
  EXPECT_EQ(append(first, 1), cudaErrorLaunchOutOfResources);
  EXPECT_EQ(append(first, 2), cudaSuccess);
  EXPECT_EQ(emulation::calls_made(), 2U);
  cudaFree(memory);
}

TEST_F(Error, OfALaunchThatNoDeviceTakes)
{
  cudaLaunchConfig_t config{};
  void (*const nothing)() = [] {};
  config.blockDim         = dim3(1025);
  EXPECT_EQ(cudaLaunchKernelEx(&config, nothing), cudaErrorInvalidConfiguration);
  config.blockDim = dim3(32);
  config.gridDim  = dim3(1, 65536);
  EXPECT_EQ(cudaLaunchKernelEx(&config, nothing), cudaErrorInvalidConfiguration);
  config.gridDim = dim3(0);
  EXPECT_EQ(cudaLaunchKernelEx(&config, nothing), cudaErrorInvalidConfiguration);
}

__global__ void sum_dynamic(unsigned* sum)
{
  auto* const values  = static_cast<unsigned*>(emulation::dynamic_shared_memory());
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    *sum = values[1] + values[63];
  }
}

TEST_F(Device, GivesABlockTheDynamicSharedMemoryThatItWasAllowed)
{
  cudaLaunchConfig_t config{};
  config.blockDim         = dim3(64);
  config.dynamicSmemBytes = 64 * sizeof(unsigned);
  EXPECT_EQ(cudaLaunchKernelEx(&config, sum_dynamic, entries), cudaSuccess);
  EXPECT_EQ(entry(0), 64U);
  config.dynamicSmemBytes = 100 * 1024;
  EXPECT_EQ(cudaLaunchKernelEx(&config, sum_dynamic, entries), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(sum_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024),
            cudaSuccess);
  EXPECT_EQ(cudaLaunchKernelEx(&config, sum_dynamic, entries), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(Device, NumbersAreThoseThatTheTestChose)
{
  emulation::settings three;
  three.devices         = 3;
  three.multiprocessors = 11;
  emulation::reset(three);
  int devices = 0;
  int count   = 0;
  EXPECT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  EXPECT_EQ(devices, 3);
  EXPECT_EQ(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 2), cudaSuccess);
  EXPECT_EQ(count, 11);
  EXPECT_EQ(cudaSetDevice(3), cudaErrorInvalidDevice);
  cudaDeviceProp properties{};
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_EQ(properties.multiProcessorCount, 11);
}

TEST_F(Device, LaunchesAreRecordedByName)
{
  append(first, 1);
  cudaStreamSynchronize(first);
  ASSERT_EQ(emulation::launches().size(), 1U);
  emulation::launch_record const& record = emulation::launches()[0];
  EXPECT_NE(record.kernel.find("append_entry"), std::string::npos) << record.kernel;
  EXPECT_EQ(record.blocks, 1U);
  EXPECT_EQ(record.threads, 32U);
  EXPECT_FALSE(record.cooperative);
}

}  // namespace
