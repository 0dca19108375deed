#pragma once

#include "host/dispatch.hpp"
#include "list_plan.hpp"
#include "values.cuh"

namespace bird::host {

/// What a stored value is multiplied by: 1 unless values of this sample could leave the stored type's range.
inline float stored_scale(list_plan const& plan, values what, double largest_value)
{
  if (what == values::bf16) {
    return rule::value_scale<rule::bfloat16>(largest_value);
  }
  return dispatch(plan.wire,
                  [&](auto tag) { return rule::value_scale<typename decltype(tag)::type>(largest_value); });
}

}  // namespace bird::host
