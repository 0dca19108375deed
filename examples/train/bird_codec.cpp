/// The library's compressor, and plain floats, behind the trainer's seam.
///
/// Codecs with tiles of a fixed size see the whole gradient as one segment. Codecs of rows (tile 0) see one
/// segment for each weight array, cut at its rows or filters; biases travel dense or as companions.
#include <fmt/format.h>

#include <cstring>

#include "peer_codecs.hpp"
#include "update_codec.hpp"

namespace bird::trainer {
namespace {

/// Every element as it is.
class dense_codec : public update_codec {
 public:
  void encode(span<float const> update, sample_key /*key*/, std::vector<std::byte>& message) override
  {
    message.resize(update.size_bytes());
    std::memcpy(message.data(), update.data(), update.size_bytes());
  }

  void decode_add(span<std::byte const> message, float weight, span<float> sum) const override
  {
    if (message.size() != sum.size_bytes()) {
      throw bad_packet{
        fmt::format("dense message has {} bytes, expected {}", message.size(), sum.size_bytes())};
    }
    for (std::size_t i = 0; i < sum.size(); ++i) {
      float value = 0;
      std::memcpy(&value, message.data() + i * sizeof(float), sizeof(float));
      sum[i] += weight * value;
    }
  }

  [[nodiscard]] double omega() const override { return 0; }
};

class bird_codec : public update_codec {
 public:
  bird_codec(compressor_options const& options, network_shape const& shape, bool companion_bias,
             error_feedback memory, double momentum)
    : compressor_{options},
      momentum_{memory == error_feedback::momentum ? static_cast<float>(momentum) : 0.0F}
  {
    if (options.tile == 0) {
      for (parameter_segment const& array : shape) {
        bool const bias = array.row == 0;
        views_.push_back({nullptr, array.count, dtype::float32, static_cast<std::uint32_t>(array.row),
                          !bias            ? segment_role::sampled
                          : companion_bias ? segment_role::companion
                                           : segment_role::dense});
        offsets_.push_back(array.offset);
      }
    } else {
      views_.push_back({nullptr, parameter_count(shape), dtype::float32, 0, segment_role::sampled});
      offsets_.push_back(0);
    }
    capacity_ = compressor_.packet_capacity(views_);
    scratch_.resize(compressor_.compress_scratch_bytes(views_));
    if (memory != error_feedback::none) {
      residual_.assign(parameter_count(shape), 0.0F);
    }
    if (memory == error_feedback::momentum && momentum > 0) {
      velocity_.assign(parameter_count(shape), 0.0F);
    }
    for (std::size_t const offset : offsets_) {
      if (!residual_.empty()) {
        residual_pointers_.push_back(residual_.data() + offset);
      }
      if (!velocity_.empty()) {
        velocity_pointers_.push_back(velocity_.data() + offset);
      }
    }
  }

  void encode(span<float const> update, sample_key key, std::vector<std::byte>& message) override
  {
    for (std::size_t i = 0; i < views_.size(); ++i) {
      views_[i].data = update.data() + offsets_[i];
    }
    message.resize(capacity_);
    compress_report const report = compressor_.compress(
      views_, key, message, scratch_, {residual_pointers_, velocity_pointers_, momentum_}, on_host);
    message.resize(report.packet_bytes);
    omega_ = report.omega;
  }

  void decode_add(span<std::byte const> message, float weight, span<float> sum) const override
  {
    std::vector<tensor_view> targets;
    targets.reserve(views_.size());
    for (std::size_t i = 0; i < views_.size(); ++i) {
      targets.push_back({sum.data() + offsets_[i], views_[i].count, dtype::float32});
    }
    weighted_packet const packet{message, weight};
    apply({&packet, 1}, targets, on_host);
  }

  [[nodiscard]] std::size_t state_bytes() const override
  {
    return (residual_.size() + velocity_.size()) * sizeof(float);
  }
  [[nodiscard]] double omega() const override { return omega_; }
  [[nodiscard]] bool has_momentum() const override { return !velocity_.empty(); }

 private:
  compressor compressor_;
  std::vector<const_tensor_view> views_;
  std::vector<std::size_t> offsets_;  ///< of each view in the flat buffer
  std::size_t capacity_ = 0;
  std::vector<std::byte> scratch_;
  std::vector<float> residual_, velocity_;
  std::vector<float*> residual_pointers_, velocity_pointers_;
  float momentum_;
  double omega_ = 0;
};

}  // namespace

std::unique_ptr<update_codec> make_update_codec(train_options const& options, network_shape const& shape,
                                                direction way)
{
  bool const down = way == direction::down;
  if (options.method == method::dense || (down && options.dense_reply)) {
    return std::make_unique<dense_codec>();
  }
  if (options.method != method::bird) {
    return make_peer_codec(options, shape, way);
  }
  compressor_options codec = options.codec;
  error_feedback memory    = options.feedback;
  if (down) {
    codec.ratio = options.reply_ratio.value_or(codec.ratio);
    // The server's step has its momentum already, or the workers applied it.
    memory = memory == error_feedback::none ? error_feedback::none : error_feedback::residual;
  }
  double const momentum = options.local_steps > 1 ? 0.0 : options.momentum;
  return std::make_unique<bird_codec>(codec, shape, options.companion_bias, memory, momentum);
}

}  // namespace bird::trainer
