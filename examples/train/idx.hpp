/// idx: reads one gzipped IDX file (the format of MNIST and Fashion-MNIST) and trusts nothing in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace bird::trainer {

/// An array of unsigned bytes with its extents, outermost first.
struct idx_array {
  std::vector<std::uint32_t> extents;
  std::vector<std::uint8_t> bytes;  ///< as many as the product of the extents
};

/// Reads a file of unsigned bytes with exactly `dimensions` extents.
/// @throws bad_dataset naming the file and what is wrong with it: missing, not gzip, damaged, another
///         element type or number of dimensions, more or fewer bytes than its extents say
[[nodiscard]] idx_array read_idx(std::filesystem::path const& file, std::uint32_t dimensions);

}  // namespace bird::trainer
