/// The library decodes as the specification says: bit for bit as the slow decoder that was written from it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "bird/compressor.hpp"
#include "encoded_packet.hpp"
#include "sound_packets.hpp"

namespace {

using reference::aligned_bytes;

constexpr std::uint8_t poison = 0xA5;
constexpr std::size_t guard   = 64;  ///< bytes before and after each tensor

/// Tensors of a packet with poisoned memory around and inside them.
class guarded_tensors {
 public:
  guarded_tensors(reference::decoded_packet const& packet, bird::dtype type)
  {
    std::uint64_t const width = bird::element_bytes(type);
    for (auto const& elements : packet.elements) {
      memory_.emplace_back(guard + elements.size() * width + guard, poison);
      views_.push_back({memory_.back().data() + guard, elements.size(), type});
    }
  }
  bird::span<bird::tensor_view const> views() const { return views_; }
  std::uint8_t* elements(std::size_t tensor) { return memory_[tensor].data() + guard; }

  void expect_guards_untouched() const
  {
    for (std::vector<std::uint8_t> const& bytes : memory_) {
      for (std::size_t i = 0; i < guard; ++i) {
        ASSERT_EQ(bytes[i], poison) << "written before the tensor";
        ASSERT_EQ(bytes[bytes.size() - 1 - i], poison) << "written behind the tensor";
      }
    }
  }

 private:
  std::vector<std::vector<std::uint8_t>> memory_;
  std::vector<bird::tensor_view> views_;
};

/// Rounds to a multiple of a power of two, ties to even.
double to_multiple(double value, int exponent)
{
  return std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
}

/// Value of a binary32 number in another type, by arithmetic on doubles.
double rounded(float value, bird::dtype type)
{
  if (type == bird::dtype::float32 || value == 0 || !std::isfinite(value)) {
    return static_cast<double>(value);
  }
  int const digits   = type == bird::dtype::float16 ? 11 : 8;
  int const smallest = type == bird::dtype::float16 ? -24 : -133;
  double const result =
    to_multiple(static_cast<double>(value), std::max(std::ilogb(value) + 1 - digits, smallest));
  double const largest = type == bird::dtype::float16 ? 65504 : 0x1.FEp127;
  return std::fabs(result) > largest ? std::copysign(INFINITY, result) : result;
}

double element(std::uint8_t const* elements, std::size_t i, bird::dtype type)
{
  int const width          = static_cast<int>(bird::element_bytes(type));
  std::uint64_t const bits = reference::number(elements, i * static_cast<std::size_t>(width), width);
  float const value        = type == bird::dtype::float32    ? reference::binary32(bits)
                             : type == bird::dtype::bfloat16 ? reference::binary32(bits << 16)
                                                             : reference::binary16(bits);
  return static_cast<double>(value);
}

void expect_equal(std::vector<std::vector<float>> const& expected, guarded_tensors& actual, bird::dtype type)
{
  for (std::size_t tensor = 0; tensor < expected.size(); ++tensor) {
    for (std::size_t i = 0; i < expected[tensor].size(); ++i) {
      double const want = rounded(expected[tensor][i], type);
      double const have = element(actual.elements(tensor), i, type);
      ASSERT_EQ(std::isnan(want), std::isnan(have)) << tensor << ' ' << i;
      ASSERT_TRUE(std::isnan(want) || (want == have && std::signbit(want) == std::signbit(have)))
        << "tensor " << tensor << " element " << i << ": " << have << " instead of " << want;
    }
  }
}

void expect_decoded_as_specified(bird::span<std::byte const> packet)
{
  auto const expected = reference::decode(reinterpret_cast<std::uint8_t const*>(packet.data()));
  ASSERT_EQ(expected.bytes, packet.size());
  for (auto const type : {bird::dtype::float32, bird::dtype::float16, bird::dtype::bfloat16}) {
    guarded_tensors tensors{expected, type};
    bird::decompress(packet, tensors.views(), bird::on_host);
    expect_equal(expected.elements, tensors, type);
    tensors.expect_guards_untouched();
  }
}

/// apply() of one packet twice, with weights, onto what is already there.
void expect_applied_as_specified(bird::span<std::byte const> packet)
{
  reference::decoder decoder{reinterpret_cast<std::uint8_t const*>(packet.data())};
  auto sums = decoder.decode();
  guarded_tensors tensors{sums, bird::dtype::float32};
  for (std::size_t s = 0; s < sums.elements.size(); ++s) {
    std::vector<float>& elements = sums.elements[s];
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i] = static_cast<float>(i % 9) - 4;
    }
    if (!elements.empty()) {
      std::memcpy(tensors.elements(s), elements.data(), elements.size() * sizeof(float));
      decoder.apply(s, 0.3F, elements);
      decoder.apply(s, -2.0F, elements);
    }
  }
  std::vector<bird::weighted_packet> const packets{{packet, 0.3F}, {packet, -2.0F}};
  bird::apply(packets, tensors.views(), bird::on_host);
  expect_equal(sums.elements, tensors, bird::dtype::float32);
  tensors.expect_guards_untouched();
}

TEST(Decoder, ReadsPacketsWrittenByHand)
{
  for (reference::named_packet const& sound : reference::sound_packets()) {
    SCOPED_TRACE(sound.name);
    aligned_bytes const memory{reference::build(sound.recipe)};
    ASSERT_NO_FATAL_FAILURE(expect_decoded_as_specified(memory.span()));
  }
}

TEST(Decoder, AppliesPacketsWrittenByHand)
{
  for (reference::named_packet const& sound : reference::sound_packets()) {
    SCOPED_TRACE(sound.name);
    aligned_bytes const memory{reference::build(sound.recipe)};
    ASSERT_NO_FATAL_FAILURE(expect_applied_as_specified(memory.span()));
  }
}

class EncodedPacket : public testing::TestWithParam<reference::named_options> {};

TEST_P(EncodedPacket, IsDecodedAsSpecified)
{
  for (auto const type : {bird::dtype::float32, bird::dtype::float16, bird::dtype::bfloat16}) {
    for (bool const non_finite : {false, true}) {
      reference::encoded_packet const packet{reference::small_list(type, GetParam().options.tile, non_finite),
                                             GetParam().options};
      ASSERT_GT(packet.report().kept_slots, 0U);
      ASSERT_NO_FATAL_FAILURE(expect_decoded_as_specified(packet.bytes()));
    }
  }
}

TEST_P(EncodedPacket, IsAppliedAsSpecified)
{
  reference::encoded_packet const packet{
    reference::small_list(bird::dtype::float32, GetParam().options.tile, true), GetParam().options};
  ASSERT_NO_FATAL_FAILURE(expect_applied_as_specified(packet.bytes()));
}

INSTANTIATE_TEST_SUITE_P(OfEveryCoding, EncodedPacket, testing::ValuesIn(reference::all_options()),
                         [](auto const& test) { return test.param.name; });

}  // namespace
