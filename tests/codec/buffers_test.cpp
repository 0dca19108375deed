/// What the caller owns: sizes are bounds, nothing is written beyond them, and bad buffers are refused by
/// name.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "codec_call.hpp"
#include "gradients.hpp"

namespace {

using bird::dtype;
using bird::sampling;
using bird::segment_role;
using bird::values;
using codec_test::poison;
using codec_test::tensor;

constexpr bird::sample_key key{9, 8, 7};

/// A list of up to five tensors of any role and size, its options, and data of any kind.
struct random_case {
  bird::compressor_options options;
  std::vector<tensor> list;

  explicit random_case(std::uint32_t seed)
  {
    std::mt19937 engine{seed};
    auto const below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(engine() % bound); };
    constexpr std::uint32_t tiles[] = {0, 1, 2, 3, 7, 8, 16, 31, 33, 64, 100, 700};
    constexpr double ratios[]       = {1e-6, 0.01, 0.1, 0.3, 0.5, 0.9, 1.0};
    options = codec_test::options_of(codec_test::all_samplings[below(4)], codec_test::all_values[below(3)],
                                     tiles[below(12)], ratios[below(7)], 1.0,
                                     below(2) == 0 ? bird::norm::l1 : bird::norm::l2,
                                     codec_test::all_indices[below(3)]);
    dtype const type            = codec_test::all_dtypes[below(3)];
    std::uint64_t tiles_of_last = 0;
    bool has_parent             = false;
    for (std::uint32_t i = 0, count = below(6); i < count; ++i) {
      auto role = static_cast<segment_role>(1 + below(3));
      if (role == segment_role::companion && !has_parent) {
        role = segment_role::sampled;
      }
      std::size_t const size  = role == segment_role::companion ? tiles_of_last
                                : below(4) == 0                 ? below(4)
                                                                : below(3000);
      std::uint32_t const row = 1 + below(50);
      list.emplace_back(data(size, engine()), type, role, row);
      if (role == segment_role::sampled) {
        has_parent = true;
        std::uint64_t const tile =
          std::min<std::uint64_t>(options.tile == 0 ? row : options.tile, std::max<std::size_t>(size, 1));
        tiles_of_last = (size + tile - 1) / tile;
      }
    }
  }

  static std::vector<float> data(std::size_t size, std::uint64_t seed)
  {
    auto const small = static_cast<std::uint32_t>(seed);
    switch (seed % 5) {
      case 0:
        return std::vector<float>(size, 0.5F);
      case 1:
        return codec_test::integers(size, small);
      case 2:
        return codec_test::gradient(size, small, 0.9);
      default:
        return codec_test::gradient(size, small, 0.05);
    }
  }
};

TEST(Capacity, IsNeverExceededAndEveryPacketDecodesAsSpecified)
{
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    random_case const one{seed};
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + codec_test::name_of(one.options));
    bird::compressor const codec{one.options};
    auto const views = codec_test::views_of(one.list);
    auto const got   = codec_test::compress(one.options, one.list, {seed, 1, 2});
    ASSERT_LE(got.packet.size(), codec.packet_capacity(views));
    ASSERT_EQ(got.view().header.capacity, codec.packet_capacity(views));
    ASSERT_EQ(got.view().bytes.size(), got.packet.size());
    ASSERT_EQ(codec_test::decompress(got.packet), got.decoded().elements);
  }
}

TEST(Capacity, OfSystematicSignsIsReachedExactly)
{
  auto const options = codec_test::options_of(sampling::systematic, values::sign, 8, 0.1);
  auto const got     = codec_test::compress(options, codec_test::gradient(8000, 91), key);
  // 100 of 1000 tiles: Elias-Fano has at most one word of slack between capacity and size.
  EXPECT_LE(got.view().header.capacity - got.packet.size(), 16U);
}

TEST(Capacity, NeedsNoData)
{
  std::vector<bird::const_tensor_view> const shapes{{nullptr, 1000}, {nullptr, 0}};
  bird::compressor const codec{bird::preset("tile")};
  EXPECT_GT(codec.packet_capacity(shapes), 64U);
  EXPECT_GT(codec.compress_scratch_bytes(shapes), 0U);
}

// Memory of a worker does not depend on who else is there: there is no argument that could say so, and what
// it is may be read here: packet and scratch, both below the gradient's own size at the default options.
TEST(Memory, OfAWorkerIsLessThanItsGradient)
{
  std::vector<bird::const_tensor_view> const shapes{{nullptr, 1'000'000}};
  bird::compressor const codec{bird::preset("tile")};
  EXPECT_LT(codec.packet_capacity(shapes) + codec.compress_scratch_bytes(shapes), 1'200'000U);
}

/// Memory with guards on both sides of the part that is handed out.
class guarded {
 public:
  explicit guarded(std::size_t bytes) : memory_(bytes + 2 * guard, poison), bytes_{bytes} {}
  [[nodiscard]] bird::span<std::byte> part() { return {memory_.data() + guard, bytes_}; }
  [[nodiscard]] bool guards_hold() const
  {
    for (std::size_t i = 0; i < guard; ++i) {
      if (memory_[i] != poison || memory_[guard + bytes_ + i] != poison) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] bool untouched() const
  {
    return std::all_of(memory_.begin(), memory_.end(), [](std::byte b) { return b == poison; });
  }

 private:
  static constexpr std::size_t guard = 64;
  std::vector<std::byte> memory_;
  std::size_t bytes_;
};

TEST(Guards, AroundPacketScratchAndOutputsHold)
{
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    random_case const one{seed};
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + codec_test::name_of(one.options));
    bird::compressor const codec{one.options};
    auto const views = codec_test::views_of(one.list);
    guarded packet{codec.packet_capacity(views)}, scratch{codec.compress_scratch_bytes(views)};
    auto const report = codec.compress(views, key, packet.part(), scratch.part(), bird::on_host);
    ASSERT_TRUE(packet.guards_hold());
    ASSERT_TRUE(scratch.guards_hold());
    for (dtype const type : codec_test::all_dtypes) {
      std::vector<guarded> outputs;
      std::vector<bird::tensor_view> out;
      outputs.reserve(views.size());
      for (bird::const_tensor_view const& view : views) {
        outputs.emplace_back(view.count * bird::element_bytes(type));
        out.push_back({outputs.back().part().data(), view.count, type});
      }
      bird::decompress(packet.part().first(report.packet_bytes), out, bird::on_host);
      std::vector<bird::weighted_packet> const twice(2, {packet.part().first(report.packet_bytes), 0.5F});
      bird::apply(twice, out, bird::on_host);
      for (guarded const& output : outputs) {
        ASSERT_TRUE(output.guards_hold());
      }
    }
  }
}

TEST(Input, IsNotChanged)
{
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    random_case const one{seed};
    std::vector<tensor> const before = one.list;
    codec_test::compress(one.options, one.list, key);
    for (std::size_t i = 0; i < before.size(); ++i) {
      ASSERT_EQ(one.list[i].bytes, before[i].bytes);
    }
  }
}

TEST(Input, MayBeOverwrittenOrFreedRightAfterTheCall)
{
  auto const options                = bird::preset("tile");
  std::vector<float> const elements = codec_test::gradient(300'000, 92);
  auto const expected               = codec_test::compress(options, elements, key);
  auto copy                         = std::make_unique<std::vector<float>>(elements);
  auto const got                    = codec_test::compress(options, *copy, key);
  std::fill(copy->begin(), copy->end(), std::numeric_limits<float>::quiet_NaN());
  copy.reset();
  EXPECT_EQ(codec_test::decompress(got.packet), codec_test::decompress(expected.packet));
}

/// One compress() call whose buffers a test may spoil.
struct call {
  std::vector<float> elements = codec_test::gradient(1000, 93);
  std::vector<bird::const_tensor_view> views{{elements.data(), elements.size()}};
  bird::compressor codec{bird::preset("tile")};
  guarded packet{codec.packet_capacity(views) + 16};
  guarded scratch{codec.compress_scratch_bytes(views) + 16};

  bird::compress_report run(bird::span<std::byte> into, bird::span<std::byte> work,
                            bird::feedback memory = {}, bird::stream_ref stream = bird::on_host)
  {
    return codec.compress(views, key, into, work, memory, stream);
  }
  std::size_t capacity() { return packet.part().size() - 16; }
  std::size_t needed() { return scratch.part().size() - 16; }
  void expect_untouched() const
  {
    EXPECT_TRUE(packet.untouched());
    EXPECT_TRUE(scratch.untouched());
  }
};

TEST(Refusal, OfAPacketOneByteShortWritesNothing)
{
  call c;
  EXPECT_INVALID(c.run(c.packet.part().first(c.capacity() - 1), c.scratch.part()), "packet: ");
  c.expect_untouched();
  EXPECT_NO_THROW(c.run(c.packet.part().first(c.capacity()), c.scratch.part()));
}

TEST(Refusal, OfAScratchOneByteShortWritesNothing)
{
  call c;
  EXPECT_INVALID(c.run(c.packet.part(), c.scratch.part().first(c.needed() - 1)), "scratch: ");
  c.expect_untouched();
  EXPECT_NO_THROW(c.run(c.packet.part(), c.scratch.part().first(c.needed())));
}

TEST(Refusal, OfMisalignedBuffersNamesThem)
{
  call c;
  for (std::size_t const offset : {1U, 4U, 8U, 15U}) {
    EXPECT_INVALID(c.run(c.packet.part().subspan(offset, c.capacity()), c.scratch.part()), "packet: address");
    EXPECT_INVALID(c.run(c.packet.part(), c.scratch.part().subspan(offset, c.needed())), "scratch: address");
  }
  c.expect_untouched();
}

TEST(Refusal, OfNullBuffersNamesThem)
{
  call c;
  EXPECT_INVALID(c.run({nullptr, c.capacity()}, c.scratch.part()), "packet: is null");
  EXPECT_INVALID(c.run(c.packet.part(), {nullptr, c.needed()}), "scratch: is null");
  c.views[0].data = nullptr;
  EXPECT_INVALID(c.run(c.packet.part(), c.scratch.part()), "tensors[0]: data is null");
  c.expect_untouched();
}

TEST(Refusal, OfAMisalignedTensorNamesIt)
{
  call c;
  auto const* bytes = reinterpret_cast<std::byte const*>(c.elements.data());
  for (std::size_t const offset : {1U, 2U, 3U}) {
    c.views[0] = {bytes + offset, 900};
    EXPECT_INVALID(c.run(c.packet.part(), c.scratch.part()), "tensors[0].data: address");
  }
  c.views[0] = {bytes + 1, 900, dtype::float16};
  EXPECT_INVALID(c.run(c.packet.part(), c.scratch.part()), "tensors[0].data: address");
  c.expect_untouched();
}

TEST(Refusal, OfMixedDtypesNamesTheTensor)
{
  call c;
  c.views = {{c.elements.data(), 100}, {c.elements.data(), 100, dtype::float16}};
  EXPECT_INVALID(c.run(c.packet.part(), c.scratch.part()), "tensors[1]: dtype is float16");
  c.views[1].type = static_cast<dtype>(9);
  EXPECT_INVALID(c.run(c.packet.part(), c.scratch.part()), "9");
  c.expect_untouched();
}

TEST(Refusal, OfACompanionNamesWhatIsWrong)
{
  call c;
  c.views = {{c.elements.data(), 100, dtype::float32, 0, segment_role::companion}};
  EXPECT_INVALID(c.run(c.packet.part(), c.scratch.part()), "tensors[0]: a companion needs a sampled tensor");
  c.views = {{c.elements.data(), 100}, {c.elements.data(), 12, dtype::float32, 0, segment_role::companion}};
  EXPECT_INVALID(c.run(c.packet.part(), c.scratch.part()), "its count is 12 and tensors[0] has 13 tiles");
  c.expect_untouched();
}

TEST(Refusal, OfAnUnknownRoleNamesIt)
{
  call c;
  c.views[0].role = static_cast<segment_role>(4);
  EXPECT_INVALID(c.run(c.packet.part(), c.scratch.part()), "tensors[0]: role 4");
  c.expect_untouched();
}

TEST(Refusal, OfHostMemoryOnADeviceStreamWritesNothing)
{
  // Without device code the stream is refused; with it the memory is, or the runtime says that it has no
  // device.
  call c;
  CUstream_st* const legacy = nullptr;
  EXPECT_THROW(c.run(c.packet.part(), c.scratch.part(), {}, bird::stream_ref{legacy}), std::exception);
  c.expect_untouched();
}

TEST(Refusal, OfTooManyTilesOrElementsComesWithTheSizeQuery)
{
  bird::compressor const codec{bird::preset("sign1")};
  auto const capacity = [&](std::uint64_t count, std::size_t tensors) {
    std::vector<bird::const_tensor_view> const list(tensors, {nullptr, count});
    return codec.packet_capacity(list);
  };
  EXPECT_NO_THROW(capacity(0xFFFFFFFEU, 1));
  EXPECT_INVALID(capacity(0xFFFFFFFFU, 1), "tiles");
  EXPECT_INVALID(capacity(0x80000000U, 2), "tiles");
  EXPECT_INVALID(capacity(std::uint64_t{1} << 56, 256), "tiles");  // their sum wraps to 0
  EXPECT_INVALID(capacity((std::uint64_t{1} << 56) + 1, 1), "tensors[0]: count");
}

TEST(Refusal, OfARowBeyond32BitsNamesTheTensor)
{
  auto options = codec_test::options_of(sampling::top, values::sign, 0, 1.0);
  std::vector<bird::const_tensor_view> const list{{nullptr, std::uint64_t{1} << 33}};
  EXPECT_INVALID(bird::compressor{options}.packet_capacity(list), "tensors[0]: a tile of 8589934592");
}

TEST(Refusal, OfOutputsNamesTheTensorAndWritesNothing)
{
  std::vector<tensor> const list{tensor{codec_test::gradient(100, 94)}, tensor{codec_test::gradient(50, 95)}};
  auto const got = codec_test::compress(bird::preset("tile"), list, key);
  guarded first{400}, second{200};
  auto const run = [&](std::vector<bird::tensor_view> const& views) {
    bird::decompress(got.packet, views, bird::on_host);
  };
  auto const add = [&](std::vector<bird::tensor_view> const& views) {
    std::vector<bird::weighted_packet> const packets{{got.packet, 1.0F}};
    bird::apply(packets, views, bird::on_host);
  };
  bird::tensor_view const a{first.part().data(), 100}, b{second.part().data(), 50};
  for (auto const& refused : {std::vector<bird::tensor_view>{a}, std::vector<bird::tensor_view>{a, b, b}}) {
    EXPECT_INVALID(run(refused), "has 2 segments");
    EXPECT_INVALID(add(refused), "has 2 segments");
  }
  EXPECT_INVALID(run({a, {second.part().data(), 49}}), "tensors[1]: count is 49");
  EXPECT_INVALID(add({a, {second.part().data(), 49}}), "tensors[1]: count is 49");
  EXPECT_INVALID(run({a, {nullptr, 50}}), "tensors[1]: data is null");
  EXPECT_INVALID(run({a, {second.part().data() + 2, 50}}), "tensors[1].data: address");
  EXPECT_INVALID(add({a, {second.part().data() + 2, 50}}), "tensors[1].data: address");
  EXPECT_INVALID(run({a, {second.part().data(), 50, static_cast<dtype>(0)}}), "0");
  EXPECT_TRUE(first.untouched());
  EXPECT_TRUE(second.untouched());
}

TEST(Refusal, OfADamagedPacketAmongManyWritesNothing)
{
  auto const good = codec_test::compress(bird::preset("tile"), codec_test::gradient(100, 96), key);
  auto bad        = good;
  bad.packet.back() ^= std::byte{1};
  guarded output{400};
  std::vector<bird::tensor_view> const views{{output.part().data(), 100}};
  std::vector<bird::weighted_packet> const packets{{good.packet, 1.0F}, {bad.packet, 1.0F}};
  EXPECT_THROW(bird::apply(packets, views, bird::on_host), bird::bad_packet);
  EXPECT_TRUE(output.untouched());
}

}  // namespace
