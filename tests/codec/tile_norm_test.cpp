/// Norms by the vector are those of the rule, bit for bit, and the rule's are the sums they stand for.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "codec_call.hpp"
#include "gradients.hpp"
#include "host/stages.hpp"
#include "simd_targets.hpp"
#include "tile_norm.cuh"

namespace {

using codec_test::tensor;

struct norms_of_list {
  std::vector<float> norms;
  std::vector<bird::host::norm_summary> summaries;
};

norms_of_list norms_of(std::vector<tensor> const& tensors, std::uint32_t tile, bird::norm kind)
{
  bird::compressor_options options;
  options.tile               = tile;
  bird::list_plan const plan = bird::plan_list(codec_test::views_of(tensors), options);
  norms_of_list result{std::vector<float>(plan.tiles, -1.0F),
                       std::vector<bird::host::norm_summary>(tensors.size())};
  bird::host::tile_norms(plan, kind, result.norms.data(), bird::host::which_segments::all, result.summaries);
  return result;
}

template <class T>
bird::rule::tile_norm rule_norm(tensor const& t, bird::norm kind, std::uint64_t first, std::uint64_t tile)
{
  auto const* elements = reinterpret_cast<T const*>(t.bytes.data());
  return bird::rule::norm_of(kind, elements + first, std::min(tile, t.shape.count - first));
}

bird::rule::tile_norm rule_norm(tensor const& t, bird::norm kind, std::uint64_t first, std::uint64_t tile)
{
  switch (t.shape.type) {
    case bird::dtype::float32:
      return rule_norm<float>(t, kind, first, tile);
    case bird::dtype::float16:
      return rule_norm<bird::rule::half16>(t, kind, first, tile);
    case bird::dtype::bfloat16:
      return rule_norm<bird::rule::bfloat16>(t, kind, first, tile);
  }
  return {};
}

void expect_rule_norms(tensor const& t, std::uint32_t tile, bird::norm kind)
{
  norms_of_list const got = norms_of({t}, tile, kind);
  float largest           = 0;
  for (std::size_t i = 0; i < got.norms.size(); ++i) {
    float const expected = rule_norm(t, kind, i * std::uint64_t{tile}, tile).norm;
    ASSERT_EQ(bird::rule::bits_of(got.norms[i]), bird::rule::bits_of(expected))
      << "tile " << i << " of " << tile << " elements, " << bird::to_string(t.shape.type) << ", "
      << bird::to_string(kind) << ": " << got.norms[i] << " is not " << expected;
    largest = std::max(largest, expected);
  }
  EXPECT_EQ(got.summaries[0].largest, largest);
  EXPECT_FALSE(got.summaries[0].non_finite);
}

std::vector<std::uint32_t> tile_lengths()
{
  std::vector<std::uint32_t> lengths;
  for (std::uint32_t tile = 1; tile <= 200; ++tile) {
    lengths.push_back(tile);
  }
  for (std::uint32_t tile = 1000; tile <= 1030; ++tile) {
    lengths.push_back(tile);
  }
  lengths.insert(lengths.end(), {255, 256, 257, 2047, 2048, 2049, 5000});
  return lengths;
}

TEST(TileNorms, EqualTheRuleForEveryTileDtypeAndTarget)
{
  std::vector<float> const elements = codec_test::gradient(11003, 1);
  for (bird::dtype const type : codec_test::all_dtypes) {
    tensor const t{elements, type};
    codec_test::for_each_target([&] {
      for (std::uint32_t const tile : tile_lengths()) {
        expect_rule_norms(t, tile, bird::norm::l1);
      }
    });
    for (std::uint32_t const tile : {1U, 8U, 63U, 64U, 65U, 1024U, 1025U, 5000U}) {
      expect_rule_norms(t, tile, bird::norm::l2);
    }
  }
}

TEST(TileNorms, EqualTheRuleForAnyNumberOfThreads)
{
  tensor const t{codec_test::gradient(300'007, 2)};
  for (int const threads : {1, 2, 3, 7}) {
    codec_test::thread_count const scope{threads};
    for (std::uint32_t const tile : {8U, 100U, 100'000U}) {
      expect_rule_norms(t, tile, bird::norm::l1);
      expect_rule_norms(t, tile, bird::norm::l2);
    }
  }
}

TEST(TileNorms, EqualTheRuleAtAnyAddressAlignedToAnElement)
{
  std::vector<float> const elements = codec_test::gradient(1000, 3);
  for (std::size_t offset = 0; offset < 20; ++offset) {
    bird::compressor_options options;
    options.tile = 24;
    std::vector<bird::const_tensor_view> const list{{elements.data() + offset, 900}};
    bird::list_plan const plan = bird::plan_list(list, options);
    std::vector<float> norms(plan.tiles);
    std::vector<bird::host::norm_summary> summaries(1);
    bird::host::tile_norms(plan, bird::norm::l1, norms.data(), bird::host::which_segments::all, summaries);
    for (std::size_t i = 0; i < norms.size(); ++i) {
      std::uint64_t const items = std::min<std::uint64_t>(24, 900 - 24 * i);
      EXPECT_EQ(norms[i], bird::rule::norm_of(bird::norm::l1, elements.data() + offset + 24 * i, items).norm);
    }
  }
}

// Integers add up exactly, so order cannot matter and the norm is the sum itself.
TEST(TileNorms, AreExactSumsOfIntegers)
{
  std::vector<float> const elements = codec_test::integers(5000, 4);
  for (std::uint32_t const tile : {1U, 3U, 8U, 64U, 1000U, 5000U}) {
    norms_of_list const l1 = norms_of({tensor{elements}}, tile, bird::norm::l1);
    norms_of_list const l2 = norms_of({tensor{elements}}, tile, bird::norm::l2);
    for (std::size_t i = 0; i < l1.norms.size(); ++i) {
      double sum = 0, squares = 0;
      for (std::size_t j = i * tile; j < std::min<std::size_t>(elements.size(), (i + 1) * tile); ++j) {
        sum += std::abs(static_cast<double>(elements[j]));
        squares += static_cast<double>(elements[j]) * static_cast<double>(elements[j]);
      }
      EXPECT_EQ(l1.norms[i], static_cast<float>(sum));
      EXPECT_EQ(l2.norms[i], static_cast<float>(std::sqrt(squares)));
    }
  }
}

TEST(TileNorms, BeyondTheLargestFloatAreTheLargestFloat)
{
  constexpr float largest = std::numeric_limits<float>::max();
  for (std::uint32_t const tile : {2U, 4U, 8U, 50U, 3000U}) {
    norms_of_list const l1 = norms_of({tensor{std::vector<float>(3000, largest)}}, tile, bird::norm::l1);
    norms_of_list const l2 = norms_of({tensor{std::vector<float>(3000, -largest)}}, tile, bird::norm::l2);
    EXPECT_EQ(l1.norms[0], largest);
    EXPECT_EQ(l2.norms[0], largest);
    EXPECT_FALSE(l1.summaries[0].non_finite);
    EXPECT_FALSE(l2.summaries[0].non_finite);
  }
}

TEST(TileNorms, OfATileWithAnInfOrNanAreZeroAndRaiseTheFlag)
{
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (bird::dtype const type : codec_test::all_dtypes) {
    for (float const bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
      for (std::uint32_t const tile : {1U, 4U, 8U, 20U, 70U}) {
        for (std::size_t const at : {0U, 33U, 138U}) {
          std::vector<float> elements = codec_test::gradient(139, 5);
          elements[at]                = bad;
          tensor const t{elements, type};
          for (bird::norm const kind : {bird::norm::l1, bird::norm::l2}) {
            norms_of_list const got = norms_of({t}, tile, kind);
            EXPECT_TRUE(got.summaries[0].non_finite);
            for (std::size_t i = 0; i < got.norms.size(); ++i) {
              bool const holds_it = at / tile == i;
              EXPECT_EQ(got.norms[i], holds_it ? 0.0F : rule_norm(t, kind, i * tile, tile).norm);
            }
          }
        }
      }
    }
  }
}

TEST(TileNorms, OfSubNormalElementsAreNotLost)
{
  float const least            = std::numeric_limits<float>::denorm_min();
  norms_of_list const sub      = norms_of({tensor{std::vector<float>(64, least)}}, 8, bird::norm::l1);
  norms_of_list const half_sub = norms_of(
    {tensor{std::vector<float>(64, std::ldexp(1.0F, -24)), bird::dtype::float16}}, 8, bird::norm::l1);
  EXPECT_EQ(sub.norms[0], 8 * least);
  EXPECT_EQ(half_sub.norms[0], std::ldexp(1.0F, -21));
}

TEST(TileNorms, OfSeveralSegmentsAreKeptApart)
{
  std::vector<tensor> const list{tensor{{1, 2, 3}}, tensor{{-4}}, tensor{std::vector<float>{}},
                                 tensor{{5, 6, 7, 8, 9}}};
  norms_of_list const got = norms_of(list, 2, bird::norm::l1);
  EXPECT_EQ(got.norms, (std::vector<float>{3, 3, 4, 11, 15, 9}));
  EXPECT_EQ(got.summaries[0].largest, 3.0F);
  EXPECT_EQ(got.summaries[1].largest, 4.0F);
  EXPECT_EQ(got.summaries[2].largest, 0.0F);
  EXPECT_EQ(got.summaries[3].largest, 15.0F);
}

}  // namespace
