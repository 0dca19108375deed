/// Tensors as the library sees them: a pointer, a count, an element type and a role.
///
/// A *list of tensors* is what one call compresses; each tensor of it is a *segment* with norms, a
/// maximum and a magnitude of its own. A tensor is contiguous: for anything else contiguous() refuses
/// by name, since a silent copy would lose what decompress() writes into it.
#pragma once

#include <cstdint>

#include "bird/api.h"
#include "bird/span.hpp"

namespace bird BIRD_API {

/// Element type of a tensor; also the code that stands in a packet's header.
enum class dtype : std::uint8_t { float32 = 1, float16 = 2, bfloat16 = 3 };

/// Bytes of one element. @throws invalid_argument for a value outside the enum
[[nodiscard]] BIRD_API std::uint32_t element_bytes(dtype type);
[[nodiscard]] BIRD_API char const* to_string(dtype type);

/// How a segment travels.
enum class segment_role : std::uint8_t {
  sampled   = 1,  ///< cut into tiles, some of which are sent
  dense     = 2,  ///< every element is sent as it is
  companion = 3,  ///< element j rides on tile j of the sampled segment before it (a bias, a norm's scale):
                  ///< no index and no draw of its own; its count equals that segment's tile count
};
[[nodiscard]] BIRD_API char const* to_string(segment_role role);

/// One tensor that is read. For size queries only `count`, `type`, `row` and `role` matter.
struct const_tensor_view {
  void const* data    = nullptr;         ///< aligned to its element type; may be null if count is 0
  std::uint64_t count = 0;               ///< elements, not bytes
  dtype type          = dtype::float32;  ///< one type for all tensors of a list
  std::uint32_t row   = 0;               ///< elements per row or filter; 0: the whole tensor is one row
  segment_role role   = segment_role::sampled;
};

/// One tensor that is written.
struct tensor_view {
  void* data          = nullptr;
  std::uint64_t count = 0;
  dtype type          = dtype::float32;
};

/// Makes a view of a tensor given by shape and strides (in elements, as in PyTorch and DLPack).
/// `strides` may be empty for a contiguous tensor. The row of the view is the product of all
/// extents after the first: a row of a linear layer, a filter of a convolution.
/// @throws invalid_argument naming the dimension and its stride when the elements do not lie densely
///         in row-major order
[[nodiscard]] BIRD_API const_tensor_view contiguous(void const* data, dtype type,
                                                    span<std::int64_t const> shape,
                                                    span<std::int64_t const> strides);

}  // namespace bird
