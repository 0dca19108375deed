#include "layers.hpp"

#include <cblas.h>

#include <algorithm>

namespace bird::trainer {
namespace {

enum class transposed { no, yes };

/// c = op(a) * op(b) + beta * c; op(a) is m x k, op(b) k x n, all row-major and dense.
void multiply(transposed a_is, transposed b_is, std::size_t m, std::size_t n, std::size_t k, float const* a,
              float const* b, float beta, float* c)
{
  auto const size = [](std::size_t value) { return static_cast<blasint>(value); };
  cblas_sgemm(CblasRowMajor, a_is == transposed::yes ? CblasTrans : CblasNoTrans,
              b_is == transposed::yes ? CblasTrans : CblasNoTrans, size(m), size(n), size(k), 1.0F, a,
              size(a_is == transposed::yes ? m : k), b, size(b_is == transposed::yes ? k : n), beta, c,
              size(n));
}

void require_ones(std::vector<float>& ones, std::size_t count)
{
  if (ones.size() < count) {
    ones.assign(count, 1.0F);
  }
}

}  // namespace

void linear_layer::forward(float const* parameters, float const* input, float* output, std::size_t batch)
{
  float const* const bias = parameters + weights();
  for (std::size_t i = 0; i < batch; ++i) {
    std::copy_n(bias, outputs_, output + i * outputs_);
  }
  multiply(transposed::no, transposed::yes, batch, outputs_, inputs_, input, parameters, 1.0F, output);
}

void linear_layer::backward(float const* parameters, float const* input, float const* /*output*/,
                            float const* output_gradient, float* parameter_gradient, float* input_gradient,
                            std::size_t batch)
{
  require_ones(ones_, batch);
  multiply(transposed::yes, transposed::no, outputs_, inputs_, batch, output_gradient, input, 0.0F,
           parameter_gradient);
  multiply(transposed::no, transposed::no, 1, outputs_, batch, ones_.data(), output_gradient, 0.0F,
           parameter_gradient + weights());
  if (input_gradient != nullptr) {
    multiply(transposed::no, transposed::no, batch, inputs_, outputs_, output_gradient, parameters, 0.0F,
             input_gradient);
  }
}

convolution_layer::convolution_layer(std::size_t channels, std::size_t filters, std::size_t side,
                                     std::size_t kernel, std::size_t padding)
  : channels_{channels},
    filters_{filters},
    side_{side},
    kernel_{kernel},
    padding_{padding},
    out_side_{side + 2 * padding - kernel + 1}
{
}

template <class Copy>
void convolution_layer::for_each_run(std::size_t batch, Copy copy) const
{
  std::size_t const out_pixels = out_side_ * out_side_;
  for (std::size_t row = 0; row < fan_in(); ++row) {
    std::size_t const channel = row / (kernel_ * kernel_);
    std::size_t const ky      = row / kernel_ % kernel_;
    std::size_t const kx      = row % kernel_;
    // Output pixels whose source lies inside the image; the others stay zero (the padding).
    std::size_t const first_x = padding_ > kx ? padding_ - kx : 0;
    std::size_t const last_x  = std::min(out_side_, side_ + padding_ - kx);
    std::size_t const first_y = padding_ > ky ? padding_ - ky : 0;
    std::size_t const last_y  = std::min(out_side_, side_ + padding_ - ky);
    for (std::size_t image = 0; image < batch; ++image) {
      for (std::size_t y = first_y; y < last_y; ++y) {
        std::size_t const source =
          ((channel * batch + image) * side_ + y + ky - padding_) * side_ + first_x + kx - padding_;
        std::size_t const target = (row * batch + image) * out_pixels + y * out_side_ + first_x;
        copy(target, source, last_x - first_x);
      }
    }
  }
}

void convolution_layer::forward(float const* parameters, float const* input, float* output, std::size_t batch)
{
  std::size_t const out_pixels = batch * out_side_ * out_side_;
  if (columns_.size() != fan_in() * out_pixels) {
    columns_.assign(fan_in() * out_pixels, 0.0F);  // the padding keeps these zeros from batch to batch
  }
  for_each_run(batch, [&](std::size_t target, std::size_t source, std::size_t length) {
    std::copy_n(input + source, length, columns_.data() + target);
  });
  float const* const bias = parameters + weights();
  for (std::size_t filter = 0; filter < filters_; ++filter) {
    std::fill_n(output + filter * out_pixels, out_pixels, bias[filter]);
  }
  multiply(transposed::no, transposed::no, filters_, out_pixels, fan_in(), parameters, columns_.data(), 1.0F,
           output);
}

void convolution_layer::backward(float const* parameters, float const* /*input*/, float const* /*output*/,
                                 float const* output_gradient, float* parameter_gradient,
                                 float* input_gradient, std::size_t batch)
{
  std::size_t const out_pixels = batch * out_side_ * out_side_;
  require_ones(ones_, out_pixels);
  multiply(transposed::no, transposed::yes, filters_, fan_in(), out_pixels, output_gradient, columns_.data(),
           0.0F, parameter_gradient);
  multiply(transposed::no, transposed::no, filters_, 1, out_pixels, output_gradient, ones_.data(), 0.0F,
           parameter_gradient + weights());
  if (input_gradient == nullptr) {
    return;
  }
  columns_gradient_.resize(fan_in() * out_pixels);
  multiply(transposed::yes, transposed::no, fan_in(), out_pixels, filters_, parameters, output_gradient, 0.0F,
           columns_gradient_.data());
  std::fill_n(input_gradient, batch * inputs(), 0.0F);
  for_each_run(batch, [&](std::size_t source, std::size_t target, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i) {
      input_gradient[target + i] += columns_gradient_[source + i];
    }
  });
}

void max_pool_layer::forward(float const* /*parameters*/, float const* input, float* output,
                             std::size_t batch)
{
  std::size_t const half   = side_ / 2;
  std::size_t const planes = channels_ * batch;
  winner_.resize(planes * half * half);
  for (std::size_t line = 0; line < planes * half; ++line) {
    float const* const upper = input + line * 2 * side_;
    float const* const lower = upper + side_;
    for (std::size_t x = 0; x < half; ++x) {
      float best          = upper[2 * x];
      std::uint8_t winner = 0;
      auto const consider = [&](float value, std::uint8_t which) {
        winner = value > best ? which : winner;
        best   = value > best ? value : best;
      };
      consider(upper[2 * x + 1], 1);
      consider(lower[2 * x], 2);
      consider(lower[2 * x + 1], 3);
      output[line * half + x]  = best;
      winner_[line * half + x] = winner;
    }
  }
}

void max_pool_layer::backward(float const* /*parameters*/, float const* /*input*/, float const* /*output*/,
                              float const* output_gradient, float* /*parameter_gradient*/,
                              float* input_gradient, std::size_t batch)
{
  std::size_t const half   = side_ / 2;
  std::size_t const planes = channels_ * batch;
  for (std::size_t line = 0; line < planes * half; ++line) {
    float* const upper = input_gradient + line * 2 * side_;
    float* const lower = upper + side_;
    for (std::size_t x = 0; x < half; ++x) {
      float const gradient      = output_gradient[line * half + x];
      std::uint8_t const winner = winner_[line * half + x];
      upper[2 * x]              = winner == 0 ? gradient : 0.0F;
      upper[2 * x + 1]          = winner == 1 ? gradient : 0.0F;
      lower[2 * x]              = winner == 2 ? gradient : 0.0F;
      lower[2 * x + 1]          = winner == 3 ? gradient : 0.0F;
    }
  }
}

void relu_layer::forward(float const* /*parameters*/, float const* input, float* output, std::size_t batch)
{
  for (std::size_t i = 0; i < batch * size_; ++i) {
    output[i] = input[i] > 0.0F ? input[i] : 0.0F;
  }
}

void relu_layer::backward(float const* /*parameters*/, float const* /*input*/, float const* output,
                          float const* output_gradient, float* /*parameter_gradient*/, float* input_gradient,
                          std::size_t batch)
{
  for (std::size_t i = 0; i < batch * size_; ++i) {
    input_gradient[i] = output[i] > 0.0F ? output_gradient[i] : 0.0F;
  }
}

void flatten_layer::forward(float const* /*parameters*/, float const* input, float* output, std::size_t batch)
{
  for (std::size_t channel = 0; channel < channels_; ++channel) {
    for (std::size_t image = 0; image < batch; ++image) {
      std::copy_n(input + (channel * batch + image) * pixels_, pixels_,
                  output + image * outputs() + channel * pixels_);
    }
  }
}

void flatten_layer::backward(float const* /*parameters*/, float const* /*input*/, float const* /*output*/,
                             float const* output_gradient, float* /*parameter_gradient*/,
                             float* input_gradient, std::size_t batch)
{
  for (std::size_t channel = 0; channel < channels_; ++channel) {
    for (std::size_t image = 0; image < batch; ++image) {
      std::copy_n(output_gradient + image * outputs() + channel * pixels_, pixels_,
                  input_gradient + (channel * batch + image) * pixels_);
    }
  }
}

}  // namespace bird::trainer
