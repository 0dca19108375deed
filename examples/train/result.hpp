/// What a training run came to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bird::trainer {

/// One point of the curve: taken after every epoch, and before the first step (epoch 0).
struct curve_point {
  double epoch             = 0;
  std::uint64_t step       = 0;  ///< gradient steps of each worker so far
  double loss              = 0;  ///< mean training loss since the point before
  double test_accuracy     = 0;  ///< share of test images, 0 to 1
  std::uint64_t bytes_up   = 0;  ///< so far, all workers together
  std::uint64_t bytes_down = 0;
  double seconds           = 0;  ///< training time so far; tests of accuracy do not count
};

/// Where the time of the workers went, in seconds, mean over workers.
struct time_split {
  double gradient = 0;  ///< forward and backward
  double codec    = 0;  ///< encoding, decoding and applying, workers' and server's
  double link     = 0;  ///< waiting for the link's token bucket
};

struct train_result {
  std::string method;
  std::string codec;  ///< codec_description()
  std::string model;
  std::string sync;
  std::uint64_t seed       = 0;
  int workers              = 0;
  int epochs               = 0;  ///< asked for
  int local_steps          = 0;
  std::uint64_t parameters = 0;
  std::uint64_t steps      = 0;  ///< gradient steps of each worker
  std::uint64_t rounds     = 0;  ///< exchanges

  double test_accuracy = 0;  ///< of the server's final model, 0 to 1
  double loss          = 0;  ///< mean training loss of the last epoch

  /// Bytes of the messages as coded, all workers together; up: to the server, down: from it.
  std::uint64_t bytes_up              = 0;
  std::uint64_t bytes_down            = 0;
  std::uint64_t dense_bytes_up        = 0;  ///< the same run with every message sent as plain floats
  std::uint64_t dense_bytes_down      = 0;
  std::uint64_t bytes_between_servers = 0;  ///< dsync: merges

  double seconds = 0;  ///< training time without tests of accuracy
  time_split split;
  double examples_per_second = 0;

  std::uint64_t state_bytes        = 0;  ///< memory that the method needs in one worker from step to step
  std::uint64_t server_state_bytes = 0;  ///< the same at the server
  double omega         = 0;  ///< mean relative error of a worker's message, E|decoded - g|^2 / |g|^2
  double reply_omega   = 0;  ///< the same of the server's reply
  double learning_rate = 0;  ///< at the top of the schedule
  double link_mbps     = 0;

  bool interrupted = false;  ///< ended early on request
  bool diverged    = false;  ///< ended early because the loss left all bounds
  std::string advice;        ///< what to change, when diverged

  std::vector<curve_point> curve;
};

}  // namespace bird::trainer
