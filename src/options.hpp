/// Checks the options of a compressor.
#pragma once

#include "bird/compressor.hpp"

namespace bird {

/// @throws invalid_argument naming the first option that is out of its range, and its value
void validate(compressor_options const& options);

}  // namespace bird
