#include "worker.hpp"

#include <algorithm>
#include <cstring>

#include "stopwatch.hpp"

namespace bird::trainer {
namespace {

/// Generators of the workers' orders: one for each, away from those of initialization and shards.
constexpr std::uint64_t order_stream = 0x9E3779B97F4A7C15ULL;

}  // namespace

worker::worker(train_options const& options, int number, labelled_images const& images, shard mine,
               span<float const> initial, link_clock& clock)
  : images_{images},
    shard_{std::move(mine)},
    random_{options.seed + order_stream * (static_cast<std::uint64_t>(number) + 1)},
    seed_{options.seed},
    number_{static_cast<std::uint32_t>(number)},
    batch_{static_cast<std::size_t>(options.batch)},
    network_{options.model},
    codec_{make_update_codec(options, network_.shape(), direction::up)},
    link_{options.link_mbps, clock},
    parameters_(initial.begin(), initial.end()),
    update_(initial.size())
{
  next_ = shard_.size();  // the first batch shuffles
  if (options.local_steps > 1) {
    local_.resize(initial.size());
    gradient_.resize(initial.size());
  }
}

image_batch worker::next_batch()
{
  std::size_t const pixels = images_.rows * images_.columns;
  pixels_.resize(batch_ * pixels);
  labels_.resize(batch_);
  for (std::size_t i = 0; i < batch_; ++i) {
    if (next_ == shard_.size()) {
      std::shuffle(shard_.begin(), shard_.end(), random_);
      next_ = 0;
    }
    std::uint32_t const image = shard_[next_++];
    std::copy_n(images_.pixels.data() + image * pixels, pixels, pixels_.data() + i * pixels);
    labels_[i] = images_.labels[image];
  }
  return {pixels_, labels_};
}

void worker::push(std::uint32_t round, span<double const> rates)
{
  stopwatch const computing;
  if (local_.empty()) {
    loss_ = network_.gradient(parameters_, next_batch(), update_);
  } else {
    loss_  = 0;
    local_ = parameters_;
    for (double const rate : rates) {
      loss_ += network_.gradient(local_, next_batch(), gradient_) / static_cast<double>(rates.size());
      for (std::size_t i = 0; i < local_.size(); ++i) {
        local_[i] -= static_cast<float>(rate) * gradient_[i];
      }
    }
    for (std::size_t i = 0; i < local_.size(); ++i) {
      update_[i] = parameters_[i] - local_[i];
    }
  }
  gradient_seconds_ += computing.seconds();

  stopwatch const coding;
  codec_->encode(update_, {seed_, round, number_}, message_);
  codec_seconds_ += coding.seconds();
  link_seconds_ += link_.up.send(message_.size());
}

void worker::apply(span<std::byte const> reply, update_codec const& codec)
{
  link_seconds_ += link_.down.send(reply.size());
  stopwatch const decoding;
  codec.decode_add(reply, 1.0F, parameters_);
  codec_seconds_ += decoding.seconds();
}

void worker::replace(span<std::byte const> model)
{
  link_seconds_ += link_.down.send(model.size());
  std::memcpy(parameters_.data(), model.data(), model.size());
}

}  // namespace bird::trainer
