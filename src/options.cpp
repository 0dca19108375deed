/// The presets, what options may be, and the learning rate that sampling noise asks for.
#include "options.hpp"

#include <cmath>
#include <sstream>
#include <string>

namespace bird {
namespace {

struct named_options {
  std::string_view name;
  compressor_options options;
};

constexpr double largest_gamma = 16;  // beyond it (a / max a)^gamma underflows for most tiles

// sampling, values, index, norm, tile, ratio, gamma
constexpr named_options presets[] = {
  {"tile", {sampling::systematic, values::bf16, index::elias_fano, norm::l1, 8, 0.1, 1.0}},
  {"sign1", {sampling::systematic, values::sign, index::elias_fano, norm::l1, 1, 0.1, 1.0}},
  // BIRD as published: rows or filters, one magnitude a layer, plain indices.
  {"paper", {sampling::bi_random, values::sign, index::u32, norm::l1, 0, 0.1, 1.0}},
  // For use with a residual and a velocity.
  {"block", {sampling::top, values::sign, index::elias_fano, norm::l1, 8, 0.01, 1.0}},
};

template <class Value>
[[noreturn]] void refuse(char const* name, Value value, char const* rule)
{
  std::ostringstream message;
  message << name << " is " << value << "; it must be " << rule;
  throw invalid_argument{message.str()};
}

void check_code(char const* name, std::uint8_t code, std::uint8_t largest, char const* rule)
{
  if (code < 1 || code > largest) {
    refuse(name, static_cast<int>(code), rule);
  }
}

}  // namespace

compressor_options preset(std::string_view name)
{
  std::string known;
  for (named_options const& entry : presets) {
    if (entry.name == name) {
      return entry.options;
    }
    known += known.empty() ? "" : ", ";
    known += entry.name;
  }
  throw invalid_argument{"preset is \"" + std::string{name} + "\"; it must be one of " + known};
}

void validate(compressor_options const& options)
{
  check_code("sampling", static_cast<std::uint8_t>(options.sampling), 4,
             "bi_random, systematic, uniform or top (1 to 4)");
  check_code("values", static_cast<std::uint8_t>(options.values), 3, "sign, full or bf16 (1 to 3)");
  check_code("index", static_cast<std::uint8_t>(options.index), 3, "u32, bitmap or elias_fano (1 to 3)");
  check_code("norm", static_cast<std::uint8_t>(options.norm), 2, "l1 or l2 (1 or 2)");
  // Written so that a NaN fails.
  if (!(options.ratio > 0 && options.ratio <= 1)) {
    refuse("ratio", options.ratio, "above 0 and at most 1");
  }
  if (!(options.gamma > 0 && options.gamma <= largest_gamma)) {
    refuse("gamma", options.gamma, "above 0 and at most 16");
  }
  if (options.gamma != 1 && options.sampling != sampling::bi_random) {
    refuse("gamma", options.gamma, "1 unless sampling is bi_random");
  }
  // The values are divided by the probability (a / max a)^gamma; above 1 its variance has no bound.
  if (options.gamma > 1 && options.values != values::sign) {
    refuse("gamma", options.gamma, "at most 1 unless values is sign");
  }
  if (options.blind && options.sampling != sampling::uniform) {
    refuse("blind", "true", "false unless sampling is uniform");
  }
}

double noise_adjusted_learning_rate(double lr_dense, double omega, int workers)
{
  if (!std::isfinite(lr_dense) || lr_dense < 0) {
    refuse("lr_dense", lr_dense, "finite and not negative");
  }
  if (!std::isfinite(omega) || omega < 0) {
    refuse("omega", omega, "finite and not negative");
  }
  if (workers < 1) {
    refuse("workers", workers, "at least 1");
  }
  return lr_dense / (1 + omega / workers);
}

}  // namespace bird
