/// The one switch from a runtime dtype to a C++ type.
#pragma once

#include <string>

#include "bird/error.hpp"
#include "real.cuh"

namespace bird {

template <class T>
struct type_tag {
  using type = T;
};

/// Calls f with the type_tag of the storage type behind `type`.
template <class F>
decltype(auto) dispatch(dtype type, F&& f)
{
  switch (type) {
    case dtype::float32:
      return f(type_tag<float>{});
    case dtype::float16:
      return f(type_tag<rule::half16>{});
    case dtype::bfloat16:
      return f(type_tag<rule::bfloat16>{});
  }
  throw invalid_argument{"dtype: " + std::to_string(static_cast<int>(type)) + " is unknown"};
}

}  // namespace bird
