/// Reductions: operands are scaled by their own rank and added in rank order, so every rank gets the same
/// bits. Types of less than 32 bits are accumulated in fp32 and rounded once.
#pragma once

#include <vector>

#include "operation.hpp"

namespace loopback {

/// Writes `count` elements scaled for the reduction: by 1/nranks rounded to the type for an average of
/// floating point numbers, by the operator's scalar for a pre-multiplied sum, else as they are.
void scale_into(void* to, void const* from, std::size_t count, operation const& op, int nranks);

/// to[i] = parts[0][i] op parts[1][i] op ..., divided by their number for an average of integers.
void reduce_into(void* to, std::vector<void const*> const& parts, std::size_t count, operation const& op);

/// Conversions of the small types, to nearest even; as CUDA's, fp8 saturates.
float to_float(ncclDataType_t type, unsigned bits);
unsigned from_float(ncclDataType_t type, float value);

}  // namespace loopback
