/// The parser believes nothing: a packet is sound, or its first wrong field is named.
#include "bird/packet.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "packet.hpp"
#include "packet_index.hpp"
#include "refusal.hpp"
#include "sound_packets.hpp"

namespace {

using reference::aligned_bytes;
using reference::bytes;

void parse(bird::span<std::byte const> packet) { static_cast<void>(bird::parse_packet(packet)); }

/// One field that is overwritten (and the checksum corrected), and what the message must say.
struct wrong_field {
  char const* name;
  std::uint64_t offset;
  int width;
  std::uint64_t value;
  char const* message;
};
void PrintTo(wrong_field const& field, std::ostream* out) { *out << field.name; }

bytes with_field(bytes packet, wrong_field const& field)
{
  reference::put(packet, field.offset, field.value, field.width);
  if (field.offset != 60) {
    reference::seal(packet);
  }
  return packet;
}

class SoundPacket : public testing::TestWithParam<reference::named_packet> {
 protected:
  bytes const packet = reference::build(GetParam().recipe);
};

TEST_P(SoundPacket, Parses)
{
  aligned_bytes const memory{packet};
  bird::packet_view view{};
  ASSERT_NO_THROW(view = bird::parse_packet(memory.span()));
  EXPECT_EQ(view.bytes.size(), packet.size());
  EXPECT_EQ(view.segments.size(), 5U);
  EXPECT_EQ(view.header.element_count, 35U);
  EXPECT_EQ(view.header.slot_count, 4U);
  EXPECT_EQ(view.header.seed, 0x0123456789ABCDEFU);
  EXPECT_EQ(view.tile_count, 7U);
}

TEST_P(SoundPacket, NamesTheSlotsThatTheSpecificationReads)
{
  aligned_bytes const memory{packet};
  std::vector<std::uint64_t> tiles;
  bird::for_each_slot(bird::parse_packet(memory.span()), [&](std::uint64_t slot, std::uint64_t tile) {
    EXPECT_EQ(slot, tiles.size());
    tiles.push_back(tile);
  });
  EXPECT_EQ(tiles, reference::decode(packet.data()).slots);
}

TEST_P(SoundPacket, MayBeFollowedByAnything)
{
  bytes longer = packet;
  longer.resize(packet.size() + 37, 0xA5);
  aligned_bytes const memory{longer};
  EXPECT_EQ(bird::parse_packet(memory.span()).bytes.size(), packet.size());
}

TEST_P(SoundPacket, TellsItsSizeByHeaderAndTableAlone)
{
  bytes const start{packet.begin(), packet.begin() + 64 + 5 * 32};
  aligned_bytes const memory{start};
  EXPECT_EQ(bird::packet_bytes(memory.span()), packet.size());
}

TEST_P(SoundPacket, IsRefusedWhenCutAtAnyByte)
{
  aligned_bytes const memory{packet};
  for (std::size_t size = 0; size < packet.size(); ++size) {
    EXPECT_THROW(parse(memory.span().first(size)), bird::bad_packet) << size;
  }
}

TEST_P(SoundPacket, IsRefusedAfterAFlipOfAnyBit)
{
  for (std::size_t b = 0; b < packet.size() * 8; ++b) {
    bytes damaged  = packet;
    damaged[b / 8] = static_cast<std::uint8_t>(damaged[b / 8] ^ 1U << (b % 8));
    aligned_bytes const memory{damaged};
    EXPECT_THROW(parse(memory.span()), bird::bad_packet) << "bit " << b;
  }
}

INSTANTIATE_TEST_SUITE_P(OfEveryCoding, SoundPacket, testing::ValuesIn(reference::sound_packets()),
                         [](auto const& test) { return test.param.name; });

TEST(Packet, OfNoSegmentsIsAHeader)
{
  for (unsigned index = 1; index <= 3; ++index) {
    reference::packet_recipe recipe;
    recipe.index = index;
    aligned_bytes const memory{reference::build(recipe)};
    EXPECT_EQ(bird::parse_packet(memory.span()).bytes.size(), 64U);
  }
}

TEST(Packet, MayKeepNoTile)
{
  for (unsigned index = 1; index <= 3; ++index) {
    auto recipe        = reference::full_recipe(2, 2, index, 1, 1);
    recipe.segments    = {{reference::role_sampled, 100, 4, {}, {}, 1, false}};
    bytes const packet = reference::build(recipe);
    aligned_bytes const memory{packet};
    EXPECT_EQ(bird::parse_packet(memory.span()).bytes.size(), packet.size());
  }
}

TEST(Packet, MayHaveItsRowsAsTiles)
{
  auto recipe     = reference::full_recipe(4, 1, 3, 1, 1);
  recipe.tile     = 0;
  recipe.segments = {{reference::role_sampled, 6, 3, {1}, {1, 0, 1}, 2, false},
                     {reference::role_sampled, 5, 5, {0}, {1, 0, 1, 0, 1}, 3, false}};
  aligned_bytes const memory{reference::build(recipe)};
  EXPECT_EQ(bird::parse_packet(memory.span()).tile_count, 3U);
}

TEST(Packet, MayHaveADenseSegmentBetweenTilesAndTheirCompanion)
{
  auto recipe = reference::full_recipe(2, 2, 3, 1, 1);
  std::swap(recipe.segments[1], recipe.segments[2]);
  aligned_bytes const memory{reference::build(recipe)};
  EXPECT_EQ(bird::parse_packet(memory.span()).segments[2].role, bird::segment_role::companion);
}

TEST(Packet, NeedsACapacityOfAllItsBytes)
{
  bytes const packet = reference::build(reference::full_recipe(2, 2, 3, 1, 1));
  for (std::uint64_t const capacity : {packet.size() - 1, packet.size()}) {
    aligned_bytes const memory{with_field(packet, {"capacity", 24, 8, capacity, ""})};
    if (capacity < packet.size()) {
      EXPECT_REFUSED(bird::parse_packet(memory.span()), "capacity is " + std::to_string(capacity));
    } else {
      EXPECT_NO_THROW(parse(memory.span()));
    }
  }
}

TEST(Packet, AtAnAddressThatIsNotAMultipleOf16IsRefused)
{
  bytes shifted(8, 0);
  bytes const packet = reference::build(reference::full_recipe(2, 2, 3, 1, 1));
  shifted.insert(shifted.end(), packet.begin(), packet.end());
  aligned_bytes const memory{shifted};
  EXPECT_REFUSED(bird::parse_packet(memory.span().subspan(8)), "address");
}

class WrongField : public testing::TestWithParam<wrong_field> {};

TEST_P(WrongField, IsNamedWithItsValue)
{
  aligned_bytes const memory{with_field(reference::build(reference::full_recipe(2, 2, 3, 1, 1)), GetParam())};
  EXPECT_REFUSED(bird::parse_packet(memory.span()), GetParam().message);
}

constexpr std::uint64_t segment_0 = 64, segment_1 = 96, segment_2 = 128, segment_3 = 160;

INSTANTIATE_TEST_SUITE_P(
  OfHeader, WrongField,
  testing::Values(
    wrong_field{"magic", 0, 4, 0x44524943, "magic is 0x44524943"},
    wrong_field{"version_0", 4, 2, 0, "version is 0"}, wrong_field{"version_2", 4, 2, 2, "version is 2"},
    wrong_field{"dtype_0", 6, 1, 0, "dtype is 0"}, wrong_field{"dtype_4", 6, 1, 4, "dtype is 4"},
    wrong_field{"flags_unknown", 7, 1, 3, "flags is 0x3"},
    wrong_field{"flags_unlike_the_segments", 7, 1, 0, "flags is 0x0"},
    wrong_field{"sampling_0", 8, 1, 0, "sampling is 0"}, wrong_field{"sampling_5", 8, 1, 5, "sampling is 5"},
    wrong_field{"values_0", 9, 1, 0, "values is 0"}, wrong_field{"values_4", 9, 1, 4, "values is 4"},
    wrong_field{"index_0", 10, 1, 0, "index is 0"}, wrong_field{"index_4", 10, 1, 4, "index is 4"},
    wrong_field{"norm_0", 11, 1, 0, "norm is 0"}, wrong_field{"norm_3", 11, 1, 3, "norm is 3"},
    wrong_field{"segment_count_beyond_the_bytes", 12, 4, 1000, "segment_count is 1000"},
    wrong_field{"segment_count_largest", 12, 4, 0xFFFFFFFF, "segment_count is 4294967295"},
    wrong_field{"element_count", 16, 8, 36, "element_count is 36"},
    wrong_field{"capacity_below_the_bytes", 24, 8, 300, "capacity is 300"},
    wrong_field{"capacity_beyond_all_tiles", 24, 8, 1 << 20, "capacity is 1048576"},
    wrong_field{"slot_count", 32, 8, 5, "slot_count is 5"},
    wrong_field{"tile", 56, 4, 5, "segment 0: tile is 4"},
    wrong_field{"checksum", 60, 4, 0, "checksum is 0x0"}),
  [](auto const& test) { return std::string{test.param.name}; });

INSTANTIATE_TEST_SUITE_P(
  OfSegment, WrongField,
  testing::Values(
    wrong_field{"count", segment_0, 8, 18, "element_count is 35"},
    wrong_field{"count_of_2_to_the_63", segment_0, 8, 1ULL << 63, "count is 9223372036854775808"},
    wrong_field{"count_just_too_large", segment_0, 8, (1ULL << 56) + 1, "segment 0: count is"},
    wrong_field{"count_that_overflows_the_sum", segment_2, 8, ~0ULL - 10, "segment 2: count is"},
    wrong_field{"count_that_takes_the_sum_too_far", segment_2, 8, 1ULL << 56,
                "segment 2: count is 72057594037927936"},
    wrong_field{"count_of_too_many_tiles", segment_0, 8, 1ULL << 34, "segment 0: count is 17179869184"},
    wrong_field{"tile_0", segment_0 + 8, 4, 0, "segment 0: tile is 0"},
    wrong_field{"tile_unlike_the_header", segment_0 + 8, 4, 5, "segment 0: tile is 5"},
    wrong_field{"tile_of_an_empty_segment", segment_3 + 8, 4, 4, "segment 3: tile is 4"},
    wrong_field{"tile_of_a_companion", segment_1 + 8, 4, 1, "segment 1: tile is 1"},
    wrong_field{"tile_of_a_dense_segment", segment_2 + 8, 4, 4, "segment 2: tile is 4"},
    wrong_field{"role_0", segment_0 + 12, 1, 0, "segment 0: role is 0"},
    wrong_field{"role_4", segment_0 + 12, 1, 4, "segment 0: role is 4"},
    wrong_field{"companion_first", segment_0 + 12, 1, 3, "segment 0: role is companion"},
    wrong_field{"flags_unknown", segment_1 + 13, 1, 2, "segment 1: flags is 0x2"},
    wrong_field{"flags_of_an_empty_segment", segment_3 + 13, 1, 1, "segment 3: flags is 0x1"},
    wrong_field{"flags_unlike_the_header", segment_0 + 13, 1, 0, "flags is 0x1"},
    wrong_field{"reserved", segment_2 + 14, 2, 256, "segment 2: reserved is 256"},
    wrong_field{"slots_beyond_the_tiles", segment_0 + 16, 4, 6, "segment 0: slots is 6"},
    wrong_field{"slots_unlike_the_header", segment_3 + 48, 4, 2, "slot_count is 4"},
    wrong_field{"slots_of_a_companion", segment_1 + 16, 4, 2, "segment 1: slots is 2"},
    wrong_field{"slots_of_a_dense_segment", segment_2 + 16, 4, 1, "segment 2: slots is 1"},
    wrong_field{"count_of_a_companion", segment_1, 8, 4, "segment 1: count is 4"},
    wrong_field{"scale_0", segment_0 + 20, 4, 0, "segment 0: scale is 0"},
    wrong_field{"scale_negative", segment_0 + 20, 4, 0xBF800000, "segment 0: scale is -1"},
    wrong_field{"scale_no_power_of_two", segment_0 + 20, 4, 0x3F800001, "segment 0: scale is 1"},
    wrong_field{"scale_sub_normal", segment_0 + 20, 4, 0x00400000, "segment 0: scale is 5.87747e-39"},
    wrong_field{"scale_infinite", segment_1 + 20, 4, 0x7F800000, "segment 1: scale is inf"},
    wrong_field{"scale_of_a_dense_segment", segment_2 + 20, 4, 0x40000000, "segment 2: scale is 2"},
    wrong_field{"reserved2", segment_3 + 24, 8, 1ULL << 63, "segment 3: reserved2 is 9223372036854775808"}),
  [](auto const& test) { return std::string{test.param.name}; });

TEST(Packet, OfSignsTakesAnyScaleThatANormCanHave)
{
  auto recipe = reference::full_recipe(2, 1, 3, 1, 1);
  for (float const scale : {0.0F, 1e-45F, 6.7F, std::numeric_limits<float>::max()}) {
    recipe.segments[0].scale = scale;
    aligned_bytes const memory{reference::build(recipe)};
    EXPECT_NO_THROW(parse(memory.span())) << scale;
  }
  for (float const scale :
       {-0.0F, -1.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    recipe.segments[0].scale = scale;
    aligned_bytes const memory{reference::build(recipe)};
    EXPECT_REFUSED(bird::parse_packet(memory.span()), "segment 0: scale is");
  }
}

TEST(Packet, HasTheChecksumOfTheSpecificationHoweverLarge)
{
  for (std::size_t const size : {64U, 68U, 1000U, 400'000U}) {
    bytes content(size);
    for (std::size_t i = 0; i < size; ++i) {
      content[i] = static_cast<std::uint8_t>(i * 167 ^ i >> 8);
    }
    aligned_bytes const memory{content};
    EXPECT_EQ(bird::packet_checksum(memory.span()), reference::checksum(content.data(), size)) << size;
  }
}

}  // namespace
