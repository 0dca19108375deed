/// Same key, same packet: whatever the threads, vector instructions, caller's arithmetic or history.
#include <gtest/gtest.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include <cfenv>
#include <cstdlib>
#include <random>
#include <set>

#include "codec_call.hpp"
#include "gradients.hpp"
#include "simd_targets.hpp"

namespace {

using bird::sampling;
using bird::values;
using codec_test::tensor;

constexpr bird::sample_key key{0x0123456789ABCDEF, 3, 9};

/// Large enough (beyond 256 Ki elements) that threads are used, with a second segment and a companion.
std::vector<tensor> const& large_list()
{
  static std::vector<tensor> const list = [] {
    std::vector<float> const elements = codec_test::gradient(400'003, 41, 0.05);
    std::vector<tensor> tensors;
    tensors.emplace_back(elements);
    tensors.emplace_back(codec_test::gradient(30'001, 42));
    tensors.emplace_back(codec_test::gradient(1000, 43), bird::dtype::float32, bird::segment_role::dense);
    return tensors;
  }();
  return list;
}

std::vector<bird::compressor_options> all_options()
{
  std::vector<bird::compressor_options> all;
  for (sampling const how : codec_test::all_samplings) {
    for (values const what : codec_test::all_values) {
      for (bird::index const names : codec_test::all_indices) {
        std::uint32_t const tile = names == bird::index::u32 ? 1 : names == bird::index::bitmap ? 8 : 100;
        all.push_back(codec_test::options_of(how, what, tile, 0.1, 1.0,
                                             what == values::bf16 ? bird::norm::l2 : bird::norm::l1, names));
      }
    }
  }
  all.push_back(codec_test::options_of(sampling::bi_random, values::sign, 8, 0.1, 2.5));
  return all;
}

class Packet : public testing::TestWithParam<bird::compressor_options> {};

TEST_P(Packet, IsTheSameForAnyNumberOfThreads)
{
  std::vector<std::byte> expected;
  for (int const threads : {1, 2, 3, 8}) {
    codec_test::thread_count const scope{threads};
    auto const got = codec_test::compress(GetParam(), large_list(), key).packet;
    if (expected.empty()) {
      expected = got;
    }
    EXPECT_TRUE(got == expected) << threads << " threads";
  }
}

TEST_P(Packet, IsTheSameForAnyVectorInstructions)
{
  std::vector<std::byte> const expected = codec_test::compress(GetParam(), large_list(), key).packet;
  codec_test::for_each_target(
    [&] { EXPECT_TRUE(codec_test::compress(GetParam(), large_list(), key).packet == expected); });
}

TEST_P(Packet, OfEveryDtypeIsTheSameForAnyVectorInstructions)
{
  for (bird::dtype const type : codec_test::all_dtypes) {
    for (std::uint32_t const tile : {1U, 4U, 8U, 13U, 32U, 100U}) {
      bird::compressor_options options = GetParam();
      options.tile                     = tile;
      std::vector<float> elements      = codec_test::gradient(7001, 52, 0.2);
      elements[100]                    = 60'000;
      std::vector<tensor> const list{tensor{elements, type}};
      auto const expected = codec_test::compress(options, list, key).packet;
      auto const decoded  = codec_test::decompress(expected, type);
      codec_test::for_each_target([&] {
        EXPECT_TRUE(codec_test::compress(options, list, key).packet == expected) << bird::to_string(type);
        EXPECT_TRUE(codec_test::decompress(expected, type) == decoded) << bird::to_string(type);
      });
    }
  }
}

TEST_P(Packet, DecodesAlikeForAnyThreadsAndInstructions)
{
  std::vector<std::byte> const packet            = codec_test::compress(GetParam(), large_list(), key).packet;
  std::vector<std::vector<float>> const expected = codec_test::decompress(packet);
  for (int const threads : {1, 3}) {
    codec_test::thread_count const scope{threads};
    codec_test::for_each_target([&] { EXPECT_TRUE(codec_test::decompress(packet) == expected); });
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Packet, testing::ValuesIn(all_options()), [](auto const& one) {
  auto const& o = one.param;
  return std::string{bird::to_string(o.sampling)} + '_' + bird::to_string(o.values) + '_' +
         bird::to_string(o.index) + (o.gamma == 1 ? "" : "_gamma");
});

TEST(Packet, IsTheSameInAHundredRuns)
{
  std::vector<float> const elements     = codec_test::gradient(5000, 44);
  auto const options                    = bird::preset("tile");
  std::vector<std::byte> const expected = codec_test::compress(options, elements, key).packet;
  for (int run = 0; run < 100; ++run) {
    codec_test::compress(options, codec_test::gradient(100, static_cast<std::uint32_t>(run)), {1, 1, 1});
    ASSERT_TRUE(codec_test::compress(options, elements, key).packet == expected) << "run " << run;
  }
}

TEST(Packet, DoesNotDependOnWhereTheElementsLie)
{
  std::vector<float> const elements = codec_test::gradient(3000, 45);
  for (sampling const how : codec_test::all_samplings) {
    auto const options                    = codec_test::options_of(how, values::full, 8, 0.2);
    std::vector<std::byte> const expected = codec_test::compress(options, elements, key).packet;
    for (std::size_t offset = 1; offset < 17; ++offset) {
      std::vector<float> shifted(offset, 1.0e9F);
      shifted.insert(shifted.end(), elements.begin(), elements.end());
      shifted.insert(shifted.end(), 3, 1.0e9F);
      std::vector<bird::const_tensor_view> const view{{shifted.data() + offset, elements.size()}};
      EXPECT_TRUE(codec_test::compress(options, view, key).packet == expected) << "offset " << offset;
    }
  }
}

/// Samples of one list under keys that differ in one part each.
std::set<std::vector<std::uint64_t>> samples_of(std::vector<bird::sample_key> const& keys, sampling how)
{
  std::set<std::vector<std::uint64_t>> samples;
  std::vector<float> const elements = codec_test::gradient(4000, 46);
  for (bird::sample_key const& one : keys) {
    auto const options = codec_test::options_of(how, values::sign, 4, 0.1);
    samples.insert(codec_test::compress(options, elements, one).decoded().slots);
  }
  return samples;
}

TEST(Sample, DiffersByEveryPartOfTheKey)
{
  std::vector<bird::sample_key> const keys{{1, 1, 1}, {2, 1, 1}, {1, 2, 1},
                                           {1, 1, 2}, {1, 2, 2}, {(std::uint64_t{1} << 32) + 1, 1, 1},
                                           {1, 3, 1}, {1, 1, 3}, {0, 0, 0}};
  for (sampling const how : {sampling::systematic, sampling::uniform, sampling::bi_random}) {
    EXPECT_EQ(samples_of(keys, how).size(), keys.size()) << bird::to_string(how);
  }
}

TEST(Sample, OfStepAndTensorIdAreNotInterchangeable)
{
  for (sampling const how : {sampling::systematic, sampling::uniform, sampling::bi_random}) {
    EXPECT_EQ(samples_of({{1, 5, 7}, {1, 7, 5}, {5, 1, 7}, {7, 5, 1}}, how).size(), 4U);
  }
}

TEST(Sample, OfEqualTensorsOfOneListDiffer)
{
  std::vector<float> const elements = codec_test::gradient(4000, 47);
  std::vector<tensor> const list{tensor{elements}, tensor{elements}};
  for (sampling const how : {sampling::systematic, sampling::uniform, sampling::bi_random}) {
    auto const packet =
      codec_test::compress(codec_test::options_of(how, values::sign, 4, 0.1), list, key).decoded();
    EXPECT_NE(packet.elements[0], packet.elements[1]) << bird::to_string(how);
  }
}

TEST(Sample, DoesNotDependOnTheDtypeThatHoldsTheSameNumbers)
{
  std::vector<float> const elements = codec_test::integers(4001, 48);
  for (sampling const how : codec_test::all_samplings) {
    for (std::uint32_t const tile : {1U, 8U, 30U}) {
      auto const options = codec_test::options_of(how, values::sign, tile, 0.1);
      auto const single  = codec_test::compress(options, {tensor{elements}}, key).decoded();
      for (bird::dtype const type : {bird::dtype::float16, bird::dtype::bfloat16}) {
        auto const narrow = codec_test::compress(options, {tensor{elements, type}}, key).decoded();
        EXPECT_EQ(narrow.slots, single.slots);
        EXPECT_EQ(narrow.elements, single.elements);
      }
    }
  }
}

TEST(UsersRandomNumbers, AreNotTouched)
{
  std::vector<float> const elements = codec_test::gradient(4000, 49);
  auto const three                  = [&](bool between) {
    std::srand(42);
    std::vector<int> numbers{std::rand()};
    if (between) {
      codec_test::decompress(codec_test::compress(bird::preset("paper"), elements, key).packet);
      codec_test::decompress(codec_test::compress(bird::preset("tile"), elements, key).packet);
    }
    numbers.push_back(std::rand());
    return numbers;
  };
  EXPECT_EQ(three(true), three(false));
}

/// Sets the caller's floating-point state for one scope.
class caller_arithmetic {
 public:
  explicit caller_arithmetic(int rounding, bool flush)
  {
    std::fegetenv(&before_);
    std::fesetround(rounding);
#if defined(__SSE__)
    _mm_setcsr(_mm_getcsr() | (flush ? 0x8040U : 0U));  // FTZ and DAZ
#endif
  }
  ~caller_arithmetic() { std::fesetenv(&before_); }
  caller_arithmetic(caller_arithmetic const&)            = delete;
  caller_arithmetic& operator=(caller_arithmetic const&) = delete;

 private:
  std::fenv_t before_{};
};

TEST(CallersArithmetic, ChangesNeitherPacketNorDecodingAndIsRestored)
{
  // Sub-normal numbers, and 10 tiles at ratio 0.1: with upward rounding 0.1 * 10 exceeds 1.
  std::vector<float> small = codec_test::gradient(80, 50);
  for (float& x : small) {
    x *= 1.0e-39F;
  }
  std::vector<tensor> const list{tensor{small}, tensor{codec_test::gradient(300'000, 51)}};
  for (sampling const how : codec_test::all_samplings) {
    for (values const what : {values::sign, values::full}) {
      auto const options  = codec_test::options_of(how, what, 8, 0.1);
      auto const expected = codec_test::compress(options, list, key);
      auto const decoded  = codec_test::decompress(expected.packet);
      for (int const rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        for (bool const flush : {false, true}) {
          std::vector<std::byte> packet;
          std::vector<std::vector<float>> again;
          int after          = -1;
          unsigned int state = 0, state_after = 0;
          {
            caller_arithmetic const scope{rounding, flush};
#if defined(__SSE__)
            state = _mm_getcsr() & 0xFFC0U;  // controls, not the flags of past exceptions
#endif
            packet = codec_test::compress(options, list, key).packet;
            again  = codec_test::decompress(packet);
            after  = std::fegetround();
#if defined(__SSE__)
            state_after = _mm_getcsr() & 0xFFC0U;
#endif
          }
          SCOPED_TRACE(codec_test::name_of(options) + " rounding " + std::to_string(rounding));
          EXPECT_TRUE(packet == expected.packet);
          EXPECT_TRUE(again == decoded);
          EXPECT_EQ(after, rounding);
          EXPECT_EQ(state_after, state);
        }
      }
    }
  }
}

}  // namespace
