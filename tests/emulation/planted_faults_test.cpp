/// Each planted fault is reported within a bounded number of seeds, and the same kernel without it never.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emulation.hpp"
#include "planted_faults.hpp"

namespace {

using planted::fault;
using planted::kernel;

constexpr unsigned count            = 500;  // not a multiple of a block's share
constexpr std::uint64_t clean_seeds = 20;

template <class T>
T* allocate(std::size_t elements)
{
  T* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, elements * sizeof(T)), cudaSuccess);
  return memory;
}

/// What was reported when a kernel ran once under a seed.
std::string report_of(kernel which, fault one, std::uint64_t seed)
{
  emulation::settings settings;
  settings.seed = seed;
  emulation::reset(settings);
  std::vector<unsigned> numbers(count);
  for (unsigned i = 0; i < count; ++i) {
    numbers[i] = i * 7 % 31;
  }
  auto* const input   = allocate<unsigned>(count);
  auto* const output  = allocate<unsigned>(64);
  auto* const flags   = allocate<unsigned>(64);
  auto* const counter = allocate<unsigned>(1);
  cudaMemcpy(input, numbers.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice);
  cudaMemset(flags, 0, 64 * sizeof(unsigned));
  cudaMemset(counter, 0, sizeof(unsigned));
  EXPECT_EQ(planted::run(which, one, {input, count, output, flags, counter}, nullptr), cudaSuccess);
  (void)cudaDeviceSynchronize();
  std::string const reports = emulation::take_reports();
  for (unsigned* const memory : {input, output, flags, counter}) {
    cudaFree(memory);
  }
  emulation::reset();
  return reports;
}

struct planting {
  char const* name;
  kernel which;
  fault one;
  std::uint64_t seeds;  ///< within which it must be caught
  char const* words;    ///< of the report
  bool fast;            ///< caught in the fast lane as well
};

class PlantedFault : public ::testing::TestWithParam<planting> {};

TEST_P(PlantedFault, IsReportedWithinItsSeeds)
{
  planting const& p = GetParam();
  if (!emulation::is_checked() && !p.fast) {
    GTEST_SKIP() << "only the checked lane sees accesses; it runs this test";
  }
  std::uint64_t seed = 1;
  std::string report;
  for (; seed <= p.seeds && report.empty(); ++seed) {
    report = report_of(p.which, p.one, seed);
  }
  ASSERT_NE(report, "") << "not in " << p.seeds << " seeds";
  EXPECT_NE(report.find(p.words), std::string::npos) << report;
}

TEST_P(PlantedFault, IsNotReportedWhereItIsNot)
{
  for (std::uint64_t seed = 1; seed <= clean_seeds; ++seed) {
    ASSERT_EQ(report_of(GetParam().which, fault::none, seed), "") << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(
  Of, PlantedFault,
  ::testing::Values(
    planting{"no_barrier_before_read", kernel::block_sums, fault::no_barrier_before_read, 1, "", false},
    planting{"no_barrier_before_reuse", kernel::block_sums, fault::no_barrier_before_reuse, 5, "data race",
             false},
    planting{"read_past_the_end", kernel::block_sums, fault::read_past_the_end, 1, "out of bounds", false},
    planting{"no_warp_barrier", kernel::reverse_warps, fault::no_warp_barrier, 1, "", false},
    planting{"full_mask_for_half_a_warp", kernel::half_warps, fault::full_mask_for_half_a_warp, 1,
             "has ended", true},
    planting{"tile_by_block_number", kernel::look_back, fault::tile_by_block_number, 10, "livelock", true},
    planting{"relaxed_load_of_a_flag", kernel::look_back, fault::relaxed_load_of_a_flag, 3, "", false},
    planting{"relaxed_store_of_a_flag", kernel::look_back, fault::relaxed_store_of_a_flag, 3, "data race",
             false},
    planting{"no_fence_before_the_last_block", kernel::last_block, fault::no_fence_before_the_last_block, 3,
             "data race", false},
    planting{"blocks_write_one_place", kernel::write_places, fault::blocks_write_one_place, 3, "data race",
             false}),
  [](auto const& test) { return std::string{test.param.name}; });

// --- faults of the host

class Host : public ::testing::Test {
 protected:
  void SetUp() override { emulation::reset(); }
  void TearDown() override { emulation::reset(); }

  unsigned* input  = allocate<unsigned>(16);
  unsigned* output = allocate<unsigned>(16);
};

TEST_F(Host, ReadOfMemoryThatNobodyWroteIsReported)
{
  if (!emulation::is_checked()) {
    GTEST_SKIP() << "only the checked lane sees accesses; it runs this test";
  }
  planted::run(kernel::copy, fault::none, {input, 16, output, nullptr, nullptr}, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_NE(emulation::take_reports().find("nobody wrote"), std::string::npos);
}

TEST_F(Host, UseAfterFreeIsReported)
{
  if (!emulation::is_checked()) {
    GTEST_SKIP() << "only the checked lane sees accesses; it runs this test";
  }
  cudaMemset(input, 0, 64);
  cudaFree(input);
  planted::run(kernel::copy, fault::none, {input, 16, output, nullptr, nullptr}, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_NE(emulation::take_reports().find("out of bounds"), std::string::npos);
}

TEST_F(Host, MemoryInAKernelIsReported)
{
  if (!emulation::is_checked()) {
    GTEST_SKIP() << "only the checked lane sees accesses; it runs this test";
  }
  std::vector<unsigned> own(16);
  planted::run(kernel::copy, fault::none, {own.data(), 16, output, nullptr, nullptr}, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_NE(emulation::take_reports().find("host memory"), std::string::npos);
}

/// A producer on one stream, a reader on another. @returns how many of the seeds gave stale data or a report
int stale_runs(bool with_event)
{
  int stale = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    emulation::settings settings;
    settings.seed = seed;
    emulation::reset(settings);
    cudaStream_t producer = nullptr;
    cudaStream_t consumer = nullptr;
    cudaEvent_t ready     = nullptr;
    cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    auto* const from = allocate<unsigned>(16);
    auto* const to   = allocate<unsigned>(16);
    std::vector<unsigned> const numbers(16, 5);
    cudaMemcpyAsync(from, numbers.data(), 64, cudaMemcpyHostToDevice, producer);
    if (with_event) {
      cudaEventRecord(ready, producer);
      cudaStreamWaitEvent(consumer, ready, 0);
    }
    planted::run(kernel::copy, fault::none, {from, 16, to, nullptr, nullptr}, consumer);
    std::vector<unsigned> result(16);
    cudaMemcpyAsync(result.data(), to, 64, cudaMemcpyDeviceToHost, consumer);
    stale += result == numbers ? 0 : 1;
    (void)emulation::take_reports();
    emulation::reset();
    cudaStreamDestroy(producer);
    cudaStreamDestroy(consumer);
    cudaEventDestroy(ready);
    cudaFree(from);
    cudaFree(to);
  }
  return stale;
}

TEST_F(Host, WithoutAnEventTheReaderOnAnotherStreamComesTooEarlyForSomeSeed)
{
  EXPECT_GT(stale_runs(false), 0);
}
TEST_F(Host, WithAnEventItNeverDoes) { EXPECT_EQ(stale_runs(true), 0); }

TEST_F(Host, AnAllocationOrAWaitDuringACaptureIsRefused)
{
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 16), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  cudaStreamDestroy(stream);
}

TEST_F(Host, ACapturedKernelRunsOnlyWhenItsGraphIsLaunched)
{
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMemset(input, 0, 64);
  cudaDeviceSynchronize();
  cudaGraph_t graph    = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  planted::run(kernel::copy, fault::none, {input, 16, output, nullptr, nullptr}, stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(emulation::launches().size(), 0U);
  for (int i = 0; i < 3; ++i) {
    cudaGraphLaunch(exec, stream);
  }
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(emulation::launches().size(), 3U);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

TEST_F(Host, APlannedFailureHitsExactlyTheCallThatWasMeant)
{
  emulation::fail_call(2, cudaErrorMemoryAllocation);
  void* first  = nullptr;
  void* second = nullptr;
  EXPECT_EQ(cudaMalloc(&first, 16), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&second, 16), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&second, 16), cudaSuccess);
  cudaFree(first);
  cudaFree(second);
}

TEST_F(Host, ACooperativeGridThatDoesNotFitIsRefused)
{
  cudaLaunchAttribute attribute{};
  attribute.id              = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.blockDim         = dim3(64);
  config.attrs            = &attribute;
  config.numAttrs         = 1;
  void (*const nothing)() = [] {};
  int on_each             = 0;
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, nothing, 64, 0), cudaSuccess);
  auto const fits = static_cast<unsigned>(emulation::current().multiprocessors * on_each);
  config.gridDim  = dim3(fits);
  EXPECT_EQ(cudaLaunchKernelEx(&config, nothing), cudaSuccess);
  config.gridDim = dim3(fits + 1);
  EXPECT_EQ(cudaLaunchKernelEx(&config, nothing), cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

}  // namespace
