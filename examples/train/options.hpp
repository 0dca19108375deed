/// What a training run may be asked for. The defaults are the main job: LeNet-5, preset "tile", four workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "bird/compressor.hpp"

namespace bird::trainer {

enum class model { lenet5, mlp };
enum class synchronization {
  bsp,    ///< one server, every worker waits for it every round
  dsync,  ///< groups with a server each; the servers merge every `period` rounds
};
/// How updates are coded. All but dense and bird are the peers that bird is compared with.
enum class method { dense, bird, topk, topk_ef, randomk, sbc };
/// What a sender of method bird remembers of what it did not send (compressor.hpp, feedback).
enum class error_feedback {
  none,
  residual,  ///< 4 bytes a parameter
  momentum,  ///< residual and velocity, 8 bytes a parameter: momentum is applied before coding
};

[[nodiscard]] char const* to_string(model value);
[[nodiscard]] char const* to_string(synchronization value);
[[nodiscard]] char const* to_string(method value);
[[nodiscard]] char const* to_string(error_feedback value);

struct train_options {
  trainer::model model     = model::lenet5;
  trainer::method method   = method::bird;
  std::string preset       = "tile";  ///< name of the preset that `codec` and `feedback` started from
  compressor_options codec = {};      ///< method bird; `codec.ratio` is also the peers' ratio
  error_feedback feedback  = error_feedback::none;  ///< method bird
  std::optional<double> reply_ratio;  ///< ratio of the server's reply; absent: the method's default
  bool companion_bias = false;        ///< codecs of rows: biases ride on their rows instead of dense
  bool dense_reply    = false;        ///< the server replies uncompressed

  int workers = 4;
  int epochs  = 5;
  int batch   = 32;                     ///< images per worker and step
  std::optional<double> learning_rate;  ///< absent: chosen for the method and codec
  double momentum    = 0.9;
  std::uint64_t seed = 1;

  synchronization sync = synchronization::bsp;
  int groups           = 2;  ///< dsync only
  int period           = 3;  ///< dsync only: rounds between two merges (T)
  int local_steps      = 1;  ///< plain SGD steps of a worker in each round (H)

  double link_mbps        = 0;  ///< speed of each worker's link, each way; 0: not limited
  double skew             = 0;  ///< Dirichlet alpha of the label skew; 0: IID shards
  std::size_t train_limit = 0;  ///< use only so many training images; 0: all
  std::size_t test_limit  = 0;  ///< the same for test images

  std::filesystem::path data   = "/usr/share/datasets/fashion-mnist";
  std::filesystem::path output = "report";
  std::filesystem::path dump_gradients;  ///< empty: none
};

/// Sets preset, codec and feedback to those of a preset of the library.
/// @throws invalid_argument naming an unknown preset
void apply_preset(train_options& options, std::string const& name);

/// Checks every field on its own and all combinations that the trainer itself rules out.
/// @throws invalid_argument with one line that names the option and its value
void check(train_options const& options);

/// "dense", "topk-ef", or for method bird the preset, with the fields that differ from it:
/// "tile", "tile(ratio=0.05,index=u32)".
[[nodiscard]] std::string codec_description(train_options const& options);

}  // namespace bird::trainer
