/// Values that break codecs: zeros, Inf and NaN, sub-normal and huge numbers, in every dtype.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gradients.hpp"
#include "sampled_tensor.hpp"

namespace {

using bird::dtype;
using bird::sampling;
using bird::segment_role;
using bird::values;
using codec_test::tensor;

constexpr bird::sample_key key{5, 6, 7};
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_bits = std::numeric_limits<float>::quiet_NaN();
constexpr float largest  = std::numeric_limits<float>::max();

bool all_finite(std::vector<float> const& elements, std::size_t first = 0)
{
  for (std::size_t i = first; i < elements.size(); ++i) {
    if (!std::isfinite(elements[i])) {
      return false;
    }
  }
  return true;
}

TEST(AllZeros, StayExactlyZero)
{
  for (sampling const how : codec_test::all_samplings) {
    for (values const what : codec_test::all_values) {
      for (dtype const type : codec_test::all_dtypes) {
        for (float const zero : {0.0F, -0.0F}) {
          auto const options = codec_test::options_of(how, what, 8, 0.5);
          auto const got = codec_test::compress(options, {tensor{std::vector<float>(1000, zero), type}}, key);
          EXPECT_EQ(got.report.kept_slots, 0U);
          EXPECT_EQ(got.report.omega, 0.0);
          EXPECT_EQ(codec_test::decompress(got.packet)[0], std::vector<float>(1000, 0.0F));
        }
      }
    }
  }
}

// A frozen layer between two that train: its gradient is exactly zero and must stay so.
TEST(AllZeros, OfOneSegmentStayZeroBesideOthers)
{
  std::vector<float> const frozen(500, 0.0F);
  std::vector<tensor> const list{tensor{codec_test::gradient(700, 71)}, tensor{frozen},
                                 tensor{codec_test::gradient(300, 72)}};
  for (sampling const how : codec_test::all_samplings) {
    for (values const what : codec_test::all_values) {
      auto const got = codec_test::compress(codec_test::options_of(how, what, 8, 0.5), list, key);
      EXPECT_EQ(codec_test::decompress(got.packet)[1], frozen) << bird::to_string(how);
    }
  }
}

TEST(ZeroTiles, AreNeverSent)
{
  std::vector<float> elements = codec_test::gradient(800, 73);
  std::fill(elements.begin() + 160, elements.begin() + 480, 0.0F);
  for (sampling const how : codec_test::all_samplings) {
    for (values const what : codec_test::all_values) {
      auto const options = codec_test::options_of(how, what, 16, 0.9);
      std::vector<float> const decoded =
        codec_test::decompress(codec_test::compress(options, elements, key).packet)[0];
      for (std::size_t i = 160; i < 480; ++i) {
        ASSERT_EQ(decoded[i], 0.0F) << codec_test::name_of(options);
      }
    }
  }
}

TEST(AllNegative, DecodeToNegativeNumbersOnly)
{
  std::vector<float> const elements(1000, -0.25F);
  for (sampling const how : codec_test::all_samplings) {
    for (values const what : codec_test::all_values) {
      auto const options = codec_test::options_of(how, what, 8, 0.1);
      auto const got     = codec_test::compress(options, elements, key);
      EXPECT_GT(got.report.kept_slots, 0U);
      std::vector<float> const decoded = codec_test::decompress(got.packet)[0];
      for (float const x : decoded) {
        EXPECT_LE(x, 0.0F) << codec_test::name_of(options);
      }
    }
  }
}

TEST(Constant, IsSampledWithoutANan)
{
  for (float const constant : {1.0F, 1e-30F, 1e30F}) {
    for (std::size_t const count : {1U, 9U, 1000U}) {
      for (sampling const how : codec_test::all_samplings) {
        for (values const what : codec_test::all_values) {
          auto const options = codec_test::options_of(how, what, 8, 0.1);
          auto const got     = codec_test::compress(options, std::vector<float>(count, constant), key);
          EXPECT_TRUE(all_finite(codec_test::decompress(got.packet)[0]));
          EXPECT_TRUE(std::isfinite(got.report.omega) && got.report.omega >= 0);
          EXPECT_FALSE(got.report.non_finite);
        }
      }
    }
  }
}

// Sub-normal numbers are numbers: they are sampled like others, and at ratio 1 come back.
TEST(SubNormals, AreSampledAndSent)
{
  std::vector<float> elements = codec_test::gradient(1000, 74);
  for (float& x : elements) {
    x *= 1e-41F;
  }
  for (sampling const how : codec_test::all_samplings) {
    EXPECT_GT(codec_test::compress(codec_test::options_of(how, values::sign, 8, 0.1), elements, key)
                .report.kept_slots,
              0U);
    if (how != sampling::bi_random) {
      auto const got = codec_test::compress(codec_test::options_of(how, values::full, 8, 1.0), elements, key);
      EXPECT_EQ(codec_test::decompress(got.packet)[0], elements) << bird::to_string(how);
    }
  }
}

TEST(HugeRange, OfNormsDecodesToFiniteNumbers)
{
  // Tiles from 1e-30 to 1e30 in one segment: certain tiles are exact, all others stay finite.
  std::vector<float> elements(61 * 4);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = std::pow(10.0F, static_cast<float>(i / 4) - 30.0F);
  }
  for (sampling const how : {sampling::systematic, sampling::uniform, sampling::bi_random}) {
    for (values const what : codec_test::all_values) {
      auto const got = codec_test::compress(codec_test::options_of(how, what, 4, 0.3), elements, key);
      EXPECT_TRUE(all_finite(codec_test::decompress(got.packet)[0])) << bird::to_string(how);
    }
  }
}

TEST(HugeRange, OfNormsComesBackAtRatio1)
{
  std::vector<float> elements(77);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = std::pow(10.0F, static_cast<float>(i) - 38.0F);
  }
  for (sampling const how : {sampling::systematic, sampling::uniform, sampling::top}) {
    auto const got = codec_test::compress(codec_test::options_of(how, values::full, 1, 1.0), elements, key);
    EXPECT_EQ(codec_test::decompress(got.packet)[0], elements) << bird::to_string(how);
  }
}

TEST(LargestFloat, ComesBackAtRatio1)
{
  std::vector<float> elements(100, largest);
  elements[7]  = -largest;
  elements[20] = 1;
  for (sampling const how : {sampling::systematic, sampling::uniform, sampling::top}) {
    auto const got = codec_test::compress(codec_test::options_of(how, values::full, 8, 1.0), elements, key);
    EXPECT_EQ(codec_test::decompress(got.packet)[0], elements) << bird::to_string(how);
    EXPECT_FALSE(got.report.non_finite);
  }
}

TEST(LargestFloat, MakesAPacketThatParsesForEveryCoding)
{
  std::vector<float> const elements(1000, largest);
  for (sampling const how : codec_test::all_samplings) {
    for (values const what : codec_test::all_values) {
      auto const got = codec_test::compress(codec_test::options_of(how, what, 8, 0.1), elements, key);
      EXPECT_FALSE(got.view().header.flags & bird::header_flag::non_finite);
      std::vector<float> const decoded = codec_test::decompress(got.packet)[0];
      for (float const x : decoded) {
        EXPECT_FALSE(std::isnan(x)) << bird::to_string(how);
      }
    }
  }
}

// The sum happens before anybody divides by the number of workers: 60 000 / 0.01 must not become Inf on the
// way.
TEST(HalfPrecision, Of60000AveragedOver64WorkersIsFiniteAndRight)
{
  std::vector<float> const elements(640, 60'000.0F);
  for (sampling const how : {sampling::systematic, sampling::uniform, sampling::bi_random}) {
    for (values const what : {values::full, values::sign}) {
      auto const options = codec_test::options_of(how, what, 1, 0.01);
      std::vector<codec_test::compressed> workers;
      std::vector<bird::weighted_packet> packets;
      for (std::uint32_t worker = 0; worker < 64; ++worker) {
        workers.push_back(codec_test::compress(options, {tensor{elements, dtype::float16}}, {1, 2, worker}));
        EXPECT_TRUE(all_finite(codec_test::decompress(workers.back().packet)[0]));
      }
      for (codec_test::compressed const& worker : workers) {
        packets.push_back({worker.packet, 1.0F / 64});
      }
      std::vector<float> average(elements.size(), 0.0F);
      std::vector<bird::tensor_view> const output{{average.data(), average.size(), dtype::float32}};
      bird::apply(packets, output, bird::on_host);
      double sum = 0;
      for (float const x : average) {
        ASSERT_TRUE(std::isfinite(x));
        sum += static_cast<double>(x);
      }
      // Equal elements: every packet has 7 slots that stand for 640 elements, up to one fp16 rounding.
      EXPECT_NEAR(sum / 640, 60'000, 60'000 * std::ldexp(1.0, -11)) << bird::to_string(how);
    }
  }
}

TEST(HalfPrecision, CompanionsLeaveItsRangeWithoutBias)
{
  std::vector<float> const elements(800, 1.0F);
  std::vector<tensor> const list{
    tensor{elements, dtype::float16},
    tensor{std::vector<float>(100, 20'000.0F), dtype::float16, segment_role::companion}};
  for (sampling const how : {sampling::systematic, sampling::uniform, sampling::bi_random}) {
    auto const options = codec_test::options_of(how, values::full, 8, 0.1);
    auto const decoded = codec_test::decompress(codec_test::compress(options, list, key).packet);
    double sum         = 0;
    for (float const x : decoded[1]) {
      sum += static_cast<double>(x);
    }
    EXPECT_NEAR(sum / 100, 20'000, 20'000 * std::ldexp(1.0, -10)) << bird::to_string(how);
  }
}

// --- Inf and NaN -----------------------------------------------------------------------------------------

struct bad_value {
  float value;
  std::size_t at;
};

std::vector<bad_value> bad_values()
{
  std::vector<bad_value> all;
  for (float const value : {infinity, -infinity, nan_bits}) {
    for (std::size_t const at : {0U, 1U, 500U, 998U, 999U}) {
      all.push_back({value, at});
    }
  }
  return all;
}

class NonFinite : public testing::TestWithParam<sampling> {};

void expect_flag_and_nan(bird::compressor_options const& options, bad_value const& bad, dtype type)
{
  std::vector<float> elements = codec_test::gradient(1000, 75);
  elements[bad.at]            = bad.value;
  std::vector<tensor> const list{tensor{codec_test::gradient(100, 76), type}, tensor{elements, type}};
  auto const got     = codec_test::compress(options, list, key);
  auto const decoded = codec_test::decompress(got.packet);
  ASSERT_TRUE(got.report.non_finite);
  ASSERT_EQ(got.view().header.flags, bird::header_flag::non_finite);
  ASSERT_EQ(got.view().segments[0].flags, 0);
  ASSERT_EQ(got.view().segments[1].flags, bird::header_flag::non_finite);
  ASSERT_TRUE(all_finite(decoded[0]));
  ASSERT_TRUE(std::isnan(decoded[1][0]));
  ASSERT_TRUE(all_finite(decoded[1], 1));
  std::size_t const first = bad.at / options.tile * options.tile;  // of its tile, which is never sampled
  for (std::size_t i = std::max<std::size_t>(first, 1); i < first + options.tile; ++i) {
    ASSERT_EQ(decoded[1][i], 0.0F);
  }
}

// ratio 1e-9 keeps one tile, which is never the bad one: the flag must come from tiles that are not sampled.
TEST_P(NonFinite, AnywhereRaisesTheFlagOfItsSegmentOnly)
{
  for (values const what : codec_test::all_values) {
    for (std::uint32_t const tile : {1U, 8U}) {
      for (double const ratio : {1e-9, 0.5, 1.0}) {
        auto const options = codec_test::options_of(GetParam(), what, tile, ratio);
        for (bad_value const& bad : bad_values()) {
          for (dtype const type : codec_test::all_dtypes) {
            SCOPED_TRACE(codec_test::name_of(options) + ", " + std::to_string(bad.value) + " at " +
                         std::to_string(bad.at) + ", " + bird::to_string(type));
            expect_flag_and_nan(options, bad, type);
          }
        }
      }
    }
  }
}

TEST_P(NonFinite, EverywhereLeavesNothingToSample)
{
  for (values const what : codec_test::all_values) {
    auto const options = codec_test::options_of(GetParam(), what, 8, 0.5);
    auto const got     = codec_test::compress(options, std::vector<float>(100, nan_bits), key);
    EXPECT_EQ(got.report.kept_slots, 0U);
    EXPECT_TRUE(std::isnan(codec_test::decompress(got.packet)[0][0]));
  }
}

TEST_P(NonFinite, ReachesATensorThatPacketsAreAddedTo)
{
  std::vector<float> elements = codec_test::gradient(1000, 77);
  elements[444]               = infinity;
  auto const options          = codec_test::options_of(GetParam(), values::full, 8, 0.1);
  auto const bad              = codec_test::compress(options, elements, key);
  auto const good             = codec_test::compress(options, codec_test::gradient(1000, 78), key);
  for (bool const bad_first : {true, false}) {
    std::vector<float> sum(1000, 0.0F);
    std::vector<bird::weighted_packet> packets{{good.packet, 0.5F}, {bad.packet, 0.5F}};
    if (bad_first) {
      std::swap(packets[0], packets[1]);
    }
    std::vector<bird::tensor_view> const output{{sum.data(), sum.size(), dtype::float32}};
    bird::apply(packets, output, bird::on_host);
    EXPECT_TRUE(std::isnan(sum[0]));
    EXPECT_TRUE(all_finite(sum, 1));
  }
}

TEST_P(NonFinite, InADenseSegmentOrACompanionRaisesItsFlag)
{
  std::vector<float> entries = codec_test::gradient(125, 79);
  entries[60]                = nan_bits;
  for (segment_role const role : {segment_role::dense, segment_role::companion}) {
    for (values const what : codec_test::all_values) {
      std::vector<tensor> const list{tensor{codec_test::gradient(1000, 80)},
                                     tensor{entries, dtype::float32, role}};
      auto const got     = codec_test::compress(codec_test::options_of(GetParam(), what, 8, 0.5), list, key);
      auto const decoded = codec_test::decompress(got.packet);
      EXPECT_EQ(got.view().segments[0].flags, 0);
      EXPECT_EQ(got.view().segments[1].flags, bird::header_flag::non_finite);
      EXPECT_TRUE(all_finite(decoded[0]));
      EXPECT_TRUE(std::isnan(decoded[1][0]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, NonFinite, testing::ValuesIn(codec_test::all_samplings),
                         [](auto const& how) { return bird::to_string(how.param); });

// The tiles without the Inf stay unbiased, as if the bad tile were zero.
TEST(NonFinite, LeavesTheOtherTilesUnbiased)
{
  std::vector<float> elements = codec_test::gradient(400, 81);
  for (float& x : elements) {
    x = std::copysign(0.5F + std::min(std::abs(x), 2.0F), x);
  }
  elements[203] = infinity;
  for (sampling const how : {sampling::systematic, sampling::uniform, sampling::bi_random}) {
    std::vector<codec_test::running_mean> means(elements.size());
    codec_test::for_each_step(codec_test::options_of(how, values::full, 8, 0.3), {tensor{elements}}, 4000,
                              [&](auto const& decoded, auto const&) {
                                for (std::size_t i = 1; i < elements.size(); ++i) {
                                  means[i].add(static_cast<double>(decoded[0][i]));
                                }
                              });
    for (std::size_t i = 1; i < elements.size(); ++i) {
      double const expected = i / 8 == 203 / 8 ? 0 : static_cast<double>(elements[i]);
      ASSERT_LT(codec_test::deviation(means[i], expected), codec_test::sigmas)
        << bird::to_string(how) << ", element " << i;
    }
  }
}

TEST(Blind, SeesNothingOutsideWhatItKeeps)
{
  auto options                     = codec_test::options_of(sampling::uniform, values::full, 1, 0.01);
  options.blind                    = true;
  std::vector<float> elements      = codec_test::gradient(1000, 82);
  auto const sighted               = codec_test::compress(options, elements, key);
  std::vector<float> const decoded = codec_test::decompress(sighted.packet)[0];
  std::size_t kept = 0, left = 0;
  for (std::size_t i = 1; i < elements.size(); ++i) {
    (decoded[i] != 0 ? kept : left) = i;
  }
  std::vector<float> outside = elements, inside = elements;
  outside[left] = infinity;
  inside[kept]  = infinity;
  EXPECT_FALSE(codec_test::compress(options, outside, key).report.non_finite);
  EXPECT_TRUE(codec_test::compress(options, inside, key).report.non_finite);
  EXPECT_EQ(codec_test::decompress(codec_test::compress(options, outside, key).packet)[0], decoded);
}

}  // namespace
