/// The rows of the table, one file a stage. Each function adds its measurements and comparisons to the suite.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "input.hpp"
#include "suite.hpp"

namespace bird::bench {

/// What is varied. Sizes are elements: larger than all caches, a few times the last-level cache, cached.
struct axes {
  std::size_t large  = 64U << 20U;
  std::size_t medium = 16U << 20U;
  std::size_t small  = 1U << 20U;
  std::vector<int> threads{1};
};

void add_limits(suite& rows, inputs& data, axes const& over);
void add_tile_norms(suite& rows, inputs& data, axes const& over);
void add_sample(suite& rows, inputs& data, axes const& over);
void add_compress(suite& rows, inputs& data, axes const& over);
void add_selection_peers(suite& rows, inputs& data, axes const& over);
void add_quantizer_peers(suite& rows, inputs& data, axes const& over);
void add_decompress(suite& rows, inputs& data, axes const& over);
void add_apply(suite& rows, inputs& data, axes const& over);
void add_lists(suite& rows, inputs& data, axes const& over);
void add_philox(suite& rows, inputs& data, axes const& over);

/// "64M", "1K", or the plain number.
std::string size_name(std::size_t count);
/// "what, 64M, 2 threads"
std::string label(std::string const& what, std::size_t count, int threads);

/// Measurements of the read limit of this size, which add_limits() made; the fastest is the limit.
std::vector<std::string> best_read(std::size_t count, int threads);
/// The same for filling with zeros.
std::vector<std::string> best_fill(std::size_t count, int threads);
/// memcpy, in bytes of input; and in bytes read and written.
std::string memcpy_of(std::size_t count, int threads);
std::vector<std::string> best_copy_both_ways(std::size_t count, int threads);

}  // namespace bird::bench
