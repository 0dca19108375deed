/// Seeded input for the tests of the codec: the same numbers in every run.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace codec_test {

/// A number in [0, 1) from the generator's bits; std::uniform_real_distribution may differ between libraries.
inline double unit(std::mt19937& engine) { return (static_cast<double>(engine()) + 0.5) / 4294967296.0; }

/// Like a layer's gradient: Laplace elements, and every sixteen of them share a size between 1/8 and 8.
/// @param zeros share of elements that are exactly zero
inline std::vector<float> gradient(std::size_t count, std::uint32_t seed, double zeros = 0.0)
{
  std::mt19937 engine{seed};
  std::vector<float> elements(count);
  double size = 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 16 == 0) {
      size = std::exp2(6 * unit(engine) - 3);
    }
    double const magnitude = -std::log(unit(engine)) * size;
    bool const negative    = unit(engine) < 0.5;
    elements[i]            = static_cast<float>(negative ? -magnitude : magnitude);
    if (unit(engine) < zeros) {
      elements[i] = 0;
    }
  }
  return elements;
}

/// Integers from -255 to 255: exact in every dtype, and so are sums of fewer than 2^16 of them in any order.
inline std::vector<float> integers(std::size_t count, std::uint32_t seed)
{
  std::mt19937 engine{seed};
  std::vector<float> elements(count);
  for (float& element : elements) {
    element = static_cast<float>(static_cast<int>(engine() % 511) - 255);
  }
  return elements;
}

}  // namespace codec_test
