/// Each function of device code does what CUDA's does.
#include <gtest/gtest.h>

#include <numeric>

#include "on_device.hpp"

namespace {

using emulation_test::device_value;
using emulation_test::results_of;
using emulation_test::value;

constexpr unsigned all = 0xFFFFFFFFU;

class Barrier : public emulation_test::on_device {};
class Warp : public emulation_test::on_device {};
class Atomic : public emulation_test::on_device {};
class Number : public emulation_test::on_device {};

/// What each of 32 lanes should return.
template <class Expected>
std::vector<value> lanes(Expected const& expected)
{
  std::vector<value> values;
  for (unsigned lane = 0; lane < 32; ++lane) {
    values.push_back(static_cast<value>(expected(lane)));
  }
  return values;
}

TEST_F(Barrier, MakesSharedMemoryVisibleToTheBlock)
{
  auto const results = results_of(
    [](unsigned thread) {
      __shared__ unsigned values[64];
      values[thread] = thread + blockIdx.x;
      __syncthreads();
      return values[63 - thread];
    },
    64, 5);
  for (unsigned i = 0; i < results.size(); ++i) {
    ASSERT_EQ(results[i], 63 - i % 64 + i / 64);
  }
}

TEST_F(Barrier, CountsAndJoinsTheVotes)
{
  auto const results = results_of(
    [](unsigned thread) {
      int const some  = __syncthreads_count(thread % 3 == 0 ? 5 : 0);
      int const any   = __syncthreads_or(thread == 40 ? 8 : 0);
      int const none  = __syncthreads_or(0);
      int const every = __syncthreads_and(4);
      int const most  = __syncthreads_and(thread != 7 ? 1 : 0);
      return some * 16 + (any != 0 ? 8 : 0) + (none != 0 ? 4 : 0) + (every != 0 ? 2 : 0) +
             (most != 0 ? 1 : 0);
    },
    64);
  EXPECT_EQ(results, std::vector<value>(64, 22 * 16 + 8 + 2));
}

TEST_F(Barrier, WaitsForNoThreadThatHasEnded)
{
  EXPECT_EQ(emulation_test::run(
              [](unsigned thread) {
                if (thread < 40) {
                  __syncthreads();
                }
              },
              64),
            cudaSuccess);
  EXPECT_EQ(emulation::take_reports(), "");
}

TEST_F(Warp, ShufflesReadTheLaneThatTheyName)
{
  EXPECT_EQ(results_of([](unsigned lane) { return __shfl_sync(all, lane * 3, static_cast<int>(lane) + 5); }),
            lanes([](unsigned lane) { return (lane + 5) % 32 * 3; }));
  EXPECT_EQ(results_of([](unsigned lane) { return __shfl_sync(all, lane, 2, 8); }),
            lanes([](unsigned lane) { return lane / 8 * 8 + 2; }));
  EXPECT_EQ(results_of([](unsigned lane) { return __shfl_up_sync(all, lane, 3); }),
            lanes([](unsigned lane) { return lane < 3 ? lane : lane - 3; }));
  EXPECT_EQ(results_of([](unsigned lane) { return __shfl_down_sync(all, lane, 3, 16); }),
            lanes([](unsigned lane) { return lane % 16 < 13 ? lane + 3 : lane; }));
  EXPECT_EQ(results_of([](unsigned lane) { return __shfl_xor_sync(all, lane, 17); }),
            lanes([](unsigned lane) { return lane ^ 17U; }));
}

TEST_F(Warp, ShufflesCarry64BitsAndFloats)
{
  EXPECT_EQ(results_of([](unsigned lane) { return __shfl_xor_sync(all, value{lane} << 40, 1); }),
            lanes([](unsigned lane) { return value{lane ^ 1U} << 40; }));
  EXPECT_EQ(
    results_of([](unsigned lane) { return 4 * __shfl_xor_sync(all, static_cast<float>(lane) / 4, 1); }),
    lanes([](unsigned lane) { return lane ^ 1U; }));
  EXPECT_EQ(
    results_of([](unsigned lane) { return 4 * __shfl_xor_sync(all, static_cast<double>(lane) / 4, 1); }),
    lanes([](unsigned lane) { return lane ^ 1U; }));
}

TEST_F(Warp, VotesAndMatchesCountTheLanesOfTheMask)
{
  EXPECT_EQ(results_of([](unsigned lane) { return __ballot_sync(all, lane % 5 == 0 ? 9 : 0); }),
            std::vector<value>(32, 0x42108421U));
  EXPECT_EQ(results_of([](unsigned lane) {
              int const any  = __any_sync(all, lane == 31 ? 1 : 0);
              int const none = __any_sync(all, 0);
              int const most = __all_sync(all, lane != 31 ? 1 : 0);
              return any * 4 + none * 2 + most;
            }),
            std::vector<value>(32, 4));
  EXPECT_EQ(results_of([](unsigned lane) { return __match_any_sync(all, lane % 16); }),
            lanes([](unsigned lane) { return 0x10001U << lane % 16; }));
  EXPECT_EQ(results_of([](unsigned lane) {
              int equal            = 0;
              unsigned const found = __match_all_sync(all, lane / 32, &equal);
              return found == all && equal == 1 ? 1 : 0;
            }),
            std::vector<value>(32, 1));
}

TEST_F(Warp, OperationsMeetUnderThePartOfAWarpThatTheyName)
{
  EXPECT_EQ(results_of([](unsigned lane) {
              unsigned const mask = lane < 10 ? 0x3FFU : ~0x3FFU;
              return __ballot_sync(mask, 1);
            }),
            lanes([](unsigned lane) { return lane < 10 ? 0x3FFU : ~0x3FFU; }));
}

TEST_F(Warp, ReductionsJoinAllLanes)
{
  EXPECT_EQ(results_of([](unsigned lane) { return __reduce_add_sync(all, lane); }),
            std::vector<value>(32, 496));
  EXPECT_EQ(results_of([](unsigned lane) {
              int const number = static_cast<int>(lane) - 16;
              return __reduce_max_sync(all, number) - __reduce_min_sync(all, number) +
                     __reduce_add_sync(all, number);
            }),
            std::vector<value>(32, 31 - 16));
  EXPECT_EQ(
    results_of([](unsigned lane) { return __reduce_max_sync(all, lane) + __reduce_min_sync(all, lane + 3); }),
    std::vector<value>(32, 34));
  EXPECT_EQ(results_of([](unsigned lane) {
              return (__reduce_or_sync(all, lane) << 16) + (__reduce_and_sync(all, lane | 64U) << 8) +
                     __reduce_xor_sync(all, lane % 31);
            }),
            std::vector<value>(32, (31U << 16) + (64U << 8) + 31));
}

TEST_F(Warp, BarrierMakesSharedMemoryVisibleToTheWarp)
{
  EXPECT_EQ(results_of([](unsigned lane) {
              __shared__ unsigned values[32];
              values[lane] = lane;
              __syncwarp();
              return values[31 - lane];
            }),
            lanes([](unsigned lane) { return 31 - lane; }));
}

TEST_F(Warp, ActiveLanesAreOnlyTheCaller)
{
  EXPECT_EQ(results_of([](unsigned) { return __activemask(); }),
            lanes([](unsigned lane) { return 1U << lane; }));
}

/// The value after 4 blocks of 64 threads have changed it.
template <class T, class Change>
T changed(T initial, Change const& change)
{
  device_value<T> const shared{initial};
  T* const address = shared.address();
  EXPECT_EQ(emulation_test::run([=](unsigned thread) { change(address, blockIdx.x * 64 + thread); }, 64, 4),
            cudaSuccess);
  EXPECT_EQ(emulation::take_reports(), "");
  return shared.get();
}

template <class T>
void expect_integer_atomics()
{
  auto const of = [](unsigned i) { return static_cast<T>(i); };
  EXPECT_EQ(changed(T{5}, [=](T* at, unsigned i) { atomicAdd(at, of(i)); }), T{5 + 32640});
  EXPECT_EQ(changed(T{5}, [=](T* at, unsigned i) { atomicMax(at, of(i)); }), T{255});
  EXPECT_EQ(changed(T{90}, [=](T* at, unsigned i) { atomicMin(at, of(i + 7)); }), T{7});
  EXPECT_EQ(changed(T{0}, [=](T* at, unsigned i) { atomicOr(at, of(i)); }), T{255});
  EXPECT_EQ(changed(T{511}, [=](T* at, unsigned i) { atomicAnd(at, of(i | 256U)); }), T{256});
  EXPECT_EQ(changed(T{3}, [=](T* at, unsigned i) { atomicXor(at, of(i)); }), T{3});
  EXPECT_EQ(changed(T{3}, [=](T* at, unsigned) { atomicExch(at, T{8}); }), T{8});
  EXPECT_EQ(changed(T{0}, [=](T* at, unsigned i) { atomicCAS(at, T{0}, of(i + 1)); }) != T{0}, true);
}

TEST_F(Atomic, FunctionsOfIntegersLoseNoChange)
{
  expect_integer_atomics<int>();
  expect_integer_atomics<unsigned>();
  expect_integer_atomics<unsigned long long>();
  EXPECT_EQ(changed(40000, [](int* at, unsigned i) { atomicSub(at, static_cast<int>(i)); }), 40000 - 32640);
  EXPECT_EQ(changed(-3LL, [](long long* at, unsigned i) { atomicMin(at, -static_cast<long long>(i)); }),
            -255);
}

TEST_F(Atomic, SumsOfFloatsLoseNoChange)
{
  EXPECT_EQ(changed(0.5F, [](float* at, unsigned i) { atomicAdd(at, static_cast<float>(i)); }), 32640.5F);
  EXPECT_EQ(changed(0.5, [](double* at, unsigned i) { atomicAdd(at, static_cast<double>(i)); }), 32640.5);
  EXPECT_EQ(changed(0.5F, [](float* at, unsigned) { atomicExch(at, 2.0F); }), 2.0F);
}

TEST_F(Atomic, EachCallerSeesADifferentValueBeforeItsAdd)
{
  device_value<unsigned> const ticket{0};
  unsigned* const at = ticket.address();
  auto results       = results_of([=](unsigned) { return atomicAdd(at, 1U); }, 64, 4);
  std::sort(results.begin(), results.end());
  std::vector<value> expected(256);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(results, expected);
}

TEST_F(Number, BitsAreCountedAndMoved)
{
  EXPECT_EQ(__popc(0xF0F0F0F0U), 16);
  EXPECT_EQ(__popcll(0xF0F0F0F0F0F0F0F0ULL), 32);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clz(-1), 0);
  EXPECT_EQ(__clzll(0), 64);
  EXPECT_EQ(__clzll(1), 63);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__ffsll(0), 0);
  EXPECT_EQ(__ffsll(1LL << 40), 41);
  EXPECT_EQ(__brev(1), 0x80000000U);
  EXPECT_EQ(__brevll(3), 0xC000000000000000ULL);
  EXPECT_EQ(__umulhi(all, all), 0xFFFFFFFEU);
  EXPECT_EQ(__mulhi(-1, 1), -1);
  EXPECT_EQ(__umul64hi(~0ULL, ~0ULL), ~0ULL - 1);
}

TEST_F(Number, BitsOfFloatsAreKept)
{
  EXPECT_EQ(__float_as_uint(1.0F), 0x3F800000U);
  EXPECT_EQ(__float_as_int(-0.0F), static_cast<int>(0x80000000U));
  EXPECT_EQ(__uint_as_float(0x3F800000U), 1.0F);
  EXPECT_EQ(__int_as_float(0x3F800000), 1.0F);
  EXPECT_EQ(__longlong_as_double(__double_as_longlong(-2.5)), -2.5);
}

TEST_F(Number, LoadsAndStoresWithACacheHintMoveWholeVectors)
{
  device_value<uint4> const from{uint4{1, 2, 3, 4}};
  device_value<ulonglong2> const to{ulonglong2{0, 0}};
  uint4 const* const in = from.address();
  ulonglong2* const out = to.address();
  EXPECT_EQ(emulation_test::run(
              [=](unsigned) {
                uint4 const read = __ldg(in);
                __stcs(out, make_ulonglong2(read.x + __ldcs(&in->w), __ldcg(&in->y)));
              },
              1),
            cudaSuccess);
  EXPECT_EQ(to.get().x, 5U);
  EXPECT_EQ(to.get().y, 2U);
}

TEST_F(Number, VectorsAreAlignedAsOnADevice)
{
  EXPECT_EQ(alignof(uint4), 16U);
  EXPECT_EQ(alignof(float4), 16U);
  EXPECT_EQ(alignof(ulonglong2), 16U);
  EXPECT_EQ(alignof(uint2), 8U);
  EXPECT_EQ(alignof(uchar4), 4U);
  EXPECT_EQ(alignof(uint3), 4U);
}

TEST_F(Number, MinAndMaxCompare)
{
  EXPECT_EQ(min(3U, 4U) + max(3U, 4U), 7U);
  EXPECT_EQ(max(-1.5F, 2.5F), 2.5F);
}

TEST_F(Number, TrapEndsTheGridWithAReport)
{
  EXPECT_EQ(emulation_test::run([](unsigned) { __trap(); }), cudaErrorLaunchFailure);
  EXPECT_NE(emulation::take_reports().find("__trap"), std::string::npos);
}

/// The most that one launch may take by value.
struct table {
  unsigned words[32764 / 4 - 2];
};
__global__ void last_word(unsigned* result, __grid_constant__ table const words)
{
  *result = words.words[std::size(words.words) - 1];
}

TEST_F(Number, A32KibibyteTableIsPassedByValue)
{
  auto words                                = std::make_unique<table>();
  words->words[std::size(words->words) - 1] = 77;
  device_value<unsigned> const result{0};
  cudaLaunchConfig_t config{};
  EXPECT_EQ(cudaLaunchKernelEx(&config, last_word, result.address(), *words), cudaSuccess);
  words->words[std::size(words->words) - 1] = 78;  // the launch has its copy
  EXPECT_EQ(result.get(), 77U);
}

}  // namespace
