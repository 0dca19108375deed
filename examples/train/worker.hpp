/// worker: one copy of the model, one shard of the data, one codec.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "dataset.hpp"
#include "link.hpp"
#include "network.hpp"
#include "shard.hpp"
#include "update_codec.hpp"

namespace bird::trainer {

class worker {
 public:
  worker(train_options const& options, int number, labelled_images const& images, shard mine,
         span<float const> initial, link_clock& clock);

  /// Computes this round's update and codes it: the gradient of one batch or, with local steps, the way
  /// that `rates.size()` steps of plain SGD from the common model went. Then sends it.
  void push(std::uint32_t round, span<double const> rates);

  /// Receives a reply: parameters += reply.
  void apply(span<std::byte const> reply, update_codec const& codec);
  /// Receives a whole model, as plain floats.
  void replace(span<std::byte const> model);

  [[nodiscard]] std::vector<std::byte> const& message() const { return message_; }
  [[nodiscard]] double loss() const { return loss_; }                 ///< mean of the last round
  [[nodiscard]] span<float const> update() const { return update_; }  ///< what was last coded
  [[nodiscard]] span<float const> parameters() const { return parameters_; }
  [[nodiscard]] update_codec const& codec() const { return *codec_; }
  [[nodiscard]] trainer::link const& connection() const { return link_; }
  [[nodiscard]] double gradient_seconds() const { return gradient_seconds_; }
  [[nodiscard]] double codec_seconds() const { return codec_seconds_; }
  [[nodiscard]] double link_seconds() const { return link_seconds_; }

 private:
  image_batch next_batch();

  labelled_images const& images_;
  shard shard_;
  std::size_t next_ = 0;  ///< of the shard, in this pass over it
  std::mt19937_64 random_;
  std::uint64_t seed_;
  std::uint32_t number_;
  std::size_t batch_;
  trainer::network network_;
  std::unique_ptr<update_codec> codec_;
  trainer::link link_;
  std::vector<float> parameters_;
  std::vector<float> update_;
  std::vector<float> local_, gradient_;  ///< local steps only
  std::vector<float> pixels_;            ///< of the batch, gathered
  std::vector<std::uint8_t> labels_;
  std::vector<std::byte> message_;
  double loss_             = 0;
  double gradient_seconds_ = 0, codec_seconds_ = 0, link_seconds_ = 0;
};

}  // namespace bird::trainer
