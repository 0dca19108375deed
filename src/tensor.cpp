/// Views of tensors, and the names of what a tensor or a packet may be.
#include "bird/tensor.hpp"

#include <limits>
#include <string>

#include "bird/error.hpp"
#include "bird/packet.hpp"

namespace bird {
namespace {

/// Product of extents [first, end), or throws when it leaves 63 bits.
std::uint64_t product(span<std::int64_t const> shape, std::size_t first)
{
  std::uint64_t result = 1;
  for (std::size_t d = first; d < shape.size(); ++d) {
    auto const extent = static_cast<std::uint64_t>(shape[d]);
    if (extent != 0 && result > std::uint64_t{std::numeric_limits<std::int64_t>::max()} / extent) {
      throw invalid_argument{"shape[" + std::to_string(d) + "] is " + std::to_string(shape[d]) +
                             "; the product of the extents exceeds 2^63 - 1"};
    }
    result *= extent;
  }
  return result;
}

void check_strides(span<std::int64_t const> shape, span<std::int64_t const> strides)
{
  std::int64_t dense = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    // The stride of an extent of 1 is never multiplied by anything but 0.
    if (shape[d] != 1 && strides[d] != dense) {
      throw invalid_argument{"strides[" + std::to_string(d) + "] is " + std::to_string(strides[d]) +
                             "; a contiguous tensor has " + std::to_string(dense) +
                             " there (copy it, or pass its storage)"};
    }
    dense *= shape[d];
  }
}

}  // namespace

std::uint32_t element_bytes(dtype type)
{
  switch (type) {
    case dtype::float32:
      return 4;
    case dtype::float16:
    case dtype::bfloat16:
      return 2;
  }
  throw invalid_argument{"dtype is " + std::to_string(static_cast<int>(type)) +
                         "; it must be float32, float16 or bfloat16 (1 to 3)"};
}

const_tensor_view contiguous(void const* data, dtype type, span<std::int64_t const> shape,
                             span<std::int64_t const> strides)
{
  static_cast<void>(element_bytes(type));  // throws for an unknown dtype
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0) {
      throw invalid_argument{"shape[" + std::to_string(d) + "] is " + std::to_string(shape[d]) +
                             "; an extent is not negative"};
    }
  }
  if (!strides.empty() && strides.size() != shape.size()) {
    throw invalid_argument{"strides has " + std::to_string(strides.size()) + " entries; shape has " +
                           std::to_string(shape.size())};
  }
  std::uint64_t const count = product(shape, 0);
  if (!strides.empty() && count != 0) {
    check_strides(shape, strides);
  }
  // A row that does not fit stands as 0, the whole tensor as one row, which as a tile is refused as well.
  std::uint64_t const row = count == 0 || shape.empty() ? count : product(shape, 1);
  auto const row_32       = row > std::numeric_limits<std::uint32_t>::max() ? 0 : row;
  return {data, count, type, static_cast<std::uint32_t>(row_32), segment_role::sampled};
}

char const* to_string(dtype type)
{
  switch (type) {
    case dtype::float32:
      return "float32";
    case dtype::float16:
      return "float16";
    case dtype::bfloat16:
      return "bfloat16";
  }
  return "unknown";
}

char const* to_string(segment_role role)
{
  switch (role) {
    case segment_role::sampled:
      return "sampled";
    case segment_role::dense:
      return "dense";
    case segment_role::companion:
      return "companion";
  }
  return "unknown";
}

char const* to_string(sampling value)
{
  switch (value) {
    case sampling::bi_random:
      return "bi_random";
    case sampling::systematic:
      return "systematic";
    case sampling::uniform:
      return "uniform";
    case sampling::top:
      return "top";
  }
  return "unknown";
}

char const* to_string(values value)
{
  switch (value) {
    case values::sign:
      return "sign";
    case values::full:
      return "full";
    case values::bf16:
      return "bf16";
  }
  return "unknown";
}

char const* to_string(index value)
{
  switch (value) {
    case index::u32:
      return "u32";
    case index::bitmap:
      return "bitmap";
    case index::elias_fano:
      return "elias_fano";
  }
  return "unknown";
}

char const* to_string(norm value)
{
  switch (value) {
    case norm::l1:
      return "l1";
    case norm::l2:
      return "l2";
  }
  return "unknown";
}

}  // namespace bird
