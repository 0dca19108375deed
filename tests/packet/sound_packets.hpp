/// Sound packets of every sampling, values, index and dtype, written by hand.
#pragma once

#include <string>
#include <vector>

#include "packet_builder.hpp"

namespace reference {

/// A list with all that a packet may hold: a short last tile, a companion, a dense segment, an empty segment,
/// an Inf somewhere, and (systematic) a tile with two slots.
///
///   segment 0  sampled    19 elements, tiles 0 to 4, the last of 3 elements
///   segment 1  companion   5 elements
///   segment 2  dense       3 elements
///   segment 3  sampled     none
///   segment 4  sampled     8 elements, tiles 5 and 6
inline packet_recipe full_recipe(unsigned sampling, unsigned values, unsigned index, unsigned dtype,
                                 unsigned norm)
{
  packet_recipe recipe;
  recipe.dtype     = dtype;
  recipe.sampling  = sampling;
  recipe.values    = values;
  recipe.index     = index;
  recipe.norm      = norm;
  recipe.tile      = 4;
  recipe.seed      = 0x0123456789ABCDEF;
  recipe.step      = 77;
  recipe.tensor_id = 5;

  std::vector<std::uint64_t> const tiles = sampling == sampling_systematic
                                             ? std::vector<std::uint64_t>{1, 1, 4}
                                             : std::vector<std::uint64_t>{1, 3, 4};
  // 16-bit patterns are small normal numbers in all three types; sign bits vary. 32-bit ones are floats.
  bool const sign   = values == values_sign;
  auto const stored = [&](std::uint64_t i, bool dense) -> std::uint64_t {
    if (sign && !dense) {
      return i * 7 / 3 % 2;
    }
    bool const two = dtype != dtype_binary32 || (values == values_bf16 && !dense);
    return two ? 0x3C00 + i * 0x8123 % 0x10000 % 0x300 + (i % 2) * 0x8000
               : bits_of(static_cast<float>(i) - 4.5F);
  };
  auto const run = [&](std::uint64_t count, bool dense) {
    std::vector<std::uint64_t> elements;
    for (std::uint64_t i = 0; i < count; ++i) {
      elements.push_back(stored(i, dense));
    }
    return elements;
  };
  float const scale = sign ? 6.75F : 0.5F;
  segment_recipe weights{role_sampled, 19, 4, tiles, run(12, false), scale, true};
  weights.stored.back() = 0;  // beyond the short tile
  recipe.segments       = {weights,
                           {role_companion, 5, 0, {}, run(3, false), scale, false},
                           {role_dense, 3, 0, {}, run(3, true), 1, false},
                           {role_sampled, 0, 0, {}, {}, scale, false},
                           {role_sampled, 8, 4, {0}, run(4, false), scale, false}};
  return recipe;
}

struct named_packet {
  std::string name;
  packet_recipe recipe;
};

inline std::vector<named_packet> sound_packets()
{
  std::vector<named_packet> packets;
  for (unsigned sampling = 1; sampling <= 4; ++sampling) {
    for (unsigned values = 1; values <= 3; ++values) {
      for (unsigned index = 1; index <= 3; ++index) {
        unsigned const dtype   = (sampling + values + index) % 3 + 1;
        unsigned const norm    = (sampling + values) % 2 + 1;
        std::string const name = "sampling" + std::to_string(sampling) + "_values" + std::to_string(values) +
                                 "_index" + std::to_string(index) + "_dtype" + std::to_string(dtype);
        packets.push_back({name, full_recipe(sampling, values, index, dtype, norm)});
      }
    }
  }
  return packets;
}

}  // namespace reference
