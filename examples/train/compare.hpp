/// compare: trains the same network with many methods, each at its own best learning rate.
///
/// For each contender: the learning rate is climbed to with one seed, judged by images that were held out of
/// the training set; then other seeds are trained at that rate and judged by the test images. All
/// contenders get the same seeds, the same images and the same number of tries.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dataset.hpp"
#include "options.hpp"

namespace bird::trainer {

/// One way of coding updates that takes part.
struct contender {
  std::string name;       ///< as it was asked for: "tile", "topk-ef@0.01"
  train_options options;  ///< all but learning rate and seed
  double first_rate = 0;  ///< where the search for the learning rate begins
};

/// "dense", a preset of the library, a peer ("topk", "topk-ef", "randomk", "sbc"), or "dgc" (exact top
/// elements with residual and velocity, from the library's own parts), each with "@ratio" where another than
/// the usual ratio is wanted: the preset's own, 0.01 for peers.
/// @param base  everything else: model, workers, epochs, ...
/// @throws invalid_argument naming a method or ratio that does not exist
[[nodiscard]] contender make_contender(std::string const& name, train_options const& base);

struct comparison_plan {
  std::vector<contender> contenders;
  std::uint64_t tuning_seed = 1;
  std::vector<std::uint64_t> seeds;  ///< reported ones; none of them is the tuning seed
  int tries            = 4;          ///< learning rates tried, at the most
  std::size_t held_out = 5000;       ///< training images that only the tuning looks at
};

/// What one contender came to. Numbers of bytes and seconds are means over the reported runs.
struct contender_result {
  std::string name, method, codec;
  bool sends_floats    = false;  ///< the dense reference
  double learning_rate = 0;
  std::vector<std::pair<double, double>> tried;  ///< learning rate, held-out accuracy
  std::vector<double> accuracies;                ///< test accuracy of each reported seed
  int diverged    = 0;                           ///< reported runs that did
  int workers     = 0;
  double messages = 0;                  ///< each way, of all workers
  double bytes_up = 0, bytes_down = 0;  ///< of a run, all workers together, as coded
  double dense_bytes_up = 0, dense_bytes_down = 0;
  double seconds          = 0;                     ///< training time, link not limited
  double gradient_seconds = 0, codec_seconds = 0;  ///< of a worker
  double state_bytes = 0, server_state_bytes = 0;  ///< memory that the method needs
  double omega = 0, reply_omega = 0;

  [[nodiscard]] double accuracy() const;  ///< mean; 0 without a run
  [[nodiscard]] double lowest() const;
  [[nodiscard]] double highest() const;
  [[nodiscard]] bool stateless() const { return state_bytes == 0 && server_state_bytes == 0; }
};

struct comparison {
  std::string model;
  int workers = 0, epochs = 0, local_steps = 0;
  bool dense_reply          = false;  ///< the server replied with floats: only bytes up tell methods apart
  std::uint64_t parameters  = 0;
  std::uint64_t tuning_seed = 0;
  std::vector<std::uint64_t> seeds;
  std::vector<contender_result> results;  ///< those that were finished
  bool interrupted = false;
};

class comparison_observer {
 public:
  virtual ~comparison_observer() = default;
  virtual void note(std::string const& /*line*/) {}
  virtual void finished(comparison const& /*so_far*/) {}  ///< one more contender is in the results
  [[nodiscard]] virtual bool cancelled() const { return false; }
};

/// @param data  its training images lose the held-out ones
/// @throws invalid_argument
[[nodiscard]] comparison compare(comparison_plan const& plan, dataset data, comparison_observer& observer);

}  // namespace bird::trainer
