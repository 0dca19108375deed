/// sample_network: a small network's shape and a seeded update for it.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "update_codec.hpp"

namespace bird::trainer {

/// Two weights with biases, of sizes that no tile or word divides.
inline network_shape sample_network()
{
  return {{"one.weight", 0, 1001, 13},
          {"one.bias", 1001, 77, 0},
          {"two.weight", 1078, 509, 7},
          {"two.bias", 1587, 3, 0}};
}
inline constexpr std::size_t sample_count = 1590;

inline std::vector<float> sample_update(std::uint32_t seed, std::size_t count = sample_count)
{
  std::mt19937 generator{seed};
  std::normal_distribution<float> normal;
  std::vector<float> update(count);
  for (float& value : update) {
    float const draw = normal(generator);
    value            = 0.01F * draw * draw * draw;  // heavy tails, as gradients have
  }
  return update;
}

}  // namespace bird::trainer
