/// The measurement of compress() that rows of several files compare with.
#pragma once

#include <cstddef>
#include <string>

#include "bird/compressor.hpp"
#include "input.hpp"
#include "suite.hpp"

namespace bird::bench {

/// Adds it to the suite. @returns its name
std::string measure_compress(suite& rows, inputs& data, std::size_t count, dtype type,
                             compressor_options options, int threads);

}  // namespace bird::bench
