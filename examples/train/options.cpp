#include "options.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace bird::trainer {
namespace {

template <class Value>
[[noreturn]] void refuse(char const* option, Value const& value, char const* rule)
{
  throw invalid_argument{fmt::format("{} is {}; it must be {}", option, value, rule)};
}

void check_count(char const* option, int value, int least, int most)
{
  if (value < least || value > most) {
    throw invalid_argument{fmt::format("{} is {}; it must be {} to {}", option, value, least, most)};
  }
}

void check_ratio(char const* option, double value)
{
  if (!(value > 0 && value <= 1)) {  // written so that a NaN fails
    refuse(option, value, "above 0 and at most 1");
  }
}

error_feedback feedback_of(std::string const& preset)
{
  return preset == "block" ? error_feedback::momentum : error_feedback::none;
}

}  // namespace

char const* to_string(model value) { return value == model::lenet5 ? "lenet5" : "mlp"; }

char const* to_string(synchronization value) { return value == synchronization::bsp ? "bsp" : "dsync"; }

char const* to_string(method value)
{
  switch (value) {
    case method::dense:
      return "dense";
    case method::bird:
      return "bird";
    case method::topk:
      return "topk";
    case method::topk_ef:
      return "topk-ef";
    case method::randomk:
      return "randomk";
    case method::sbc:
      return "sbc";
  }
  return "unknown";
}

char const* to_string(error_feedback value)
{
  switch (value) {
    case error_feedback::none:
      return "none";
    case error_feedback::residual:
      return "residual";
    case error_feedback::momentum:
      return "momentum";
  }
  return "unknown";
}

void apply_preset(train_options& options, std::string const& name)
{
  options.codec    = bird::preset(name);
  options.preset   = name;
  options.feedback = feedback_of(name);
}

void check(train_options const& options)
{
  check_count("--workers", options.workers, 1, 256);
  check_count("--epochs", options.epochs, 1, 10000);
  check_count("--batch", options.batch, 1, 10000);
  check_count("--local-steps", options.local_steps, 1, 100000);
  if (!(options.momentum >= 0 && options.momentum < 1)) {
    refuse("--momentum", options.momentum, "at least 0 and below 1");
  }
  if (options.learning_rate && !(*options.learning_rate > 0 && std::isfinite(*options.learning_rate))) {
    refuse("--learning-rate", *options.learning_rate, "above 0 and finite");
  }
  if (!(options.link_mbps >= 0 && std::isfinite(options.link_mbps))) {
    refuse("--link-mbps", options.link_mbps, "0 (not limited) or more, and finite");
  }
  if (!(options.skew >= 0 && std::isfinite(options.skew))) {
    refuse("--skew", options.skew, "0 (IID) or more, and finite");
  }
  check_ratio("--ratio", options.codec.ratio);
  if (options.reply_ratio) {
    check_ratio("--reply-ratio", *options.reply_ratio);
  }
  if (options.sync == synchronization::dsync) {
    check_count("--groups", options.groups, 1, options.workers);
    check_count("--period", options.period, 1, 1000000);
  }
  if (options.method == method::bird && options.feedback != error_feedback::none &&
      options.codec.sampling != sampling::top) {
    throw invalid_argument{
      fmt::format("--feedback {} goes with --sampling top, not with {}: a sampler with a residual diverges",
                  to_string(options.feedback), to_string(options.codec.sampling))};
  }
}

std::string codec_description(train_options const& options)
{
  if (options.method != method::bird) {
    return to_string(options.method);
  }
  compressor_options const& mine = options.codec;
  compressor_options const base  = bird::preset(options.preset);
  std::string changes;
  auto const compare = [&](char const* name, auto const& value, auto const& standard, auto const& shown) {
    if (value != standard) {
      changes += fmt::format("{}{}={}", changes.empty() ? "" : ",", name, shown);
    }
  };
  compare("sampling", mine.sampling, base.sampling, to_string(mine.sampling));
  compare("values", mine.values, base.values, to_string(mine.values));
  compare("index", mine.index, base.index, to_string(mine.index));
  compare("norm", mine.norm, base.norm, to_string(mine.norm));
  compare("tile", mine.tile, base.tile, mine.tile);
  compare("ratio", mine.ratio, base.ratio, mine.ratio);
  compare("gamma", mine.gamma, base.gamma, mine.gamma);
  compare("blind", mine.blind, base.blind, mine.blind);
  compare("feedback", options.feedback, feedback_of(options.preset), to_string(options.feedback));
  return changes.empty() ? options.preset : fmt::format("{}({})", options.preset, changes);
}

}  // namespace bird::trainer
