/// server: the model of one group of workers, the optimizer, and the codec of its replies.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "update_codec.hpp"

namespace bird::trainer {

class server {
 public:
  /// @param number  of the group; names its draws
  /// @param workers that push to it
  /// @param momentum of the optimizer; 0: none
  server(train_options const& options, network_shape const& shape, int number, int workers, double momentum,
         span<float const> initial);

  /// Adds one worker's message to this round's mean. Calls come in worker order.
  void receive(span<std::byte const> message, update_codec const& codec);

  /// Ends the round: takes a step along the mean and codes it. The model takes the *coded* step, as the
  /// workers will, and not the step itself.
  /// @param rate factor of the step
  void step(std::uint32_t round, double rate);
  /// The same, but the step is taken as it is: the model is about to be merged, and sent whole.
  void step_uncoded(double rate);

  /// Takes over a merged model; the reply is that model, as plain floats.
  void replace(span<float const> merged);

  [[nodiscard]] std::vector<std::byte> const& reply() const { return reply_; }
  [[nodiscard]] update_codec const& codec() const { return *codec_; }
  [[nodiscard]] span<float const> model() const { return model_; }
  [[nodiscard]] int workers() const { return workers_; }

 private:
  void make_step(double rate);

  int workers_;
  std::uint64_t seed_;
  std::uint32_t sender_;
  float momentum_;
  std::unique_ptr<update_codec> codec_;
  std::vector<float> model_;
  std::vector<float> mean_;      ///< of this round's updates; then the step
  std::vector<float> velocity_;  ///< empty without momentum
  std::vector<std::byte> reply_;
};

}  // namespace bird::trainer
