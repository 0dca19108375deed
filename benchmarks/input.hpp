/// What the benchmarks read and write: gradients of any size and type, made once and shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bird/span.hpp"
#include "bird/tensor.hpp"
#include "peers/memory.hpp"

namespace bird::bench {

/// The file that was given as gradients is not usable. The message names it.
struct bad_gradients : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Gradients are Gaussian with a lognormal scale (sigma 1) for every 256 elements and the same in every run;
/// or the tensors of a safetensors file, repeated to the length that is asked for.
class inputs {
 public:
  inputs() = default;
  /// @throws bad_gradients unless it holds fp32 tensors and nothing else
  explicit inputs(std::string const& safetensors_file);

  /// The gradient of `count` elements; all benchmarks of that size read the same memory.
  span<float const> gradient(std::size_t count);
  /// The same numbers as a tensor of any type.
  const_tensor_view tensor(std::size_t count, dtype type);

  /// Memory for outputs that nobody reads again, shared by all who use this name and size; touched already.
  span<std::byte> output(std::string const& name, std::size_t bytes);

 private:
  std::vector<float> file_;
  std::map<std::size_t, peers::array<float>> gradients_;
  std::map<std::pair<std::size_t, dtype>, peers::array<std::uint16_t>> sixteen_bit_;
  std::map<std::pair<std::string, std::size_t>, peers::array<std::byte>> outputs_;
};

}  // namespace bird::bench
