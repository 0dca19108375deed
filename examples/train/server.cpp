#include "server.hpp"

#include <algorithm>
#include <cstring>

namespace bird::trainer {
namespace {

constexpr std::uint32_t first_server_id = 1U << 16;  ///< above every worker's number

}  // namespace

server::server(train_options const& options, network_shape const& shape, int number, int workers,
               double momentum, span<float const> initial)
  : workers_{workers},
    seed_{options.seed},
    sender_{first_server_id + static_cast<std::uint32_t>(number)},
    momentum_{static_cast<float>(momentum)},
    codec_{make_update_codec(options, shape, direction::down)},
    model_(initial.begin(), initial.end()),
    mean_(initial.size(), 0.0F)
{
  if (momentum > 0) {
    velocity_.assign(initial.size(), 0.0F);
  }
}

void server::receive(span<std::byte const> message, update_codec const& codec)
{
  codec.decode_add(message, 1.0F / static_cast<float>(workers_), mean_);
}

void server::make_step(double rate)
{
  float const factor = -static_cast<float>(rate);
  if (velocity_.empty()) {
    for (float& value : mean_) {
      value *= factor;
    }
    return;
  }
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    velocity_[i] = momentum_ * velocity_[i] + mean_[i];
    mean_[i]     = factor * velocity_[i];
  }
}

void server::step(std::uint32_t round, double rate)
{
  make_step(rate);
  codec_->encode(mean_, {seed_, round, sender_}, reply_);
  codec_->decode_add(reply_, 1.0F, model_);
  std::fill(mean_.begin(), mean_.end(), 0.0F);
}

void server::step_uncoded(double rate)
{
  make_step(rate);
  for (std::size_t i = 0; i < model_.size(); ++i) {
    model_[i] += mean_[i];
  }
  std::fill(mean_.begin(), mean_.end(), 0.0F);
}

void server::replace(span<float const> merged)
{
  std::copy(merged.begin(), merged.end(), model_.begin());
  reply_.resize(merged.size_bytes());
  std::memcpy(reply_.data(), merged.data(), merged.size_bytes());
}

}  // namespace bird::trainer
