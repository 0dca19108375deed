/// pattern_data: a small data set that a network learns in a few steps: ten fixed patterns and noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "dataset.hpp"

namespace bird::trainer {

inline labelled_images noisy_patterns(std::size_t count, std::uint64_t seed)
{
  constexpr std::size_t side = 28;
  std::mt19937 patterns{7};  // the same for every seed
  std::normal_distribution<float> normal;
  std::vector<float> pattern(class_count * side * side);
  for (float& pixel : pattern) {
    pixel = normal(patterns);
  }
  std::mt19937_64 random{seed};
  labelled_images images;
  images.count = count;
  images.rows = images.columns = side;
  for (std::size_t i = 0; i < count; ++i) {
    auto const label = static_cast<std::uint8_t>(random() % class_count);
    images.labels.push_back(label);
    for (std::size_t p = 0; p < side * side; ++p) {
      images.pixels.push_back(pattern[label * side * side + p] + normal(random));
    }
  }
  return images;
}

inline dataset pattern_data(std::size_t train_count, std::size_t test_count)
{
  return {noisy_patterns(train_count, 1), noisy_patterns(test_count, 2)};
}

}  // namespace bird::trainer
