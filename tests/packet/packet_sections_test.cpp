/// Index, starts, values and padding: what stands in the sections is checked bit by bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "bird/packet.hpp"
#include "packet.hpp"
#include "packet_index.hpp"
#include "packet_layout.cuh"
#include "refusal.hpp"
#include "sound_packets.hpp"

namespace {

using namespace reference;

constexpr unsigned systematic = 2, top = 4;
constexpr std::uint64_t index_at = 64 + 5 * 32;  ///< in the packets of full_recipe()

/// Parses a packet whose checksum has been corrected after `damage`.
void parse_damaged(packet_recipe const& recipe, std::function<void(bytes&)> const& damage)
{
  bytes packet = build(recipe);
  damage(packet);
  seal(packet);
  aligned_bytes const memory{packet};
  static_cast<void>(bird::parse_packet(memory.span()));
}

void flip(bytes& packet, std::uint64_t offset, std::uint64_t b)
{
  packet[offset + b / 8] = static_cast<std::uint8_t>(packet[offset + b / 8] ^ 1U << (b % 8));
}

void parse_with_tiles(packet_recipe recipe, std::vector<std::uint64_t> tiles)
{
  recipe.segments[0].tiles = std::move(tiles);
  parse_damaged(recipe, [](bytes&) {});
}

TEST(Index, OfManyWordsIsReadAsSpecified)
{
  std::vector<std::uint64_t> tiles;
  for (std::uint64_t i = 0; i < 150; ++i) {
    tiles.push_back(i / 3 * 3 * 7 % 1000 + i / 50);  // sorted below: some repeat, some lie far apart
  }
  std::sort(tiles.begin(), tiles.end());
  for (unsigned index : {index_u32, index_bitmap, index_elias_fano}) {
    packet_recipe recipe;
    recipe.sampling    = systematic;
    recipe.index       = index;
    recipe.tile        = 1;
    recipe.segments    = {{role_sampled, 1000, 1, tiles, std::vector<std::uint64_t>(150), 1, false}};
    bytes const packet = build(recipe);
    aligned_bytes const memory{packet};
    std::vector<std::uint64_t> read;
    bird::for_each_slot(bird::parse_packet(memory.span()),
                        [&](std::uint64_t, std::uint64_t tile) { read.push_back(tile); });
    EXPECT_EQ(read, tiles);
    EXPECT_EQ(reference::decode(packet.data()).slots, tiles);
  }
}

TEST(Index, ThatDescendsIsRefused)
{
  EXPECT_REFUSED(parse_with_tiles(full_recipe(systematic, 2, index_u32, 1, 1), {3, 2, 4}),
                 "tile of slot 1 is 2");
  packet_recipe recipe;  // elias_fano can descend only in its low bits
  recipe.index    = index_elias_fano;
  recipe.tile     = 1;
  recipe.segments = {{role_sampled, 100, 1, {}, {0x3F800000, 0x3F800000}, 1, false}};
  EXPECT_NO_THROW(parse_with_tiles(recipe, {5, 6}));
  EXPECT_REFUSED(parse_with_tiles(recipe, {6, 5}), "tile of slot 1 is 5");
}

TEST(Index, MayRepeatATileOnlyInSystematicPackets)
{
  for (unsigned index : {index_u32, index_elias_fano}) {
    EXPECT_NO_THROW(parse_with_tiles(full_recipe(systematic, 2, index, 1, 1), {2, 2, 4}));
    EXPECT_REFUSED(parse_with_tiles(full_recipe(top, 2, index, 1, 1), {2, 2, 4}), "tile of slot 1 is 2");
  }
}

TEST(Index, NamesTilesOfTheSlotsOwnSegment)
{
  for (unsigned index : {index_u32, index_bitmap, index_elias_fano}) {
    // Tile 5 is segment 4's, and the third slot segment 0's.
    EXPECT_REFUSED(parse_with_tiles(full_recipe(top, 2, index, 1, 1), {1, 3, 5}),
                   index == index_bitmap ? "number of tiles" : "tile of slot 2 is 5");
  }
  auto recipe              = full_recipe(top, 2, index_bitmap, 1, 1);
  recipe.segments[4].tiles = {1};
  EXPECT_REFUSED(parse_with_tiles(recipe, {1, 3, 5}), "tile of slot 2 is 5; segment 0 has tiles 0 to 4");
}

TEST(Index, BeyondAllTilesIsRefused)
{
  auto const recipe = full_recipe(top, 2, index_u32, 1, 1);
  for (std::uint64_t const tile : {7U, 0xFFFFFFFFU}) {
    EXPECT_REFUSED(parse_damaged(recipe, [&](bytes& packet) { put(packet, index_at + 12, tile, 4); }),
                   "tile of slot 3 is " + std::to_string(tile));
  }
}

TEST(Bitmap, HasABitForEachSlot)
{
  auto const recipe = full_recipe(top, 2, index_bitmap, 1, 1);
  EXPECT_REFUSED(parse_damaged(recipe, [](bytes& packet) { flip(packet, index_at, 0); }),
                 "number of tiles in the bitmap is 5");
  EXPECT_REFUSED(parse_damaged(recipe, [](bytes& packet) { flip(packet, index_at, 1); }),
                 "number of tiles in the bitmap is 3");
}

TEST(Bitmap, HasNoBitBeyondItsTiles)
{
  auto const recipe = full_recipe(top, 2, index_bitmap, 1, 1);
  for (std::uint64_t const b : {7U, 8U, 63U, 64U, 127U}) {
    EXPECT_REFUSED(parse_damaged(recipe, [&](bytes& packet) { flip(packet, index_at, b); }),
                   "padding of the index");
  }
}

TEST(Starts, AreConsistentWithTheBitmap)
{
  auto const recipe      = full_recipe(systematic, 1, index_bitmap, 1, 1);  // tiles 1 1 4 | 5: starts 1 0 1 1
  std::uint64_t const at = index_at + 16;
  EXPECT_REFUSED(parse_damaged(recipe, [&](bytes& packet) { flip(packet, at, 1); }), "number of starts is 4");
  EXPECT_REFUSED(parse_damaged(recipe, [&](bytes& packet) { flip(packet, at, 3); }), "number of starts is 2");
  EXPECT_REFUSED(parse_damaged(recipe,
                               [&](bytes& packet) {
                                 flip(packet, at, 0);
                                 flip(packet, at, 1);
                               }),
                 "starts bit 0 is 0");
  EXPECT_REFUSED(parse_damaged(recipe, [&](bytes& packet) { flip(packet, at, 4); }), "padding of the starts");
}

TEST(Starts, MayMoveASlotToTheNextTileOfItsSegmentOnly)
{
  auto const recipe      = full_recipe(systematic, 1, index_bitmap, 1, 1);
  std::uint64_t const at = index_at + 16;
  EXPECT_NO_THROW(parse_damaged(recipe, [&](bytes& packet) {
    flip(packet, at, 1);  // 1 4 4 | 5: starts 1 1 0 1
    flip(packet, at, 2);
  }));
  EXPECT_REFUSED(parse_damaged(recipe,
                               [&](bytes& packet) {
                                 flip(packet, at, 1);  // 1 4 5 | 5: starts 1 1 1 0
                                 flip(packet, at, 3);
                               }),
                 "tile of slot 2 is 5");
}

TEST(EliasFano, IndexHasABitForEachSlot)
{
  auto const recipe = full_recipe(top, 2, index_elias_fano, 1, 1);  // l = 0: bits 1, 4, 6, 8 of 12
  EXPECT_REFUSED(parse_damaged(recipe, [](bytes& packet) { flip(packet, index_at, 11); }),
                 "upper part of the index is 5");
  EXPECT_REFUSED(parse_damaged(recipe, [](bytes& packet) { flip(packet, index_at, 8); }),
                 "upper part of the index is 3");
  EXPECT_REFUSED(parse_damaged(recipe, [](bytes& packet) { flip(packet, index_at, 12); }),
                 "padding of the index (upper part)");
}

TEST(EliasFano, IndexHasNothingBehindItsLowBits)
{
  packet_recipe recipe;
  recipe.index           = index_elias_fano;
  recipe.tile            = 1;
  recipe.segments        = {{role_sampled, 100, 1, {3, 77}, {0x3F800000, 0x3F800000}, 1, false}};
  std::uint64_t const at = 64 + 32 + 8;  // l = 5: 2 * 5 low bits
  EXPECT_NO_THROW(parse_damaged(recipe, [&](bytes& packet) { flip(packet, at, 9); }));
  EXPECT_REFUSED(parse_damaged(recipe, [&](bytes& packet) { flip(packet, at, 10); }),
                 "padding of the index (lower part)");
}

/// Every bit of the packet that carries nothing, found from the sizes in the specification.
TEST(Padding, IsZeroWhereverItStands)
{
  for (named_packet const& sound : sound_packets()) {
    bytes const packet   = build(sound.recipe);
    packet_recipe filled = sound.recipe;  // as before, with every stored bit set
    bool const sign      = filled.values == values_sign;
    for (segment_recipe& s : filled.segments) {
      for (std::uint64_t& element : s.stored) {
        element = sign && s.role != role_dense ? 1 : ~0ULL;
      }
    }
    bytes const carried = build(filled);
    std::size_t values  = 0;  // first byte of the values: where the two may differ
    while (values < packet.size() && (values < 96 + 32 || packet[values] == carried[values])) {
      ++values;
    }
    for (std::size_t b = values * 8; b < packet.size() * 8; ++b) {
      if ((carried[b / 8] >> (b % 8) & 1) == 0) {
        EXPECT_REFUSED(parse_damaged(sound.recipe, [&](bytes& damaged) { flip(damaged, 0, b); }),
                       "padding of the values");
      }
    }
  }
}

TEST(Padding, OfAShortLastTileIsZeroInEachOfItsSlots)
{
  for (unsigned values : {values_sign, values_full, values_bf16}) {
    auto recipe              = full_recipe(systematic, values, index_u32, 1, 1);
    recipe.segments[0].tiles = {1, 4, 4};
    for (std::size_t const element : {7U, 11U}) {  // the fourth elements of slots 1 and 2
      packet_recipe damaged          = recipe;
      damaged.segments[0].stored[7]  = 0;
      damaged.segments[0].stored[11] = 0;
      EXPECT_NO_THROW(parse_damaged(damaged, [](bytes&) {}));
      damaged.segments[0].stored[element] = 1;
      EXPECT_REFUSED(parse_damaged(damaged, [](bytes&) {}), "padding of the last tile");
    }
  }
}

TEST(Padding, OfALongShortTileIsZeroToItsLastBit)
{
  constexpr std::uint64_t tile = 21, length = 3;
  packet_recipe recipe;
  recipe.values   = values_sign;
  recipe.tile     = tile;
  recipe.segments = {
    {role_sampled, tile + length, tile, {1, 1}, std::vector<std::uint64_t>(2 * tile), 1, false}};
  recipe.segments[0].stored[0]    = 1;
  recipe.segments[0].stored[tile] = 1;
  EXPECT_NO_THROW(parse_damaged(recipe, [](bytes&) {}));
  for (std::uint64_t const slot : {0U, 1U}) {
    for (std::uint64_t element = length; element < tile; ++element) {
      packet_recipe damaged                             = recipe;
      damaged.segments[0].stored[slot * tile + element] = 1;
      EXPECT_REFUSED(parse_damaged(damaged, [](bytes&) {}), "padding of the last tile");
    }
  }
}

TEST(Sections, HaveTheOffsetsOfTheSpecification)
{
  auto const packet = build(full_recipe(systematic, 1, index_bitmap, 1, 1));
  aligned_bytes const memory{packet};
  auto const view     = bird::parse_packet(memory.span());
  auto const sections = bird::sections_of(view.header, view.segments);
  EXPECT_EQ(sections.index_offset, 224U);
  EXPECT_EQ(sections.starts_offset, 240U);
  EXPECT_EQ(sections.values_offset, 256U);
  // 12 and 3 sign bits; 3 floats from a multiple of 16; nothing; 4 sign bits
  EXPECT_EQ(sections.region_offset, (std::vector<std::uint64_t>{256, 260, 272, 288, 288}));
  EXPECT_EQ(sections.total_bytes, 292U);
}

/// A list of several segments for which slots can be chosen.
struct capacity_case {
  bird::packet_header header{};
  std::vector<bird::segment_entry> segments;

  capacity_case(bird::sampling sampling, bird::values values, bird::index index,
                std::vector<std::uint64_t> const& counts)
  {
    header.type     = bird::dtype::float32;
    header.sampling = sampling;
    header.values   = values;
    header.index    = index;
    for (std::uint64_t const count : counts) {
      bird::segment_entry entry{};
      entry.count = count;
      entry.tile  = 3;
      entry.role  = bird::segment_role::sampled;
      segments.push_back(entry);
      entry.count = bird::rule::tiles_of(count, 3);
      entry.tile  = 0;
      entry.role  = bird::segment_role::companion;
      segments.push_back(entry);
    }
  }
  void keep(std::vector<std::uint32_t> const& slots)
  {
    for (std::size_t i = 0; i < segments.size(); ++i) {
      segments[i].slots = slots[i / 2];
    }
  }
};

TEST(Capacity, IsNeverExceededByFewerSlots)
{
  std::mt19937 random{20231106};
  for (auto const values : {bird::values::sign, bird::values::full, bird::values::bf16}) {
    for (auto const index : {bird::index::u32, bird::index::bitmap, bird::index::elias_fano}) {
      for (auto const sampling : {bird::sampling::systematic, bird::sampling::bi_random}) {
        capacity_case list{sampling, values, index, {1, 100, 2000}};
        for (std::uint32_t most : {1U, 2U, 17U, 34U}) {
          std::vector<std::uint32_t> const largest{1, most, 5 * most};
          list.keep(largest);
          std::uint64_t const capacity = bird::capacity_of(list.header, list.segments);
          for (int trial = 0; trial < 300; ++trial) {
            std::vector<std::uint32_t> fewer;
            for (std::uint32_t const slots : largest) {
              fewer.push_back(static_cast<std::uint32_t>(random() % (slots + 1)));
            }
            list.keep(fewer);
            ASSERT_LE(bird::sections_of(list.header, list.segments).total_bytes, capacity);
            ASSERT_LE(bird::capacity_of(list.header, list.segments), capacity);
          }
        }
      }
    }
  }
}

TEST(SlotsOf, IsTheCeilingOfRatioTimesTiles)
{
  using bird::rule::slots_of;
  EXPECT_EQ(slots_of(0.1, 0), 0U);
  EXPECT_EQ(slots_of(0.1, 1), 1U);
  EXPECT_EQ(slots_of(0.1, 10), 1U);
  EXPECT_EQ(slots_of(0.1, 11), 2U);
  EXPECT_EQ(slots_of(0.25, 1000), 250U);
  EXPECT_EQ(slots_of(0.25, 1001), 251U);
  EXPECT_EQ(slots_of(1.0, 0xFFFFFFFE), 0xFFFFFFFEU);
  EXPECT_EQ(slots_of(1e-300, 0xFFFFFFFE), 1U);
}

}  // namespace
