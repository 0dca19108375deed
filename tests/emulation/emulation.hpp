/// How tests steer the emulation and ask what happened.
///
///   class Codec : public ::testing::TestWithParam<...> {
///     void SetUp() override { emulation::reset(seed); }
///     void TearDown() override { EXPECT_EQ(emulation::take_reports(), "") }
///   };
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

namespace emulation {

/// What the emulated machine is like.
struct settings {
  std::uint64_t seed    = 1;  ///< of every choice that the emulation makes
  int devices           = 1;
  int multiprocessors   = 3;
  int blocks_each       = 2;     ///< blocks of 256 threads that one multiprocessor runs at once
  std::uint32_t preempt = 64;    ///< checked lane: mean number of accesses between two switches
  bool starve           = true;  ///< some threads run only when no other can
  bool report_races     = true;  ///< checked lane
};

/// Back to the beginning: no reports, no errors, counters at zero, streams of an aborted test forgotten. Live
/// allocations stay. The default seed is that of the environment (BIRD_EMULATION_SEED), or 1.
void reset();
void reset(settings const& wanted);
[[nodiscard]] settings const& current();

/// What was done wrong since the last call, one line each: races, bad addresses, deadlocks, ... Empty:
/// nothing. The first report of a grid ends it, and from then on every call fails with
/// cudaErrorLaunchFailure, as on a device, until reset().
[[nodiscard]] std::string take_reports();

/// Bytes of global memory that a launch accessed; checked lane only.
struct traffic {
  std::uint64_t read         = 0;  ///< by all accesses together
  std::uint64_t written      = 0;
  std::uint64_t read_once    = 0;  ///< different bytes: what a cache without limits would fetch
  std::uint64_t written_once = 0;
};

/// Kernels that ran.
struct launch_record {
  std::string kernel;
  unsigned blocks;
  unsigned threads;
  bool cooperative;
  traffic bytes;
};
[[nodiscard]] std::vector<launch_record> const& launches();

struct counters {
  std::uint64_t synchronisations = 0;  ///< calls in which the host waited
  std::uint64_t copies           = 0;
  std::uint64_t fills            = 0;
  std::uint64_t allocations      = 0;
};
[[nodiscard]] counters const& counted();

/// Live allocations, of device and pinned memory.
[[nodiscard]] std::size_t live_allocations();
struct allocation {
  std::size_t bytes;
  bool pinned;
  int device;
  int number;  ///< as in reports
};
[[nodiscard]] std::vector<allocation> list_allocations();

/// Kinds of calls that can be made to fail. A wait includes cudaDeviceSynchronize; a copy includes fills.
enum class call { any, allocation, launch, copy, wait, other };

/// The n-th call of this kind from now (1: the next) fails with this status and does nothing; 0: none does.
void fail_call(std::uint64_t n, cudaError_t status, call kind = call::any);
/// Calls of that kind (at first: of any) since reset() or the last fail_call().
[[nodiscard]] std::uint64_t calls_made();

/// True where kernels are compiled with the checks of accesses (the checked lane).
[[nodiscard]] bool is_checked();

}  // namespace emulation
