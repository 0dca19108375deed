/// Error feedback on the device: packets, residuals and velocities are the host's, step after step.
#include <limits>
#include <memory>

#include "twin_memory.hpp"

namespace {

using bird_test::device_buffer;
using bird_test::host_buffer;
using bird_test::shape;
using bird_test::stream;
using bird_test::twin_list;
using bird_test::twin_memory;

bird::compressor_options top(bird::values what, bird::index names, std::uint32_t tile)
{
  bird::compressor_options o;
  o.sampling = bird::sampling::top;
  o.values   = what;
  o.index    = names;
  o.tile     = tile;
  o.ratio    = 0.1;
  return o;
}

std::vector<shape> shapes(std::uint32_t tile)
{
  return {{3001},
          {(3001 + tile - 1) / tile, bird::segment_role::companion},
          {77, bird::segment_role::dense},
          {0},
          {40'000},
          {3}};
}

class DeviceFeedback : public bird_test::device_test {
 protected:
  /// One step on both sides. @returns what differs; empty: nothing
  std::string step(bird::compressor const& codec, twin_list const& list, twin_memory& memory, float momentum,
                   std::uint32_t number)
  {
    host_buffer host{codec.packet_capacity(list.host())};
    host_buffer host_scratch{codec.compress_scratch_bytes(list.host())};
    device_buffer const device{codec.packet_capacity(list.host())};
    device_buffer const scratch{codec.compress_scratch_bytes(list.host())};
    bird::sample_key const key{1, number, 2};
    auto const report = codec.compress(list.host(), key, host.span(), host_scratch.span(),
                                       memory.host(momentum), bird::on_host);
    codec.compress(list.device(), key, device.span(), scratch.span(), memory.device(momentum),
                   stream_of_test());
    stream_of_test().wait();
    auto const wanted                = host.span().first(report.packet_bytes);
    std::vector<std::byte> const got = device.bytes();
    bool const equal                 = std::equal(wanted.begin(), wanted.end(), got.begin());
    return std::string{equal ? "" : "packet "} + (memory.same() ? "" : "memory");
  }

  void SetUp() override
  {
    device_test::SetUp();
    if (!IsSkipped()) {
      owner_ = std::make_unique<stream>();
    }
  }
  void TearDown() override
  {
    owner_.reset();
    device_test::TearDown();
  }
  [[nodiscard]] stream const& stream_of_test() const { return *owner_; }

 private:
  std::unique_ptr<stream> owner_;
};

TEST_F(DeviceFeedback, GivesTheHostsBitsStepAfterStep)
{
  for (auto const what : {bird::values::sign, bird::values::full, bird::values::bf16}) {
    for (auto const type : {bird::dtype::float32, bird::dtype::float16, bird::dtype::bfloat16}) {
      for (std::uint32_t const tile : {1U, 8U, 13U}) {
        bird::compressor const codec{top(what, static_cast<bird::index>(1 + tile % 3), tile)};
        twin_list const list{type, shapes(tile), 3};
        twin_memory memory{list};
        for (std::uint32_t number = 0; number < 2; ++number) {
          EXPECT_EQ(step(codec, list, memory, tile == 13 ? -1.0F : 0.75F, number), "")
            << to_string(what) << ", " << to_string(type) << ", tile " << tile << ", step " << number;
        }
      }
    }
  }
}

TEST_F(DeviceFeedback, OfThePresetBlockGivesTheHostsBits)
{
  bird::compressor const codec{bird::preset("block")};
  twin_list const list{bird::dtype::float32, {{100'000}}, 5};
  twin_memory memory{list};
  EXPECT_EQ(step(codec, list, memory, 0.9F, 0), "");
}

TEST_F(DeviceFeedback, LeavesMemoryAloneAfterAnInfAnywhereAndSaysWhichSegment)
{
  for (auto const what : {bird::values::sign, bird::values::full, bird::values::bf16}) {
    for (std::size_t const where : {0U, 1U, 2U, 4U}) {  // sampled, companion, dense, sampled
      twin_list list{bird::dtype::float16, shapes(8), 7};
      twin_memory memory{list};
      bird::compressor const codec{top(what, bird::index::elias_fano, 8)};
      ASSERT_EQ(step(codec, list, memory, 0.5F, 0), "");
      list.set(where, 5, std::numeric_limits<float>::infinity());
      EXPECT_EQ(step(codec, list, memory, 0.5F, 1), "") << to_string(what) << ", tensor " << where;
      list.set(where, 5, 0.5F);
      EXPECT_EQ(step(codec, list, memory, 0.5F, 2), "") << to_string(what) << ", tensor " << where;
    }
  }
}

TEST_F(DeviceFeedback, TakesMoreTensorsThanTheParametersOfALaunchHold)
{
  bird::compressor const codec{top(bird::values::sign, bird::index::elias_fano, 8)};
  twin_list const list{bird::dtype::float32, std::vector<shape>(481, shape{40}), 9};
  twin_memory memory{list};
  EXPECT_EQ(step(codec, list, memory, 0.5F, 0), "");
}

TEST_F(DeviceFeedback, RefusesBuffersInHostMemoryByName)
{
  bird::compressor const codec{top(bird::values::sign, bird::index::elias_fano, 8)};
  twin_list const list{bird::dtype::float32, {{100}}, 9};
  twin_memory memory{list};
  device_buffer const packet{codec.packet_capacity(list.host())};
  device_buffer const scratch{codec.compress_scratch_bytes(list.host())};
  try {
    codec.compress(list.device(), {1, 2, 3}, packet.span(), scratch.span(), memory.host(-1),
                   stream_of_test());
    FAIL() << "host memory was taken";
  } catch (bird::invalid_argument const& error) {
    EXPECT_NE(std::string{error.what()}.find("memory.residual[0]"), std::string::npos) << error.what();
  }
}

TEST_F(DeviceFeedback, WithASamplerIsRefusedByName)
{
  bird::compressor const codec{bird::preset("tile")};
  twin_list const list{bird::dtype::float32, {{100}}, 9};
  twin_memory memory{list};
  device_buffer const packet{codec.packet_capacity(list.host())};
  device_buffer const scratch{codec.compress_scratch_bytes(list.host())};
  EXPECT_THROW(codec.compress(list.device(), {1, 2, 3}, packet.span(), scratch.span(), memory.device(-1),
                              stream_of_test()),
               bird::invalid_argument);
}

}  // namespace
