#include "learning_rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bird/compressor.hpp"

namespace bird::trainer {
namespace {

constexpr double dense_rate           = 0.1;
constexpr std::uint64_t warm_up_steps = 100;

/// Best of a grid of factors 2 to 3 on Fashion-MNIST with four workers, batches of 32, momentum 0.9 and both
/// directions coded; the peers at 1 % of the elements. `local`: plain SGD, 16 local steps a round.
struct rates {
  double every_step;
  double local;
};

rates measured_rates(train_options const& options)
{
  switch (options.method) {
    case method::dense:
      return {dense_rate, 0.1};
    case method::topk:
    case method::topk_ef:
      return {0.03, 0.1};
    case method::sbc:
      return {0.01, 0.05};
    case method::randomk:  // its noise is 1 / ratio - 1 whatever the data
      return {0.1 * options.codec.ratio, 0.5 * options.codec.ratio};
    case method::bird:
      break;
  }
  if (options.preset == "sign1") {
    return {0.05, 0.1};
  }
  if (options.preset == "paper") {
    return {0.01, 0.05};
  }
  if (options.preset == "block") {
    return {0.03, 0.1};
  }
  return {0.03, 0.1};  // tile
}

/// True when the codec's noise is that of its preset: how tiles are named does not matter to it, nor,
/// at eight bits of precision, whether values are rounded to bfloat16.
bool as_noisy_as_its_preset(train_options const& options)
{
  compressor_options const base = preset(options.preset);
  train_options same            = options;
  same.codec.index              = base.index;
  if (same.codec.values != values::sign && base.values != values::sign) {
    same.codec.values = base.values;
  }
  return codec_description(same) == options.preset;
}

}  // namespace

learning_rate_choice choose_learning_rate(train_options const& options,
                                          std::function<double()> const& measure_omega)
{
  if (options.learning_rate) {
    return {*options.learning_rate, fmt::format("learning rate {:.4g} as asked for", *options.learning_rate)};
  }
  std::string const description = codec_description(options);
  if (options.method != method::bird || as_noisy_as_its_preset(options)) {
    double const rate =
      options.local_steps > 1 ? measured_rates(options).local : measured_rates(options).every_step;
    return {rate, fmt::format("learning rate {:.4g}, measured to be good for {}", rate, description)};
  }
  // Half of the rule, as the library advises.
  double const omega = measure_omega();
  double const rate  = 0.5 * noise_adjusted_learning_rate(dense_rate, omega, options.workers);
  return {rate,
          fmt::format("learning rate {:.4g} = {} / (1 + omega / workers) / 2, with omega {:.3g} of {} here",
                      rate, dense_rate, omega, description)};
}

double scheduled_rate(double top, std::uint64_t step, std::uint64_t steps)
{
  std::uint64_t const warm_up = std::min(warm_up_steps, steps / 10);
  if (step < warm_up) {
    return top * static_cast<double>(step + 1) / static_cast<double>(warm_up + 1);
  }
  constexpr double pi   = 3.14159265358979323846;
  double const progress = static_cast<double>(step - warm_up) / static_cast<double>(steps - warm_up);
  return 0.5 * top * (1.0 + std::cos(pi * progress));
}

std::string divergence_advice(double rate, double omega, int workers)
{
  if (!(omega > 0)) {
    return fmt::format("diverged at learning rate {:.4g}; try --learning-rate {:.2g}", rate, rate / 3);
  }
  return fmt::format(
    "diverged at learning rate {:.4g}: the messages carry noise of omega {:.3g} (of the gradient's square); "
    "try "
    "--learning-rate {:.2g}, or a higher --ratio",
    rate, omega, std::min(rate / 3, 0.5 * noise_adjusted_learning_rate(dense_rate, omega, workers)));
}

}  // namespace bird::trainer
