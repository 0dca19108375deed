/// A DLTensor, checked and taken apart.
#pragma once

#include "bird/stream.hpp"
#include "bird/tensor.hpp"

namespace bird::dlpack {

struct parts {
  void* data;  ///< of the first element
  dtype type;
  span<std::int64_t const> shape;
  span<std::int64_t const> strides;  ///< empty: dense
};

/// @throws invalid_argument naming what this library does not take
[[nodiscard]] parts take_apart(void const* tensor, stream_ref stream);

}  // namespace bird::dlpack
