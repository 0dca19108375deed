/// How many slots a packet has: exactly the promised number, for every size around every constant.
#include <gtest/gtest.h>

#include "codec_call.hpp"
#include "gradients.hpp"
#include "oracle.hpp"

namespace {

using bird::sampling;
using bird::values;
using codec_test::tensor;

constexpr bird::sample_key key{77, 1, 2};

struct expected_count {
  double ratio;
  std::uint64_t tiles;
  std::uint64_t slots;
};

// Written out, so that no formula is shared with the library.
constexpr expected_count counts[] = {
  {1.0, 1, 1},  {1.0, 7, 7},  {1.0, 1024, 1024}, {1.0, 1'000'000, 1'000'000},
  {0.5, 1, 1},  {0.5, 7, 4},  {0.5, 1024, 512},  {0.5, 1'000'000, 500'000},
  {0.01, 1, 1}, {0.01, 7, 1}, {0.01, 1024, 11},  {0.01, 1'000'000, 10'000},
  {1e-6, 1, 1}, {1e-6, 7, 1}, {1e-6, 1024, 1},   {1e-6, 1'000'000, 1},
};

TEST(Slots, AreExactlyRatioTimesTiles)
{
  std::vector<float> const elements = codec_test::gradient(1'000'000, 61);
  for (sampling const how : {sampling::systematic, sampling::uniform, sampling::top}) {
    for (expected_count const& one : counts) {
      for (values const what : {values::sign, values::full}) {
        auto const options = codec_test::options_of(how, what, 1, one.ratio);
        std::vector<bird::const_tensor_view> const view{{elements.data(), one.tiles}};
        auto const report = codec_test::compress(options, view, key).report;
        EXPECT_EQ(report.kept_slots, one.slots) << codec_test::name_of(options) << ", " << one.tiles;
        EXPECT_EQ(report.tiles, one.tiles);
      }
    }
  }
}

TEST(Slots, OfBiRandomAreTheSurvivorsUpToTheCap)
{
  std::vector<float> const elements = codec_test::gradient(3000, 62);
  std::vector<float> norms;
  for (float const x : elements) {
    norms.push_back(std::abs(x));
  }
  bool thinned = false, whole = false;
  for (double const ratio : {1.0, 0.3, 0.1, 0.05, 0.01}) {
    for (std::uint32_t step = 0; step < 5; ++step) {
      std::uint64_t const cap = oracle::slot_limit(ratio, norms.size());
      auto const sample       = oracle::bi_random(norms, cap, 1.0, {key.seed, step, key.tensor_id}, 0);
      auto const options      = codec_test::options_of(sampling::bi_random, values::sign, 1, ratio);
      auto const report = codec_test::compress(options, elements, {key.seed, step, key.tensor_id}).report;
      EXPECT_EQ(report.kept_slots, std::min(sample.survivors, cap));
      thinned = thinned || sample.survivors > cap;
      whole   = whole || sample.survivors < cap;
    }
  }
  EXPECT_TRUE(thinned && whole);
}

TEST(Slots, OfTopTakeTheFirstOfEqualTiles)
{
  std::vector<float> elements(100, 1.0F);
  elements[70]       = 2;
  auto const options = codec_test::options_of(sampling::top, values::full, 1, 0.05);
  auto const packet  = codec_test::compress(options, elements, key).decoded();
  EXPECT_EQ(packet.slots, (std::vector<std::uint64_t>{0, 1, 2, 3, 70}));
}

TEST(Slots, AreNoMoreThanTheTilesThatAreNotZero)
{
  std::vector<float> elements(1000, 0.0F);
  elements[10]  = 1;
  elements[500] = -1;
  for (sampling const how : codec_test::all_samplings) {
    auto const options = codec_test::options_of(how, values::full, 1, 0.5);
    EXPECT_LE(codec_test::compress(options, elements, key).report.kept_slots, 2U) << bird::to_string(how);
  }
}

// With signs a heavy tile takes several slots, so the packet keeps its size.
TEST(Slots, OfSystematicSignsKeepTheirNumberForAnyDataThatIsNotZero)
{
  std::vector<float> elements(1000, 0.0F);
  elements[10]       = 1e-30F;
  auto const options = codec_test::options_of(sampling::systematic, values::sign, 1, 0.5);
  EXPECT_EQ(codec_test::compress(options, elements, key).report.kept_slots, 500U);
}

TEST(Slots, AreNeverNoneForAShortTensor)
{
  for (std::size_t count = 1; count <= 64; ++count) {
    std::vector<float> const elements = codec_test::gradient(count, 63);
    for (sampling const how : codec_test::all_samplings) {
      for (std::uint32_t const tile : {1U, 8U, 64U}) {
        auto const options = codec_test::options_of(how, values::sign, tile, 1e-9);
        EXPECT_GE(codec_test::compress(options, elements, key).report.kept_slots, 1U)
          << codec_test::name_of(options) << ", " << count << " elements";
      }
    }
  }
}

std::vector<std::size_t> sizes_around(std::size_t tile)
{
  return {0,  1,   2,   3,   tile - 1, tile,     tile + 1, 2 * tile - 1, 2 * tile,
          31, 127, 512, 513, 1021,     8 * tile, 4099,     64 * tile,    64 * tile + 1};
}

TEST(Lossless, IsRatio1OfValuesInFullForEverySize)
{
  for (sampling const how : {sampling::systematic, sampling::uniform, sampling::top}) {
    for (std::uint32_t const tile : {1U, 2U, 7U, 8U, 64U, 1000U}) {
      for (std::size_t const count : sizes_around(tile)) {
        for (bird::index const names : codec_test::all_indices) {
          std::vector<float> elements = codec_test::gradient(count, 64, 0.3);
          auto const options =
            codec_test::options_of(how, values::full, tile, 1.0, 1.0, bird::norm::l1, names);
          auto const got = codec_test::compress(options, elements, key);
          ASSERT_EQ(codec_test::decompress(got.packet)[0], elements)
            << codec_test::name_of(options) << ", " << count << " elements";
        }
      }
    }
  }
}

// All workers hold the same exact values: ratio 1 must not blur them in any dtype.
TEST(Lossless, IsRatio1InEveryDtype)
{
  std::vector<float> const elements = codec_test::gradient(1003, 65);
  for (bird::dtype const type : codec_test::all_dtypes) {
    tensor const input{elements, type};
    for (sampling const how : {sampling::systematic, sampling::uniform, sampling::top}) {
      auto const options = codec_test::options_of(how, values::full, 8, 1.0);
      auto const got     = codec_test::compress(options, {input}, key);
      EXPECT_EQ(codec_test::decompress(got.packet)[0], codec_test::widened(input.bytes, type));
      EXPECT_EQ(codec_test::decompress(got.packet, type)[0], codec_test::widened(input.bytes, type));
    }
  }
}

TEST(EverySize, CompressesAndDecodesAsSpecified)
{
  for (sampling const how : codec_test::all_samplings) {
    for (values const what : codec_test::all_values) {
      for (std::uint32_t const tile : {1U, 7U, 8U, 64U}) {
        for (std::size_t const count : sizes_around(tile)) {
          for (bird::dtype const type : {bird::dtype::float32, bird::dtype::float16}) {
            auto const options = codec_test::options_of(how, what, tile, 0.3);
            auto const got =
              codec_test::compress(options, {tensor{codec_test::gradient(count, 66), type}}, key);
            ASSERT_EQ(codec_test::decompress(got.packet), got.decoded().elements)
              << codec_test::name_of(options) << ", " << count << " elements";
          }
        }
      }
    }
  }
}

TEST(List, MayBeEmpty)
{
  for (sampling const how : codec_test::all_samplings) {
    auto const options = codec_test::options_of(how, values::sign, 8, 0.1);
    auto const got     = codec_test::compress(options, std::vector<tensor>{}, key);
    EXPECT_EQ(got.report.packet_bytes, 64U);
    EXPECT_EQ(got.report.dense_bytes, 0U);
    EXPECT_TRUE(codec_test::decompress(got.packet).empty());
  }
}

TEST(List, MayHoldEmptyTensorsAnywhere)
{
  std::vector<float> const none;
  std::vector<tensor> const list{
    tensor{none}, tensor{none, bird::dtype::float32, bird::segment_role::companion}, tensor{{1, 2, 3}},
    tensor{none, bird::dtype::float32, bird::segment_role::dense}, tensor{none}};
  for (sampling const how : codec_test::all_samplings) {
    for (bird::index const names : codec_test::all_indices) {
      auto const options = codec_test::options_of(how, values::full, 1, 1.0, 1.0, bird::norm::l1, names);
      auto const got     = codec_test::compress(options, list, key);
      auto const decoded = codec_test::decompress(got.packet);
      EXPECT_EQ(decoded, got.decoded().elements);
      EXPECT_EQ(decoded[2].size(), 3U);
    }
  }
}

TEST(Rows, AreTilesWhereTheOptionSaysSo)
{
  std::vector<float> const elements = codec_test::gradient(120, 67);
  tensor const rows{elements, bird::dtype::float32, bird::segment_role::sampled, 12};
  tensor const whole{elements};
  for (sampling const how : codec_test::all_samplings) {
    auto const got =
      codec_test::compress(codec_test::options_of(how, values::sign, 0, 0.2), {rows, whole}, key);
    EXPECT_EQ(got.report.tiles, 11U);
    EXPECT_EQ(codec_test::decompress(got.packet), got.decoded().elements);
  }
}

// Bytes both ways are what a user pays for; the report says them without a look into the packet.
TEST(Report, SaysBytesAndTime)
{
  auto const got = codec_test::compress(bird::preset("tile"), codec_test::gradient(8000, 68), key);
  EXPECT_EQ(got.report.dense_bytes, 32'000U);
  EXPECT_EQ(got.report.packet_bytes, bird::packet_bytes(got.packet));
  EXPECT_EQ(got.report.kept_slots, 100U);
  EXPECT_EQ(got.report.tiles, 1000U);
  EXPECT_FALSE(got.report.non_finite);
  EXPECT_GT(got.report.omega, 0);
  EXPECT_GT(got.report.seconds, 0);
}

}  // namespace
