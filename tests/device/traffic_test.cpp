/// Bytes of memory that the kernels move, against those that must move, within 2 %.
///
/// The checked lane counts each byte of global memory once for reading and once for writing in each launch,
/// as a cache without limits would; on a device the packet's index and the slots stay in L2. With s bytes an
/// element, d the share that is kept, B elements a tile, as shares of one element:
///
///   compress    s (1 + d)   every element, and the kept ones again
///             + s d + 2 i   the packet's values, and its index of i bytes, cleared and set, and read again
///             + 8 / B       norms, written and read
///             + 16 d / B    slots, written and read
///             + the histogram of weights, 16 bytes a bin, which does not grow with the tensor: cleared,
///             added
///               to and read
///   decompress  s (1 + d) + i + 8 d / B    names of tiles, written and read
///   apply       d (s + 8) + i + 8 d / B    fp32 sums, read and written where a tile was kept
#include <cmath>

#include "device_list.hpp"
#include "emulation.hpp"
#include "weight.cuh"

namespace {

using bird_test::device_buffer;
using bird_test::stream;
using bird_test::twin_list;
using bird_test::twin_outputs;

constexpr std::uint64_t elements = 1 << 19;

struct shape_of_work {
  bird::dtype type;
  std::uint32_t tile;
  double ratio;
};

std::string name_of(::testing::TestParamInfo<shape_of_work> const& info)
{
  return std::string{bird::to_string(info.param.type)} + "_tile_" + std::to_string(info.param.tile) +
         "_permille_" + std::to_string(static_cast<int>(info.param.ratio * 1000));
}

class Traffic : public bird_test::device_test, public ::testing::WithParamInterface<shape_of_work> {
 protected:
  void SetUp() override
  {
    device_test::SetUp();
    if (!bird_test::is_checked()) {
      GTEST_SKIP() << "the fast lane does not count bytes; device_checked_test does";
    }
  }

  /// Bytes an element of the launches since `first`.
  static double moved_since(std::size_t first)
  {
    std::uint64_t bytes = 0;
    for (std::size_t i = first; i < emulation::launches().size(); ++i) {
      emulation::traffic const& one = emulation::launches()[i].bytes;
      bytes += one.read_once + one.written_once;
    }
    return static_cast<double>(bytes) / static_cast<double>(elements);
  }
};

TEST_P(Traffic, IsWithinTwoPercentOfWhatMustMove)
{
  auto const [type, tile, ratio] = GetParam();
  bird::compressor_options o     = bird::preset("tile");
  o.tile                         = tile;
  o.ratio                        = ratio;
  o.values                       = bird::values::full;
  bird::compressor const codec{o};
  twin_list const list{type, {{elements}}, 5};
  device_buffer const packet{codec.packet_capacity(list.host())};
  device_buffer const scratch{codec.compress_scratch_bytes(list.host())};
  device_buffer const decode_scratch{codec.decode_scratch_bytes(list.host())};
  stream const s;
  std::uint64_t const tiles = elements / tile;
  double const whole        = static_cast<double>(elements);
  double const kept_tiles   = std::ceil(ratio * static_cast<double>(tiles));
  double const kept         = kept_tiles * tile / whole;
  double const slots        = kept_tiles / whole;
  double const size         = bird::element_bytes(type);
  double const index =
    static_cast<double>(bird::rule::index_bytes(o.index, tiles, static_cast<std::uint64_t>(kept_tiles))) /
    whole;

  codec.compress(list.device(), {1, 2, 3}, packet.span(), scratch.span(), s);
  s.wait();
  double const histogram = 4.0 * 16 * bird::rule::weight_bins / whole;
  double const compress  = size * (1 + 2 * kept) + 2 * index + 8.0 / tile + 16 * slots + histogram;
  EXPECT_NEAR(moved_since(0) / compress, 1, 0.02);

  std::size_t launches = emulation::launches().size();
  twin_outputs const out{list.host(), type};
  bird::decompress(packet.span(), out.device(), decode_scratch.span(), s);
  s.wait();
  EXPECT_NEAR(moved_since(launches) / (size * (1 + kept) + index + 8 * slots), 1, 0.02);

  launches = emulation::launches().size();
  twin_outputs const sums{list.host(), bird::dtype::float32};
  bird::weighted_packet const packets[] = {{packet.span(), 0.5F}};
  bird::apply(packets, sums.device(), decode_scratch.span(), s);
  s.wait();
  EXPECT_NEAR(moved_since(launches) / (kept * (size + 8) + index + 8 * slots), 1, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Of, Traffic,
                         ::testing::Values(shape_of_work{bird::dtype::float32, 256, 0.01},
                                           shape_of_work{bird::dtype::float32, 256, 0.1},
                                           shape_of_work{bird::dtype::float32, 64, 0.1},
                                           shape_of_work{bird::dtype::float32, 8, 0.1},
                                           shape_of_work{bird::dtype::float16, 256, 0.1},
                                           shape_of_work{bird::dtype::bfloat16, 8, 0.1}),
                         name_of);

}  // namespace
