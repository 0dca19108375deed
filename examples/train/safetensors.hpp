/// safetensors: writes named float arrays in the format of that name: length, JSON header, raw data.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bird/span.hpp"

namespace bird::trainer {

struct named_array {
  std::string name;
  std::vector<std::size_t> extents;
  span<float const> values;  ///< as many as the product of the extents
};

/// @throws std::runtime_error naming the file when it cannot be written
void write_safetensors(std::filesystem::path const& file, span<named_array const> arrays);

}  // namespace bird::trainer
