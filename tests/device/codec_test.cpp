/// The device gives the host's bits: packets, decoded tensors and sums, for every choice of the codec.
#include "packet_pair.hpp"

namespace {

using bird_test::device_buffer;
using bird_test::host_buffer;
using bird_test::packet_pair;
using bird_test::shape;
using bird_test::stream;
using bird_test::twin_list;
using bird_test::twin_outputs;

std::vector<shape> shapes_of(std::uint32_t tile)
{
  std::uint64_t const rows = 4001;
  std::uint32_t const row  = 17;
  std::uint64_t const step = tile != 0 ? tile : row;
  return {{rows, bird::segment_role::sampled, row},
          {(rows + step - 1) / step, bird::segment_role::companion},
          {77, bird::segment_role::dense},
          {3},
          {6400, bird::segment_role::sampled, 128},
          {0},
          {2500}};
}

class EveryChoice : public bird_test::device_test,
                    public ::testing::WithParamInterface<std::tuple<int, int, int>> {
 protected:
  [[nodiscard]] static bird::compressor_options options()
  {
    auto const [how, what, names] = GetParam();
    bird::compressor_options o;
    o.sampling = static_cast<bird::sampling>(how);
    o.values   = static_cast<bird::values>(what);
    o.index    = static_cast<bird::index>(names);
    return o;
  }
};

std::string name_of(::testing::TestParamInfo<std::tuple<int, int, int>> const& info)
{
  auto const [how, what, names] = info.param;
  return std::string{bird::to_string(static_cast<bird::sampling>(how))} + "_" +
         bird::to_string(static_cast<bird::values>(what)) + "_" +
         bird::to_string(static_cast<bird::index>(names));
}

TEST_P(EveryChoice, GivesTheHostsBits)
{
  bird::compressor_options o = options();
  std::uint32_t number       = 0;
  stream const s;
  for (std::uint32_t const tile : {1U, 8U, 13U, 64U, 300U, 0U}) {
    ++number;
    auto const type = static_cast<bird::dtype>(1 + number % 3);
    o.tile          = tile;
    o.ratio         = number % 2 == 0 ? 0.05 : 0.4;
    o.norm          = number % 4 < 2 ? bird::norm::l1 : bird::norm::l2;
    o.gamma         = o.sampling == bird::sampling::bi_random && number % 2 == 0 ? 0.5 : 1.0;
    bird::compressor const codec{o};
    twin_list const list{type, shapes_of(tile), number, number % 4};
    packet_pair both       = compress_both(codec, list, {number * 7919ULL, 3, number}, s);
    std::string const what = "tile " + std::to_string(tile) + ", " + to_string(type);
    expect_same_packet(both, what);
    expect_same_decoding(codec, list, both, number % 2 == 0 ? type : bird::dtype::float32, s, what);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, EveryChoice,
                         ::testing::Combine(::testing::Range(1, 5), ::testing::Range(1, 4),
                                            ::testing::Range(1, 4)),
                         name_of);

class DeviceCodec : public bird_test::device_test {};

TEST_F(DeviceCodec, GivesTheHostsBitsForEveryPresetAndDtype)
{
  stream const s;
  for (char const* const name : {"tile", "sign1", "paper", "block"}) {
    for (auto const type : {bird::dtype::float32, bird::dtype::float16, bird::dtype::bfloat16}) {
      bird::compressor const codec{bird::preset(name)};
      twin_list const list{type, {{20'000, bird::segment_role::sampled, 100}, {1}, {9'000}}, 5};
      packet_pair both = compress_both(codec, list, {1, 2, 3}, s);
      expect_same_packet(both, name);
      expect_same_decoding(codec, list, both, type, s, name);
    }
  }
}

TEST_F(DeviceCodec, GivesTheHostsBitsForLongTiles)
{
  stream const s;
  bird::compressor_options o;
  for (auto const how : {bird::sampling::systematic, bird::sampling::uniform}) {
    o.sampling = how;
    o.tile     = 9'000;  // a block reads it together
    o.ratio    = 0.5;
    bird::compressor const codec{o};
    twin_list const list{bird::dtype::float32, {{40'000}}, 6, 1};
    packet_pair both = compress_both(codec, list, {4, 5, 6}, s);
    expect_same_packet(both, to_string(how));
    expect_same_decoding(codec, list, both, bird::dtype::float32, s, to_string(how));
  }
}

TEST_F(DeviceCodec, GivesTheHostsBitsForOneHeavyTileAmongLightOnes)
{
  stream const s;
  for (auto const what : {bird::values::sign, bird::values::full}) {
    bird::compressor_options o;
    o.values = what;
    o.ratio  = 0.3;
    bird::compressor const codec{o};
    twin_list list{bird::dtype::float32, {{30'000}}, 7};
    list.set(0, 17'000, 1.0e6F);
    packet_pair both = compress_both(codec, list, {7, 8, 9}, s);
    expect_same_packet(both, to_string(what));
    expect_same_decoding(codec, list, both, bird::dtype::float32, s, to_string(what));
  }
}

TEST_F(DeviceCodec, TellsOfInfAndNanAnywhereAsTheHostDoes)
{
  stream const s;
  for (auto const how : {bird::sampling::systematic, bird::sampling::bi_random, bird::sampling::uniform}) {
    for (std::size_t const tensor : {0U, 1U, 2U}) {
      bird::compressor_options o;
      o.sampling = how;
      bird::compressor const codec{o};
      twin_list list{bird::dtype::float32,
                     {{800}, {100, bird::segment_role::companion}, {50, bird::segment_role::dense}},
                     8};
      list.set(
        tensor, 33,
        tensor == 1 ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity());
      packet_pair both = compress_both(codec, list, {1, 1, 1}, s);
      expect_same_packet(both, to_string(how));
      expect_same_decoding(codec, list, both, bird::dtype::float32, s, to_string(how));
    }
  }
}

TEST_F(DeviceCodec, TakesMoreTensorsThanTheParametersOfALaunchHold)
{
  stream const s;
  for (std::size_t const tensors : {0U, 24U, 25U, 480U, 481U}) {
    bird::compressor const codec{bird::preset("sign1")};
    twin_list const list{bird::dtype::float32, std::vector<shape>(tensors, shape{40}), 9};
    packet_pair both = compress_both(codec, list, {2, 2, 2}, s);
    expect_same_packet(both, std::to_string(tensors) + " tensors");
    expect_same_decoding(codec, list, both, bird::dtype::float32, s, std::to_string(tensors) + " tensors");
  }
}

}  // namespace
