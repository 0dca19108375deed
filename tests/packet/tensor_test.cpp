/// Views of tensors: contiguous ones pass, all others are refused by name.
#include "bird/tensor.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "bird/packet.hpp"
#include "refusal.hpp"

namespace {

using extents = std::vector<std::int64_t>;

float storage[1];

bird::const_tensor_view view(extents const& shape, extents const& strides = {})
{
  return bird::contiguous(storage, bird::dtype::float32, shape, strides);
}

#define EXPECT_INVALID(statement, text) EXPECT_THROW_SAYING(statement, bird::invalid_argument, text)

TEST(Contiguous, CountsTheProductOfTheExtents)
{
  EXPECT_EQ(view({2, 3, 5}).count, 30U);
  EXPECT_EQ(view({7}).count, 7U);
}

TEST(Contiguous, TakesTheProductOfLaterExtentsAsTheRow)
{
  EXPECT_EQ(view({10, 3}).row, 3U);
  EXPECT_EQ(view({16, 6, 5, 5}).row, 150U);
  EXPECT_EQ(view({7}).row, 1U);
}

TEST(Contiguous, OfNoDimensionsIsOneElement)
{
  EXPECT_EQ(view({}).count, 1U);
  EXPECT_EQ(view({}).row, 1U);
}

TEST(Contiguous, MayBeEmpty)
{
  EXPECT_EQ(view({0}).count, 0U);
  EXPECT_EQ(view({4, 0, 3}).count, 0U);
  EXPECT_EQ(view({4, 0, 3}, {9, 9, 9}).count, 0U);
}

TEST(Contiguous, KeepsPointerAndTypeAndIsSampled)
{
  auto const half = bird::contiguous(storage, bird::dtype::float16, extents{2}, {});
  EXPECT_EQ(half.data, storage);
  EXPECT_EQ(half.type, bird::dtype::float16);
  EXPECT_EQ(half.role, bird::segment_role::sampled);
}

TEST(Contiguous, TakesDenseStridesAndAnyStrideOfAnExtentOfOne)
{
  EXPECT_EQ(view({2, 3, 5}, {15, 5, 1}).count, 30U);
  EXPECT_EQ(view({2, 1, 5}, {5, 99, 1}).count, 10U);
}

TEST(Contiguous, RefusesAnyOtherStrideByDimension)
{
  EXPECT_INVALID(view({2, 3}, {1, 2}), "strides[1] is 2");    // transposed
  EXPECT_INVALID(view({2, 3}, {4, 1}), "strides[0] is 4");    // rows of a wider matrix
  EXPECT_INVALID(view({2, 3}, {0, 1}), "strides[0] is 0");    // expanded
  EXPECT_INVALID(view({2, 3}, {-3, 1}), "strides[0] is -3");  // reversed
  EXPECT_INVALID(view({5}, {2}), "strides[0] is 2");          // every other element
}

TEST(Contiguous, RefusesStridesOfAnotherLength)
{
  EXPECT_INVALID(view({2, 3}, {1}), "strides has 1 entries; shape has 2");
}

TEST(Contiguous, RefusesANegativeExtent) { EXPECT_INVALID(view({2, -3}), "shape[1] is -3"); }

TEST(Contiguous, RefusesACountThatOverflows)
{
  EXPECT_INVALID(view({1LL << 32, 1LL << 31}), "shape[1] is 2147483648");
  EXPECT_INVALID(view({std::numeric_limits<std::int64_t>::max(), 2}), "shape[1] is 2");
}

TEST(Contiguous, RefusesAnUnknownType)
{
  EXPECT_INVALID(bird::contiguous(storage, static_cast<bird::dtype>(4), extents{1}, {}), "dtype is 4");
}

TEST(Contiguous, HasNoRowWhereItDoesNotFit32Bits)
{
  EXPECT_EQ(view({2, 1LL << 32}).row, 0U);
  EXPECT_EQ(view({2, (1LL << 32) - 1}).row, 0xFFFFFFFFU);
}

TEST(ElementBytes, AreThoseOfTheType)
{
  EXPECT_EQ(bird::element_bytes(bird::dtype::float32), 4U);
  EXPECT_EQ(bird::element_bytes(bird::dtype::float16), 2U);
  EXPECT_EQ(bird::element_bytes(bird::dtype::bfloat16), 2U);
  EXPECT_INVALID(bird::element_bytes(static_cast<bird::dtype>(0)), "dtype is 0");
}

TEST(ToString, NamesEveryCodeAndAdmitsWhatItDoesNotKnow)
{
  EXPECT_STREQ(bird::to_string(bird::dtype::bfloat16), "bfloat16");
  EXPECT_STREQ(bird::to_string(bird::segment_role::companion), "companion");
  EXPECT_STREQ(bird::to_string(bird::sampling::bi_random), "bi_random");
  EXPECT_STREQ(bird::to_string(bird::values::bf16), "bf16");
  EXPECT_STREQ(bird::to_string(bird::index::elias_fano), "elias_fano");
  EXPECT_STREQ(bird::to_string(bird::norm::l2), "l2");
  EXPECT_STREQ(bird::to_string(static_cast<bird::sampling>(9)), "unknown");
}

}  // namespace
