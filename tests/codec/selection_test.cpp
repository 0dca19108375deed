/// Every sampler draws the tiles that the documentation of its rule says, and sends what a draw stands for.
#include <gtest/gtest.h>

#include <numeric>

#include "codec_call.hpp"
#include "gradients.hpp"
#include "oracle.hpp"

namespace {

using bird::sampling;
using bird::values;
using codec_test::compressed;
using codec_test::tensor;

constexpr bird::sample_key key{0xFEDCBA9876543210, 41, 7};

/// Norms of the tiles of one tensor, exact for integers.
std::vector<float> norms_of(std::vector<float> const& elements, std::size_t tile)
{
  std::vector<float> norms;
  for (std::size_t first = 0; first < elements.size(); first += tile) {
    double sum = 0;
    for (std::size_t i = first; i < std::min(first + tile, elements.size()); ++i) {
      sum += std::abs(static_cast<double>(elements[i]));
    }
    norms.push_back(static_cast<float>(sum));
  }
  return norms;
}

oracle::sample expected_sample(std::vector<float> const& norms, bird::compressor_options const& options,
                               std::uint32_t segment)
{
  if (norms.empty() || *std::max_element(norms.begin(), norms.end()) == 0) {
    return {};
  }
  oracle::stream const random{key.seed, key.step, key.tensor_id};
  std::uint64_t const slots = oracle::slot_limit(options.ratio, norms.size());
  switch (options.sampling) {
    case sampling::bi_random:
      return oracle::bi_random(norms, slots, options.gamma, random, segment);
    case sampling::systematic:
      return oracle::systematic(norms, slots, options.values != values::sign, random, segment);
    case sampling::uniform:
      return oracle::uniform(norms, slots, random, segment);
    case sampling::top:
      return oracle::top(norms, slots);
  }
  return {};
}

/// @param first slot and tile of this segment in the packet
void expect_segment(reference::decoded_packet const& packet, std::size_t number,
                    std::vector<float> const& elements, oracle::sample const& expected,
                    bird::compressor_options const& options)
{
  reference::segment const& s = packet.segments[number];
  ASSERT_EQ(s.slots, expected.slots.size());
  std::vector<double> multiplier(s.tiles, 0.0);
  for (std::size_t i = 0; i < expected.slots.size(); ++i) {
    ASSERT_EQ(packet.slots[s.first_slot + i] - s.first_tile, expected.slots[i].tile) << "slot " << i;
    multiplier[expected.slots[i].tile] += expected.slots[i].multiplier;
  }
  if (options.values == values::sign) {
    if (s.slots != 0) {
      // The library sums whole weights, each cut by less than a 2^29th of the largest norm.
      EXPECT_NEAR(s.scale, expected.norm_per_slot, expected.norm_per_slot * 1e-6);
    }
    return;
  }
  for (std::size_t i = 0; i < elements.size(); ++i) {
    double const sent = static_cast<double>(elements[i]) * multiplier[i / s.tile];
    // One rounding each of multiplier, product, and sum of two slots: 2^-22; bfloat16 has 2^-9 instead.
    double const rounding = options.values == values::bf16 ? std::ldexp(1.0, -8) : std::ldexp(1.0, -21);
    ASSERT_NEAR(packet.elements[number][i], sent, std::abs(sent) * rounding) << "element " << i;
  }
}

void expect_selection(std::vector<std::vector<float>> const& list, bird::compressor_options const& options)
{
  SCOPED_TRACE(codec_test::name_of(options));
  std::vector<tensor> tensors;
  for (std::vector<float> const& elements : list) {
    tensors.emplace_back(elements);
  }
  compressed const got                   = codec_test::compress(options, tensors, key);
  reference::decoded_packet const packet = got.decoded();
  ASSERT_EQ(packet.bytes, got.packet.size());
  for (std::size_t number = 0; number < list.size(); ++number) {
    SCOPED_TRACE("segment " + std::to_string(number));
    auto const tile = std::min<std::size_t>(options.tile, std::max<std::size_t>(list[number].size(), 1));
    expect_segment(packet, number, list[number],
                   expected_sample(norms_of(list[number], tile), options, static_cast<std::uint32_t>(number)),
                   options);
  }
}

/// Lists that the samplers must tell apart: heavy and light tiles, zeros, ties, short and empty tensors.
std::vector<std::vector<float>> lists_of_integers()
{
  std::vector<float> heavy = codec_test::integers(3001, 12);
  for (std::size_t i = 100; i < 140; ++i) {
    heavy[i] *= 5000;
  }
  std::vector<float> sparse(5000, 0.0F);
  for (std::size_t i = 0; i < sparse.size(); i += 61) {
    sparse[i] = static_cast<float>(i % 7 + 1);
  }
  return {codec_test::integers(2500, 11),
          heavy,
          {},
          sparse,
          std::vector<float>(777, 3.0F),
          {5.0F},
          std::vector<float>(40, 0.0F),
          codec_test::integers(13, 14)};
}

class Selection : public testing::TestWithParam<sampling> {};

TEST_P(Selection, IsThatOfTheRule)
{
  for (values const what : codec_test::all_values) {
    for (std::uint32_t const tile : {1U, 3U, 8U, 64U, 5000U}) {
      for (double const ratio : {1.0, 0.5, 0.1, 0.01, 1e-6}) {
        expect_selection(lists_of_integers(), codec_test::options_of(GetParam(), what, tile, ratio));
      }
    }
  }
}

TEST_P(Selection, IsThatOfTheRuleForRealNumbers)
{
  std::vector<std::vector<float>> const list{codec_test::gradient(20'011, 15, 0.1)};
  for (values const what : codec_test::all_values) {
    for (double const ratio : {0.5, 0.1, 0.01}) {
      expect_selection(list, codec_test::options_of(GetParam(), what, 1, ratio));
    }
  }
}

TEST_P(Selection, IsTheSameForEveryIndex)
{
  std::vector<tensor> tensors;
  for (std::vector<float> const& elements : lists_of_integers()) {
    tensors.emplace_back(elements);
  }
  for (values const what : codec_test::all_values) {
    std::vector<reference::decoded_packet> packets;
    for (bird::index const names : codec_test::all_indices) {
      auto const options = codec_test::options_of(GetParam(), what, 8, 0.2, 1.0, bird::norm::l1, names);
      packets.push_back(codec_test::compress(options, tensors, key).decoded());
    }
    EXPECT_EQ(packets[0].slots, packets[1].slots);
    EXPECT_EQ(packets[0].slots, packets[2].slots);
    EXPECT_EQ(packets[0].elements, packets[1].elements);
    EXPECT_EQ(packets[0].elements, packets[2].elements);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Selection, testing::ValuesIn(codec_test::all_samplings),
                         [](auto const& how) { return bird::to_string(how.param); });

TEST(BiRandom, SurvivesWithThePowerGammaOfItsShare)
{
  std::vector<std::vector<float>> const list{codec_test::gradient(20'011, 16)};
  for (double const gamma : {0.25, 0.5, 2.0, 3.7, 16.0}) {
    expect_selection(list, codec_test::options_of(sampling::bi_random, values::sign, 1, 1.0, gamma));
  }
  for (double const gamma : {0.25, 0.5}) {
    expect_selection(list, codec_test::options_of(sampling::bi_random, values::full, 1, 0.1, gamma));
  }
}

TEST(BiRandom, AlwaysHasTheLargestTileAmongTheSurvivors)
{
  std::vector<float> const elements{0.001F, 0.002F, -90.0F, 0.003F};
  auto const options = codec_test::options_of(sampling::bi_random, values::sign, 1, 1.0, 8.0);
  for (std::uint32_t step = 0; step < 200; ++step) {
    reference::decoded_packet const packet = codec_test::compress(options, elements, {1, step, 0}).decoded();
    EXPECT_NE(packet.elements[0][2], 0.0F);
  }
}

TEST(Systematic, SendsEachHeavyTileExactlyOnceInFull)
{
  std::vector<float> elements(1000, 1.0F);
  for (std::size_t i : {10U, 20U, 30U}) {
    elements[i] = 1000;
  }
  auto const options = codec_test::options_of(sampling::systematic, values::full, 1, 0.05);
  for (std::uint32_t step = 0; step < 50; ++step) {
    reference::decoded_packet const packet = codec_test::compress(options, elements, {1, step, 0}).decoded();
    EXPECT_EQ(packet.slots.size(), 50U);
    for (std::size_t i : {10U, 20U, 30U}) {
      EXPECT_EQ(packet.elements[0][i], 1000.0F);
    }
  }
}

TEST(Systematic, RepeatsAHeavyTileOfSigns)
{
  std::vector<float> elements(100, 1.0F);
  elements[50]                           = 100;
  auto const options                     = codec_test::options_of(sampling::systematic, values::sign, 1, 0.2);
  reference::decoded_packet const packet = codec_test::compress(options, elements, key).decoded();
  auto const times                       = std::count(packet.slots.begin(), packet.slots.end(), 50U);
  // 20 slots, 100 of the total of 199: 10.05 slots are expected, and a systematic sample takes 10 or 11.
  EXPECT_GE(times, 10);
  EXPECT_LE(times, 11);
  EXPECT_EQ(packet.slots.size(), 20U);
}

}  // namespace
