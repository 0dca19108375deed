/// network: a classifier over one flat buffer of parameters, and its gradient in another.
///
/// The flat buffers are what gets exchanged; shape() says which part is which array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bird/span.hpp"
#include "layers.hpp"
#include "options.hpp"
#include "update_codec.hpp"

namespace bird::trainer {

/// Images that a network reads, without owning them: 28 x 28 each.
struct image_batch {
  span<float const> pixels;
  span<std::uint8_t const> labels;
};

/// Holds the activations of one batch, so one object serves one thread.
class network {
 public:
  /// lenet5: 6 and 16 filters of 5 x 5, then 120, 84, 10 units (61,706 parameters).
  /// mlp:    784, 256, 128, 10 units (235,146 parameters).
  explicit network(model kind);

  [[nodiscard]] network_shape const& shape() const { return shape_; }
  [[nodiscard]] std::size_t parameters() const { return parameter_count(shape_); }

  /// He's initialization: uniform with variance 2 / fan-in; biases zero.
  void initialize(span<float> parameters, std::uint64_t seed) const;

  /// Overwrites `gradient` by the gradient of the mean loss (cross entropy), which it returns.
  double gradient(span<float const> parameters, image_batch batch, span<float> gradient);

  /// Mean loss alone.
  [[nodiscard]] double loss(span<float const> parameters, image_batch batch);

  /// How many images of the batch are classified rightly.
  [[nodiscard]] std::size_t correct(span<float const> parameters, image_batch batch);

 private:
  /// Class scores, [image][class].
  span<float const> forward(span<float const> parameters, image_batch batch);

  struct step {
    std::unique_ptr<trainer::layer> layer;
    std::size_t offset = 0;       ///< of its parameters
    std::vector<float> output;    ///< activations of the batch
    std::vector<float> gradient;  ///< of the loss by them
  };
  std::vector<step> steps_;
  network_shape shape_;
};

}  // namespace bird::trainer
