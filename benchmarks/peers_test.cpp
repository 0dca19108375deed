/// The peers do what they claim: a comparison with a wrong opponent would be worth nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "peers/bandwidth.hpp"
#include "peers/ordered_select.hpp"
#include "peers/quantize.hpp"
#include "peers/quickselect.hpp"
#include "peers/radix_select.hpp"
#include "peers/random_k.hpp"
#include "peers/sampled_threshold.hpp"
#include "peers/scatter.hpp"
#include "peers/threshold.hpp"

namespace bird::peers {
namespace {

/// Gaussian with a lognormal scale a run of 256, and one element in seven exactly zero.
std::vector<float> gradient(std::size_t count, unsigned seed = 1)
{
  std::mt19937 generator{seed};
  std::normal_distribution<float> normal;
  std::vector<float> x(count);
  float scale = 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 256 == 0) {
      scale = std::exp(normal(generator));
    }
    x[i] = i % 7 == 3 ? 0.0F : scale * normal(generator);
  }
  return x;
}

/// Positions of the k largest magnitudes, of equal ones the first, ascending.
std::vector<std::uint32_t> largest(std::vector<float> const& x, std::size_t k)
{
  std::vector<std::uint32_t> order(x.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return magnitude_bits(x[a]) > magnitude_bits(x[b]); });
  order.resize(k);
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<std::uint32_t> positions(sparse_view kept)
{
  std::vector<std::uint32_t> index(kept.index, kept.index + kept.count);
  std::sort(index.begin(), index.end());
  return index;
}

/// Bits of the magnitudes that were kept, so that ties may be broken in any way.
std::vector<std::uint32_t> magnitudes(std::vector<float> const& x, std::vector<std::uint32_t> const& index)
{
  std::vector<std::uint32_t> bits(index.size());
  std::transform(index.begin(), index.end(), bits.begin(),
                 [&](std::uint32_t i) { return magnitude_bits(x[i]); });
  std::sort(bits.begin(), bits.end());
  return bits;
}

void expect_values_of(std::vector<float> const& x, sparse_view kept)
{
  for (std::size_t i = 0; i < kept.count; ++i) {
    ASSERT_LT(kept.index[i], x.size());
    ASSERT_EQ(kept.value[i], x[kept.index[i]]);
  }
}

struct selection {
  std::size_t count;
  std::size_t k;
  int threads;
};

void PrintTo(selection s, std::ostream* out)
{
  *out << s.k << " of " << s.count << " with " << s.threads << " threads";
}

class Selection : public testing::TestWithParam<selection> {
 protected:
  void SetUp() override { omp_set_num_threads(GetParam().threads); }
  void TearDown() override { omp_set_num_threads(omp_get_num_procs()); }

  void expect_exact(sparse_view kept)
  {
    expect_values_of(x, kept);
    EXPECT_EQ(positions(kept), largest(x, GetParam().k));
  }

  std::vector<float> x = gradient(GetParam().count);
};

TEST_P(Selection, RadixSelectKeepsTheLargest)
{
  radix_buffers buffers{x.size()};
  expect_exact(radix_select(x, GetParam().k, buffers));
}

TEST_P(Selection, QuickselectKeepsTheLargest)
{
  quickselect_buffers buffers{x.size()};
  expect_exact(quickselect(x, GetParam().k, buffers));
}

TEST_P(Selection, NthElementKeepsTheLargest)
{
  ordered_buffers buffers{x.size()};
  expect_exact(nth_element_select(x, GetParam().k, buffers));
}

TEST_P(Selection, ParallelNthElementKeepsTheLargest)
{
  ordered_buffers buffers{x.size()};
  expect_exact(parallel_nth_element_select(x, GetParam().k, buffers));
}

TEST_P(Selection, SampledSelectKeepsTheLargest)
{
  sampled_buffers buffers{x.size()};
  expect_exact(sampled_select(x, GetParam().k, buffers));
}

TEST_P(Selection, HeapKeepsTheLargestUpToTies)
{
  ordered_buffers buffers{x.size()};
  sparse_view const kept = heap_top_k(x, GetParam().k, buffers);
  expect_values_of(x, kept);
  EXPECT_EQ(magnitudes(x, positions(kept)), magnitudes(x, largest(x, GetParam().k)));
}

// Around the vector step of 64, the chunk of 4096, and both sides of the size from which threads are used.
INSTANTIATE_TEST_SUITE_P(Sizes, Selection,
                         testing::Values(selection{1, 1, 1}, selection{63, 5, 1}, selection{64, 64, 1},
                                         selection{65, 1, 1}, selection{4097, 41, 1},
                                         selection{4097, 4000, 1}, selection{300'007, 3000, 1},
                                         selection{300'007, 3000, 2}, selection{300'007, 30'000, 3},
                                         selection{300'007, 299'000, 2}));

TEST(Selection, KeepsTheFirstOfEqualElements)
{
  std::vector<float> x(1000, -1.5F);
  x[700] = 2;
  radix_buffers buffers{x.size()};
  EXPECT_EQ(positions(radix_select(x, 4, buffers)), (std::vector<std::uint32_t>{0, 1, 2, 700}));
  quickselect_buffers more{x.size()};
  EXPECT_EQ(positions(quickselect(x, 4, more)), (std::vector<std::uint32_t>{0, 1, 2, 700}));
}

TEST(Quickselect, EndsWhenAllElementsAreEqual)
{
  std::vector<float> const x(10'000, 3.0F);
  quickselect_buffers buffers{x.size()};
  EXPECT_EQ(quickselect(x, 17, buffers).count, 17U);
}

TEST(Threshold, KeepsExactlyWhatReachesItInOrder)
{
  std::vector<float> const x    = gradient(300'007);
  std::uint32_t const threshold = magnitude_bits(2.0F);
  sparse_buffer buffer{x.size()};
  sparse_view const kept = compress_above(x, threshold, buffer);
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < x.size(); ++i) {
    if (std::abs(x[i]) >= 2.0F) {
      expected.push_back(i);
    }
  }
  expect_values_of(x, kept);
  EXPECT_EQ(std::vector<std::uint32_t>(kept.index, kept.index + kept.count), expected);
}

TEST(Threshold, SumsTheTail)
{
  std::vector<float> const x = gradient(300'007);
  double sum                 = 0;
  std::size_t count          = 0;
  for (float const v : x) {
    if (std::abs(v) >= 1.0F) {
      sum += static_cast<double>(std::abs(v));
      ++count;
    }
  }
  tail const found = sum_above(x, magnitude_bits(1.0F));
  EXPECT_EQ(found.count, count);
  // At most 2^14 / 32 + 5 float additions in a row, each within half an ulp: 517 * 2^-24.
  EXPECT_NEAR(found.sum, sum, sum * 3.1e-5);
}

TEST(DgcLike, KeepsAboutKAndTheLargestOnly)
{
  std::vector<float> const x = gradient(4'000'000);
  sampled_buffers buffers{x.size()};
  for (sample_select const how : {sample_select::nth_element, sample_select::radix}) {
    sparse_view const kept = dgc_like(x, 40'000, how, buffers);
    EXPECT_GT(kept.count, 28'000U);
    EXPECT_LT(kept.count, 52'001U);
    EXPECT_EQ(positions(kept), largest(x, kept.count));
  }
}

TEST(SidcoLike, KeepsTheLargestOfAnExponentialGradientAndAboutK)
{
  std::mt19937 generator{3};
  std::exponential_distribution<float> exponential;
  std::vector<float> x(1'000'000);
  for (auto& v : x) {
    v = exponential(generator) * (generator() % 2 == 0 ? 1.0F : -1.0F);
  }
  sampled_buffers buffers{x.size()};
  sparse_view const kept = sidco_like(x, 10'000, buffers);
  // The fit is exact here; its own error is that of a mean of 250 000 numbers, 0.2 %, times log(25) = 3.2,
  // and the count's is 1 %: five sigma of both together are 6 %.
  EXPECT_NEAR(static_cast<double>(kept.count), 10'000.0, 600.0);
  EXPECT_EQ(positions(kept), largest(x, kept.count));
}

/// Philox4x32-10 as published, one block at a time.
std::array<std::uint32_t, 4> philox_reference(std::uint64_t counter, std::uint64_t key)
{
  std::array<std::uint32_t, 4> c{static_cast<std::uint32_t>(counter),
                                 static_cast<std::uint32_t>(counter >> 32U), 0, 0};
  auto k0 = static_cast<std::uint32_t>(key);
  auto k1 = static_cast<std::uint32_t>(key >> 32U);
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9U, k1 += 0xBB67AE85U) {
    std::uint64_t const left  = std::uint64_t{0xD2511F53U} * c[0];
    std::uint64_t const right = std::uint64_t{0xCD9E8D57U} * c[2];
    c = {static_cast<std::uint32_t>(right >> 32U) ^ c[1] ^ k0, static_cast<std::uint32_t>(right),
         static_cast<std::uint32_t>(left >> 32U) ^ c[3] ^ k1, static_cast<std::uint32_t>(left)};
  }
  return c;
}

TEST(RandomK, PhiloxKeepsWhatTheGeneratorSays)
{
  std::vector<float> const x = gradient(300'007);
  double const ratio         = 0.03;
  std::uint64_t const seed   = 0x123456789ABCDEFULL;
  auto const limit           = static_cast<std::uint32_t>(ratio * 4294967296.0);
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < x.size(); ++i) {
    if (philox_reference(i / 4, seed)[i % 4] < limit) {
      expected.push_back(i);
    }
  }
  sparse_buffer buffer{x.size()};
  sparse_view const kept = random_k_philox(x, ratio, seed, buffer);
  EXPECT_EQ(positions(kept), expected);
  for (std::size_t i = 0; i < kept.count; ++i) {
    ASSERT_EQ(kept.value[i], x[kept.index[i]] * static_cast<float>(1 / ratio));
  }
}

TEST(RandomK, DrawsAreInRangeAndSpreadEvenly)
{
  std::vector<float> const x(300'007, 1.0F);
  sparse_buffer buffer{x.size()};
  sparse_view const kept = random_k_draws(x, 100'000, 5, buffer);
  double mean            = 0;
  for (std::size_t i = 0; i < kept.count; ++i) {
    ASSERT_LT(kept.index[i], x.size());
    mean += kept.index[i] / 100'000.0;
  }
  // A uniform position has sigma 300007 / sqrt(12); five of the mean's, over sqrt(100000).
  EXPECT_NEAR(mean, 150'003.0, 5 * 300'007 / std::sqrt(12.0) / std::sqrt(1e5));
}

TEST(SignPack, HasTheSignBitOfEveryElement)
{
  std::vector<float> const x = gradient(300'007);
  std::vector<std::uint8_t> bits(x.size() / 8 + 64, 0xA5);
  float const magnitude = sign_pack(x, bits.data());
  double sum            = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(bits[i / 8] >> (i % 8) & 1, std::signbit(x[i]) ? 1 : 0) << i;
    sum += static_cast<double>(std::abs(x[i]));
  }
  EXPECT_NEAR(static_cast<double>(magnitude), sum / static_cast<double>(x.size()), 1e-5);
}

TEST(BucketQuantize, StaysWithinOneStepAndIsRightOnAverage)
{
  std::vector<float> const x = gradient(512 * 64);
  std::vector<double> mean(x.size());
  std::vector<double> width(x.size());
  int const rounds = 400;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::uint8_t> packed(x.size() / 2 + 64);
    std::vector<bucket_range> ranges(x.size() / bucket_elements);
    bucket_quantize(x, static_cast<std::uint32_t>(round) * 7919U + 1, packed.data(), ranges.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::uint8_t const byte  = packed[i / 32 * 16 + i % 16];
      int const level          = i % 32 < 16 ? byte & 15 : byte >> 4;
      bucket_range const range = ranges[i / bucket_elements];
      float const decoded      = range.least + static_cast<float>(level) * range.step;
      ASSERT_LE(std::abs(decoded - x[i]), range.step * 1.001F);
      mean[i] += static_cast<double>(decoded) / rounds;
      width[i] = static_cast<double>(range.step);
    }
  }
  double deviation = 0;  // in steps, averaged over all elements
  for (std::size_t i = 0; i < x.size(); ++i) {
    deviation += (mean[i] - static_cast<double>(x[i])) / width[i] / static_cast<double>(x.size());
  }
  // One rounding has a sigma of at most half a step; five sigma of 400 * 32768 of them.
  EXPECT_LT(std::abs(deviation), 5 * 0.5 / std::sqrt(400.0 * 32768));
}

TEST(HalfCast, RoundsToNearestEven)
{
  std::vector<float> x(100, 1.0F);
  x[0]  = 1.00048828125F;     // half way between 0x3C00 and 0x3C01
  x[1]  = 1.00146484375F;     // half way between 0x3C01 and 0x3C02
  x[2]  = -65504.0F;          // largest
  x[99] = 5.9604644775e-08F;  // least sub-normal
  array<std::uint16_t> halves{x.size()};
  half_cast(x, halves.data());
  EXPECT_EQ(halves[0], 0x3C00);
  EXPECT_EQ(halves[1], 0x3C02);
  EXPECT_EQ(halves[2], 0xFBFF);
  EXPECT_EQ(halves[50], 0x3C00);
  EXPECT_EQ(halves[99], 0x0001);
}

class Bandwidth : public testing::TestWithParam<std::size_t> {};

TEST_P(Bandwidth, ReadsTouchEveryWord)
{
  std::vector<float> const x = gradient(GetParam());
  std::uint32_t expected     = 0;
  for (float const v : x) {
    std::uint32_t bits;
    std::memcpy(&bits, &v, sizeof(bits));
    expected ^= bits;
  }
  EXPECT_EQ(read_plain(x), expected);
  EXPECT_EQ(read_prefetched(x, linear_prefetch), expected);
  EXPECT_EQ(read_prefetched(x, page_interleaved_prefetch), expected);
  EXPECT_EQ(read_four_runs(x), expected);
}

TEST_P(Bandwidth, CopiesAndFillsReachEveryWordAndNoOther)
{
  std::vector<float> const x = gradient(GetParam());
  for (auto* copy : {copy_libc, copy_non_temporal}) {
    array<float> out{x.size() + 1};
    std::fill(out.begin(), out.end(), 7.0F);
    copy(x, out.data());
    EXPECT_TRUE(std::equal(x.begin(), x.end(), out.begin()));
    EXPECT_EQ(out[x.size()], 7.0F);
  }
  for (auto* fill : {fill_libc, fill_non_temporal}) {
    array<float> out{x.size() + 1};
    std::fill(out.begin(), out.end(), 7.0F);
    fill({out.data(), x.size()});
    EXPECT_EQ(std::count(out.begin(), out.end(), 0.0F), static_cast<std::ptrdiff_t>(x.size()));
    EXPECT_EQ(out[x.size()], 7.0F);
  }
}

TEST_P(Bandwidth, AxpyAdds)
{
  std::vector<float> const x = gradient(GetParam());
  std::vector<float> y       = gradient(GetParam(), 2);
  std::vector<float> expected(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    expected[i] = y[i] + 0.5F * x[i];
  }
  axpy(x, 0.5F, y);
  EXPECT_EQ(y, expected);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Bandwidth, testing::Values(1U, 63U, 64U, 257U, 300'007U));

TEST(Scatter, WritesKeptElementsAndZerosElsewhere)
{
  std::vector<float> const x = gradient(300'007);
  sparse_buffer buffer{x.size()};
  sparse_view const kept = compress_above(x, magnitude_bits(3.0F), buffer);
  std::vector<float> dense(x.size(), 9.0F);
  fill_and_scatter(kept, dense);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(dense[i], std::abs(x[i]) >= 3.0F ? x[i] : 0.0F);
  }
  scatter_add(kept, 2.0F, dense);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(dense[i], std::abs(x[i]) >= 3.0F ? x[i] + 2.0F * x[i] : 0.0F);
  }
}

TEST(Scatter, CopiesTiles)
{
  std::vector<float> dense(64, 9.0F);
  std::uint32_t const tiles[] = {1, 3};
  std::vector<float> const values(32, 2.0F);
  fill_and_copy_tiles({tiles, values.data(), 2, 16}, dense);
  for (std::size_t i = 0; i < dense.size(); ++i) {
    EXPECT_EQ(dense[i], i / 16 % 2 == 1 ? 2.0F : 0.0F);
  }
}

}  // namespace
}  // namespace bird::peers
