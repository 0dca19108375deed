/// layers: the steps of a network, forward and backward, for a batch at a time.
///
/// Activations of convolutions lie channel by channel, [channel][image][pixel], so that one matrix product
/// serves the whole batch; those of linear layers lie [image][unit]. A layer keeps no parameters: they are
/// slices of the network's flat buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bird::trainer {

class layer {
 public:
  virtual ~layer() = default;

  /// Elements for one image.
  [[nodiscard]] virtual std::size_t inputs() const  = 0;
  [[nodiscard]] virtual std::size_t outputs() const = 0;
  /// Elements of the weight array and of one of its rows (or filters), and of the bias; 0: has none.
  [[nodiscard]] virtual std::size_t weights() const { return 0; }
  [[nodiscard]] virtual std::size_t fan_in() const { return 0; }
  [[nodiscard]] virtual std::size_t biases() const { return 0; }

  /// `parameters`: the weights, then the biases.
  virtual void forward(float const* parameters, float const* input, float* output, std::size_t batch) = 0;

  /// For the batch of the last forward(). Overwrites both results; `input_gradient` may be null.
  virtual void backward(float const* parameters, float const* input, float const* output,
                        float const* output_gradient, float* parameter_gradient, float* input_gradient,
                        std::size_t batch) = 0;
};

/// Input times weights plus bias.
class linear_layer : public layer {
 public:
  linear_layer(std::size_t inputs, std::size_t outputs) : inputs_{inputs}, outputs_{outputs} {}
  std::size_t inputs() const override { return inputs_; }
  std::size_t outputs() const override { return outputs_; }
  std::size_t weights() const override { return inputs_ * outputs_; }
  std::size_t fan_in() const override { return inputs_; }
  std::size_t biases() const override { return outputs_; }
  void forward(float const* parameters, float const* input, float* output, std::size_t batch) override;
  void backward(float const* parameters, float const* input, float const* output,
                float const* output_gradient, float* parameter_gradient, float* input_gradient,
                std::size_t batch) override;

 private:
  std::size_t inputs_, outputs_;
  std::vector<float> ones_;  ///< sums over the batch are products with it
};

/// Square filters over square images, stride 1, zeros around: im2col, then one product.
class convolution_layer : public layer {
 public:
  convolution_layer(std::size_t channels, std::size_t filters, std::size_t side, std::size_t kernel,
                    std::size_t padding);
  std::size_t inputs() const override { return channels_ * side_ * side_; }
  std::size_t outputs() const override { return filters_ * out_side_ * out_side_; }
  std::size_t weights() const override { return filters_ * fan_in(); }
  std::size_t fan_in() const override { return channels_ * kernel_ * kernel_; }
  std::size_t biases() const override { return filters_; }
  void forward(float const* parameters, float const* input, float* output, std::size_t batch) override;
  void backward(float const* parameters, float const* input, float const* output,
                float const* output_gradient, float* parameter_gradient, float* input_gradient,
                std::size_t batch) override;

 private:
  /// Calls copy(columns_offset, image_offset, length) for every run of pixels that im2col moves.
  template <class Copy>
  void for_each_run(std::size_t batch, Copy copy) const;

  std::size_t channels_, filters_, side_, kernel_, padding_, out_side_;
  std::vector<float> columns_;           ///< [channel, ky, kx][image, y, x]
  std::vector<float> columns_gradient_;  ///< the same
  std::vector<float> ones_;
};

/// Largest of every 2 x 2 pixels.
class max_pool_layer : public layer {
 public:
  max_pool_layer(std::size_t channels, std::size_t side) : channels_{channels}, side_{side} {}
  std::size_t inputs() const override { return channels_ * side_ * side_; }
  std::size_t outputs() const override { return inputs() / 4; }
  void forward(float const* parameters, float const* input, float* output, std::size_t batch) override;
  void backward(float const* parameters, float const* input, float const* output,
                float const* output_gradient, float* parameter_gradient, float* input_gradient,
                std::size_t batch) override;

 private:
  std::size_t channels_, side_;
  std::vector<std::uint8_t> winner_;  ///< 0 to 3: which of the four pixels was passed on
};

/// max(x, 0).
class relu_layer : public layer {
 public:
  explicit relu_layer(std::size_t size) : size_{size} {}
  std::size_t inputs() const override { return size_; }
  std::size_t outputs() const override { return size_; }
  void forward(float const* parameters, float const* input, float* output, std::size_t batch) override;
  void backward(float const* parameters, float const* input, float const* output,
                float const* output_gradient, float* parameter_gradient, float* input_gradient,
                std::size_t batch) override;

 private:
  std::size_t size_;
};

/// [channel][image][pixel] to [image][channel, pixel].
class flatten_layer : public layer {
 public:
  flatten_layer(std::size_t channels, std::size_t pixels) : channels_{channels}, pixels_{pixels} {}
  std::size_t inputs() const override { return channels_ * pixels_; }
  std::size_t outputs() const override { return channels_ * pixels_; }
  void forward(float const* parameters, float const* input, float* output, std::size_t batch) override;
  void backward(float const* parameters, float const* input, float const* output,
                float const* output_gradient, float* parameter_gradient, float* input_gradient,
                std::size_t batch) override;

 private:
  std::size_t channels_, pixels_;
};

}  // namespace bird::trainer
