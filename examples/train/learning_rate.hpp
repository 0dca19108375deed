/// learning_rate: how large a step may be, when gradients carry the noise of a sample.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "options.hpp"

namespace bird::trainer {

struct learning_rate_choice {
  double rate = 0;
  std::string reason;  ///< one line for the user
};

/// The rate of the options where they name one; else the one that was measured to be best for the method
/// or preset; else, for a codec that nobody has measured, the library's rule with the noise of this very
/// codec on this very network.
/// @param measure_omega  relative error of a worker's message at the start of training; called at most once
[[nodiscard]] learning_rate_choice choose_learning_rate(train_options const& options,
                                                        std::function<double()> const& measure_omega);

/// Rate of gradient step `step` of `steps`: a linear warm-up, then half a cosine down to zero.
[[nodiscard]] double scheduled_rate(double top, std::uint64_t step, std::uint64_t steps);

/// What to tell a user whose run diverged.
[[nodiscard]] std::string divergence_advice(double rate, double omega, int workers);

}  // namespace bird::trainer
