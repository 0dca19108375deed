/// Gradients in device memory, the same as on the host.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "gpu/device_memory.hpp"
#include "gpu/replay.hpp"
#include "input.hpp"

namespace bird::bench {

/// Copies of one gradient that calls take turns over.
using gradient_copies = std::vector<std::unique_ptr<device_buffer>>;

class device_inputs {
 public:
  /// @param most_turns of buffers that are taken in turn, and of calls in one timing
  explicit device_inputs(std::size_t most_turns) : most_turns_{most_turns} {}

  [[nodiscard]] turns turns_for(std::size_t bytes) const { return bench::turns_for(bytes, most_turns_); }

  /// The gradient as a tensor in host memory.
  const_tensor_view on_host(std::size_t count, dtype type) { return host_.tensor(count, type); }

  /// Its copies on the device, made once for all who ask.
  gradient_copies const& copies(std::size_t count, dtype type);

  /// Memory for outputs that nobody reads again, one piece for each turn; zeros at first.
  gradient_copies const& outputs(std::size_t bytes);

 private:
  std::size_t most_turns_;
  inputs host_;
  std::map<std::pair<std::size_t, dtype>, gradient_copies> gradients_;
  std::map<std::size_t, gradient_copies> outputs_;
};

}  // namespace bird::bench
