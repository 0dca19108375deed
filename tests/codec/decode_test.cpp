/// Packets of the encoder, decoded and added up: against the decoder from the specification, at every size
/// around what decoder and adder work in, for any number of threads and any mixture of packets.
#include <gtest/gtest.h>

#include <map>

#include "codec_call.hpp"
#include "gradients.hpp"
#include "simd_targets.hpp"

namespace {

using bird::dtype;
using bird::sampling;
using bird::segment_role;
using bird::values;
using codec_test::compressed;
using codec_test::tensor;

constexpr bird::sample_key key{12, 34, 56};

/// Adds packets onto `start`, stored as `type`.
std::vector<float> added(std::vector<bird::weighted_packet> const& packets, std::vector<float> const& start,
                         dtype type = dtype::float32)
{
  std::vector<std::byte> bytes = codec_test::stored(start, type);
  std::vector<bird::tensor_view> const view{{bytes.data(), start.size(), type}};
  bird::apply(packets, view, bird::on_host);
  return codec_test::widened(bytes, type);
}

// The decoder works in units of 256 elements, the adder in windows of 8192.
TEST(LongTiles, DecodeAndAddUpAsSpecified)
{
  std::vector<float> const elements = codec_test::gradient(70'001, 121);
  for (std::uint32_t const tile :
       {255U, 256U, 257U, 511U, 512U, 513U, 1000U, 8191U, 8192U, 8193U, 20'000U, 70'001U}) {
    for (sampling const how : {sampling::systematic, sampling::uniform}) {
      for (values const what : {values::sign, values::full}) {
        auto const options                = codec_test::options_of(how, what, tile, 0.4);
        compressed const got              = codec_test::compress(options, elements, key);
        std::vector<float> const expected = got.decoded().elements[0];
        ASSERT_EQ(codec_test::decompress(got.packet)[0], expected) << codec_test::name_of(options);
        std::vector<float> const zeros(elements.size(), 0.0F);
        ASSERT_EQ(added({{got.packet, 1.0F}}, zeros), expected) << codec_test::name_of(options);
      }
    }
  }
}

// Beyond 4 MiB zeros go around the caches; rows are long enough for gaps that take that path and for some
// that do not.
TEST(LargeOutputs, AreWrittenWholeAtAnyAddress)
{
  std::vector<float> const elements = codec_test::gradient(1'200'003, 122);
  for (double const ratio : {0.0001, 0.01, 0.2}) {
    auto const options                = codec_test::options_of(sampling::systematic, values::full, 8, ratio);
    compressed const got              = codec_test::compress(options, elements, key);
    std::vector<float> const expected = got.decoded().elements[0];
    for (std::size_t const offset : {0U, 1U, 3U, 15U}) {
      for (int const threads : {1, 2, 5}) {
        codec_test::thread_count const scope{threads};
        constexpr float poison = -77.0F;
        std::vector<float> output(elements.size() + 32, poison);
        std::vector<bird::tensor_view> const view{{output.data() + offset, elements.size(), dtype::float32}};
        bird::decompress(got.packet, view, bird::on_host);
        ASSERT_TRUE(
          std::equal(expected.begin(), expected.end(), output.begin() + static_cast<std::ptrdiff_t>(offset)));
        for (std::size_t i = 0; i < output.size(); ++i) {
          if (i < offset || i >= offset + elements.size()) {
            ASSERT_EQ(output[i], poison);
          }
        }
      }
    }
  }
}

TEST(Outputs, MayHaveAnotherDtypeThanThePacket)
{
  std::vector<tensor> list{tensor{codec_test::gradient(3001, 123), dtype::bfloat16},
                           tensor{codec_test::gradient(376, 124), dtype::bfloat16, segment_role::companion},
                           tensor{codec_test::gradient(40, 125), dtype::bfloat16, segment_role::dense}};
  for (sampling const how : codec_test::all_samplings) {
    for (values const what : codec_test::all_values) {
      compressed const got = codec_test::compress(codec_test::options_of(how, what, 8, 0.3), list, key);
      for (dtype const type : codec_test::all_dtypes) {
        auto const decoded = codec_test::decompress(got.packet, type);
        for (std::size_t t = 0; t < list.size(); ++t) {
          std::vector<float> const expected =
            codec_test::widened(codec_test::stored(got.decoded().elements[t], type), type);
          ASSERT_EQ(decoded[t], expected) << bird::to_string(how) << ' ' << bird::to_string(type);
        }
      }
    }
  }
}

/// Packets of one tensor that differ in everything that may differ.
std::vector<compressed> mixture(std::vector<float> const& elements)
{
  std::vector<compressed> packets;
  std::uint32_t step = 0;
  for (bird::index const names : codec_test::all_indices) {
    for (values const what : {values::full, values::sign}) {
      for (std::uint32_t const tile : {1U, 8U, 300U, 20'000U}) {
        auto const options =
          codec_test::options_of(sampling::top, what, tile, 0.2, 1.0, bird::norm::l1, names);
        dtype const type = codec_test::all_dtypes[step % 3];
        packets.push_back(codec_test::compress(options, {tensor{elements, type}}, {1, ++step, 0}));
      }
    }
  }
  return packets;
}

std::vector<float> some_weights(std::size_t count)
{
  std::vector<float> weights;
  for (std::size_t i = 0; i < count; ++i) {
    weights.push_back(1.0F / static_cast<float>(i + 2) - 0.2F);
  }
  return weights;
}

TEST(Apply, AddsEachPacketTimesItsWeightInTheOrderGiven)
{
  std::vector<float> const elements     = codec_test::gradient(50'003, 126);
  std::vector<compressed> const packets = mixture(elements);
  std::vector<float> const weights      = some_weights(packets.size());
  std::vector<float> const start        = codec_test::gradient(50'003, 127);
  for (dtype const type : codec_test::all_dtypes) {
    std::vector<float> expected = codec_test::widened(codec_test::stored(start, type), type);
    std::vector<bird::weighted_packet> weighted;
    for (std::size_t p = 0; p < packets.size(); ++p) {
      std::vector<float> const decoded = packets[p].decoded().elements[0];
      for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i] += weights[p] * decoded[i];  // top: no tile has two slots
      }
      weighted.push_back({packets[p].packet, weights[p]});
    }
    expected = codec_test::widened(codec_test::stored(expected, type), type);
    ASSERT_EQ(added(weighted, start, type), expected) << bird::to_string(type);
  }
}

TEST(Apply, GivesTheSameBitsForAnyNumberOfThreads)
{
  std::vector<float> const elements = codec_test::gradient(600'007, 128);
  std::vector<compressed> packets;
  std::vector<bird::weighted_packet> weighted;
  for (std::uint32_t worker = 0; worker < 6; ++worker) {
    auto const names = codec_test::all_indices[worker % 3];
    packets.push_back(codec_test::compress(
      codec_test::options_of(sampling::systematic, worker < 3 ? values::sign : values::full,
                             worker % 2 == 0 ? 7 : 9000, 0.3, 1.0, bird::norm::l1, names),
      elements, {1, 2, worker}));
  }
  for (compressed const& one : packets) {
    weighted.push_back({one.packet, 0.3F});
  }
  for (dtype const type : {dtype::float32, dtype::bfloat16}) {
    std::vector<float> expected;
    for (int const threads : {1, 2, 3, 8}) {
      codec_test::thread_count const scope{threads};
      std::vector<float> const got = added(weighted, elements, type);
      if (expected.empty()) {
        expected = got;
      }
      EXPECT_TRUE(got == expected) << threads << " threads";
    }
  }
}

TEST(Apply, OfManyPacketsIsThatOfOneAfterTheOther)
{
  std::vector<float> const elements     = codec_test::gradient(20'000, 129);
  std::vector<compressed> const packets = mixture(elements);
  std::vector<bird::weighted_packet> all;
  std::vector<float> one_by_one(elements.size(), 0.0F);
  for (compressed const& packet : packets) {
    all.push_back({packet.packet, 0.25F});
    one_by_one = added({{packet.packet, 0.25F}}, one_by_one);
  }
  EXPECT_EQ(added(all, std::vector<float>(elements.size(), 0.0F)), one_by_one);
}

TEST(Apply, LeavesElementsAloneThatNoPacketNames)
{
  std::vector<float> const start = codec_test::gradient(3000, 130);
  std::vector<float> elements(3000, 0.0F);
  elements[1234] = 5;
  for (dtype const type : codec_test::all_dtypes) {
    auto const got =
      codec_test::compress(codec_test::options_of(sampling::top, values::full, 8, 0.1), elements, key);
    std::vector<float> expected     = codec_test::widened(codec_test::stored(start, type), type);
    std::vector<float> const result = added({{got.packet, 1.0F}}, start, type);
    for (std::size_t i = 0; i < 3000; ++i) {
      if (i != 1234) {
        ASSERT_EQ(result[i], expected[i]);
      }
    }
  }
}

TEST(Apply, OfNoPacketsChangesNothing)
{
  std::vector<float> const start = codec_test::gradient(100, 131);
  EXPECT_EQ(added({}, start), start);
}

// The packets of a sum may come from anybody: a role that differs must neither crash nor read elsewhere.
TEST(Apply, RefusesPacketsWhoseRolesDiffer)
{
  std::vector<float> const elements = codec_test::gradient(1000, 132);
  auto const options                = codec_test::options_of(sampling::systematic, values::full, 8, 0.1);
  compressed const sampled          = codec_test::compress(options, elements, key);
  compressed const dense =
    codec_test::compress(options, {tensor{elements, dtype::float32, segment_role::dense}}, key);
  std::vector<float> const start(1000, 0.0F);
  EXPECT_INVALID(added({{sampled.packet, 1.0F}, {dense.packet, 1.0F}}, start),
                 "packets[1]: segment 0 is dense");
  EXPECT_INVALID(added({{dense.packet, 1.0F}, {sampled.packet, 1.0F}}, start),
                 "packets[1]: segment 0 is sampled");
}

// A server's sum does not grow with its workers: as many packets as one likes, one buffer.
TEST(Apply, Of64WorkersAveragesToTheGradientThatAllOfThemHold)
{
  std::vector<float> const elements = codec_test::integers(4000, 133);
  for (sampling const how : {sampling::systematic, sampling::uniform, sampling::top}) {
    std::vector<compressed> workers;
    std::vector<bird::weighted_packet> packets;
    for (std::uint32_t worker = 0; worker < 64; ++worker) {
      workers.push_back(
        codec_test::compress(codec_test::options_of(how, values::full, 8, 1.0), elements, {1, 2, worker}));
    }
    for (compressed const& worker : workers) {
      packets.push_back({worker.packet, 1.0F / 64});
    }
    EXPECT_EQ(added(packets, std::vector<float>(4000, 0.0F)), elements) << bird::to_string(how);
  }
}

}  // namespace
