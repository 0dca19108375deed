/// train_flags: options of a training run on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "options.hpp"

namespace bird::cli {

/// Registers the options and turns what was given into train_options.
class train_flags {
 public:
  /// Options that say what is trained, on what, and how it is spread over workers.
  void add_run_options(CLI::App& app);
  /// Options that say how updates are coded.
  void add_codec_options(CLI::App& app);

  /// What was asked for, checked.
  /// @throws invalid_argument naming the option and its value
  [[nodiscard]] trainer::train_options options() const;

 private:
  trainer::train_options given_;
  std::string model_ = "lenet5", sync_ = "bsp", method_ = "bird", preset_ = "tile";
  // Fields of the preset that are replaced where they are given.
  std::optional<std::string> sampling_, values_, index_, norm_, feedback_;
  std::optional<std::uint32_t> tile_;
  std::optional<double> ratio_, gamma_, reply_ratio_, learning_rate_;
  bool blind_ = false;
};

}  // namespace bird::cli
