/// dataset: labelled images, in memory, ready for a network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace bird::trainer {

/// Images of one size, normalized, one after the other, with a class each.
struct labelled_images {
  std::size_t count = 0;
  std::size_t rows = 0, columns = 0;
  std::vector<float> pixels;         ///< count * rows * columns
  std::vector<std::uint8_t> labels;  ///< count, each below class_count
};

inline constexpr std::size_t class_count = 10;

struct dataset {
  labelled_images train;
  labelled_images test;
};

/// A data file is missing or is not what it should be. One line that names the file.
struct bad_dataset : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads Fashion-MNIST (or MNIST) from the four gzipped IDX files of its distribution.
/// @throws bad_dataset
[[nodiscard]] dataset load_dataset(std::filesystem::path const& directory);

}  // namespace bird::trainer
