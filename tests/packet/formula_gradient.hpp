/// Gradients made by integer arithmetic alone, the same on every machine, and lists of them in each dtype.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "bird/tensor.hpp"

namespace reference {

/// One tensor that owns its elements.
struct gradient {
  std::vector<std::uint64_t> storage;  ///< aligned to 8
  bird::const_tensor_view view;
};

/// Bits of k * 2^-10 in a dtype; exact for |k| < 256, which has at most 8 significant bits.
inline std::uint64_t scaled_integer(int k, bird::dtype type)
{
  float const value = static_cast<float>(k) / 1024;
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (type == bird::dtype::float32) {
    return bits;
  }
  if (type == bird::dtype::bfloat16) {
    return bits >> 16;
  }
  if (k == 0) {
    return 0;
  }
  // |value| lies between 2^-10 and 2^-2, so binary16 holds it as a normal number.
  return (bits >> 16 & 0x8000) | ((bits >> 23 & 0xFF) - 112) << 10 | (bits >> 13 & 0x3FF);
}

/// Element i is an integer from -255 to 255 over 1024; about a fifth are zero, and every 64 elements the
/// magnitudes change by a factor, so that some tiles are much heavier than others.
inline int formula(std::uint64_t i, std::uint64_t which)
{
  std::uint64_t x = (i + 1) * 0x9E3779B97F4A7C15 + which * 0xD1B54A32D192ED03;
  x               = (x ^ x >> 31) * 0xBF58476D1CE4E5B9;
  x ^= x >> 29;
  int const magnitude = static_cast<int>(x % 256) >> (i / 64 * 5 % 7);
  return x >> 40 & 1 ? -magnitude : magnitude;
}

inline gradient make_gradient(std::uint64_t count, bird::dtype type, bird::segment_role role,
                              std::uint32_t row, std::uint64_t which)
{
  std::uint64_t const width = bird::element_bytes(type);
  gradient made{std::vector<std::uint64_t>((count * width + 7) / 8), {}};
  auto* bytes = reinterpret_cast<std::uint8_t*>(made.storage.data());
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t const bits = scaled_integer(formula(i, which), type);
    std::memcpy(bytes + i * width, &bits, width);
  }
  made.view = {made.storage.data(), count, type, row, role};
  return made;
}

inline void set_element(gradient& tensor, std::uint64_t i, std::uint64_t bits)
{
  std::uint64_t const width = bird::element_bytes(tensor.view.type);
  std::memcpy(reinterpret_cast<std::uint8_t*>(tensor.storage.data()) + i * width, &bits, width);
}

inline std::vector<bird::const_tensor_view> views(std::vector<gradient> const& tensors)
{
  std::vector<bird::const_tensor_view> result;
  for (gradient const& tensor : tensors) {
    result.push_back(tensor.view);
  }
  return result;
}

/// A small list with everything in it: tiles with a short last one, a companion of them, a dense tensor, a
/// tensor without elements, rows, and (if wanted) an Inf in the last.
inline std::vector<gradient> small_list(bird::dtype type, std::uint32_t tile, bool non_finite)
{
  using bird::segment_role;
  std::uint64_t const companions = tile == 0 ? 40 : (301 + tile - 1) / tile;
  std::vector<gradient> tensors;
  tensors.push_back(make_gradient(tile == 0 ? 320 : 301, type, segment_role::sampled, 8, 1));
  tensors.push_back(make_gradient(companions, type, segment_role::companion, 0, 2));
  tensors.push_back(make_gradient(7, type, segment_role::dense, 0, 3));
  tensors.push_back(make_gradient(0, type, segment_role::sampled, 0, 4));
  tensors.push_back(make_gradient(90, type, segment_role::sampled, 9, 5));
  if (non_finite) {
    std::uint64_t const infinity = type == bird::dtype::float32   ? 0x7F800000
                                   : type == bird::dtype::float16 ? 0x7C00
                                                                  : 0x7F80;
    set_element(tensors.back(), 30, infinity);
  }
  return tensors;
}

}  // namespace reference
