#include "network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "dataset.hpp"

namespace bird::trainer {
namespace {

std::vector<std::unique_ptr<layer>> make_layers(model kind)
{
  std::vector<std::unique_ptr<layer>> layers;
  auto const add = [&](auto&&... made) { (layers.push_back(std::move(made)), ...); };
  if (kind == model::lenet5) {
    // ReLU after the pool instead of before it: the same function on a quarter of the elements.
    add(std::make_unique<convolution_layer>(1, 6, 28, 5, 2), std::make_unique<max_pool_layer>(6, 28),
        std::make_unique<relu_layer>(6 * 14 * 14), std::make_unique<convolution_layer>(6, 16, 14, 5, 0),
        std::make_unique<max_pool_layer>(16, 10), std::make_unique<relu_layer>(16 * 5 * 5),
        std::make_unique<flatten_layer>(16, 25), std::make_unique<linear_layer>(400, 120),
        std::make_unique<relu_layer>(120), std::make_unique<linear_layer>(120, 84),
        std::make_unique<relu_layer>(84), std::make_unique<linear_layer>(84, class_count));
  } else {
    add(std::make_unique<linear_layer>(784, 256), std::make_unique<relu_layer>(256),
        std::make_unique<linear_layer>(256, 128), std::make_unique<relu_layer>(128),
        std::make_unique<linear_layer>(128, class_count));
  }
  return layers;
}

/// Cross entropy of the softmax of `scores`, mean over the batch; `gradient`, unless null, gets its gradient.
double cross_entropy(span<float const> scores, span<std::uint8_t const> labels, float* gradient)
{
  double loss       = 0;
  float const share = 1.0F / static_cast<float>(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    float const* const score = scores.data() + i * class_count;
    float const top          = *std::max_element(score, score + class_count);
    float exponential[class_count];
    float sum = 0;
    for (std::size_t c = 0; c < class_count; ++c) {
      exponential[c] = std::exp(score[c] - top);
      sum += exponential[c];
    }
    loss +=
      std::log(static_cast<double>(sum)) + static_cast<double>(top) - static_cast<double>(score[labels[i]]);
    for (std::size_t c = 0; gradient != nullptr && c < class_count; ++c) {
      gradient[i * class_count + c] = share * (exponential[c] / sum - (c == labels[i] ? 1.0F : 0.0F));
    }
  }
  return loss / static_cast<double>(labels.size());
}

}  // namespace

std::size_t parameter_count(network_shape const& shape)
{
  return shape.empty() ? 0 : shape.back().offset + shape.back().count;
}

network::network(model kind)
{
  std::size_t offset = 0, convolutions = 0, linears = 0;
  for (auto& made : make_layers(kind)) {
    step next;
    next.layer  = std::move(made);
    next.offset = offset;
    if (next.layer->weights() > 0) {
      bool const convolves = dynamic_cast<convolution_layer*>(next.layer.get()) != nullptr;
      std::string const name =
        convolves ? fmt::format("conv{}", ++convolutions) : fmt::format("fc{}", ++linears);
      shape_.push_back({name + ".weight", offset, next.layer->weights(), next.layer->fan_in()});
      offset += next.layer->weights();
      shape_.push_back({name + ".bias", offset, next.layer->biases(), 0});
      offset += next.layer->biases();
    }
    steps_.push_back(std::move(next));
  }
}

void network::initialize(span<float> parameters, std::uint64_t seed) const
{
  std::mt19937_64 random{seed};
  for (parameter_segment const& segment : shape_) {
    // By hand, since the standard leaves the algorithms of its distributions open.
    float const bound =
      segment.row == 0 ? 0.0F : std::sqrt(6.0F / static_cast<float>(segment.row));  // variance bound^2 / 3
    for (float& value : parameters.subspan(segment.offset, segment.count)) {
      value = bound * (static_cast<float>(random() >> 40) * 0x1p-23F - 1.0F);
    }
  }
}

span<float const> network::forward(span<float const> parameters, image_batch batch)
{
  float const* input = batch.pixels.data();
  for (step& now : steps_) {
    now.output.resize(batch.labels.size() * now.layer->outputs());
    now.layer->forward(parameters.data() + now.offset, input, now.output.data(), batch.labels.size());
    input = now.output.data();
  }
  return steps_.back().output;
}

double network::gradient(span<float const> parameters, image_batch batch, span<float> gradient)
{
  span<float const> const scores = forward(parameters, batch);
  steps_.back().gradient.resize(scores.size());
  double const mean_loss = cross_entropy(scores, batch.labels, steps_.back().gradient.data());
  for (std::size_t i = steps_.size(); i-- > 0;) {
    step& now                = steps_[i];
    float const* const input = i == 0 ? batch.pixels.data() : steps_[i - 1].output.data();
    float* input_gradient    = nullptr;  // nobody asks for that of the images
    if (i > 0) {
      steps_[i - 1].gradient.resize(steps_[i - 1].output.size());
      input_gradient = steps_[i - 1].gradient.data();
    }
    now.layer->backward(parameters.data() + now.offset, input, now.output.data(), now.gradient.data(),
                        gradient.data() + now.offset, input_gradient, batch.labels.size());
  }
  return mean_loss;
}

double network::loss(span<float const> parameters, image_batch batch)
{
  return cross_entropy(forward(parameters, batch), batch.labels, nullptr);
}

std::size_t network::correct(span<float const> parameters, image_batch batch)
{
  span<float const> const scores = forward(parameters, batch);
  std::size_t right              = 0;
  for (std::size_t i = 0; i < batch.labels.size(); ++i) {
    float const* const score = scores.data() + i * class_count;
    auto const best          = std::max_element(score, score + class_count) - score;
    right += std::size_t{static_cast<std::size_t>(best) == batch.labels[i]};
  }
  return right;
}

}  // namespace bird::trainer
