/// update_codec: how one sender codes its updates. The only seam between the trainer and a method.
///
///   worker  update ──encode──▶ message ──link──▶ server  decode_add, in worker order
///   server  update ──encode──▶ reply   ──link──▶ worker  decode_add
///
/// One object belongs to one sender and one direction, and may hold state (a residual, a velocity).
/// Decoding depends on the message alone, so any object made with the same options decodes it.
/// Objects are used by one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bird/compressor.hpp"
#include "bird/span.hpp"
#include "options.hpp"

namespace bird::trainer {

/// Part of the flat parameter (and gradient) buffer that is one array of the network.
struct parameter_segment {
  std::string name;        ///< "conv1.weight"
  std::size_t offset = 0;  ///< in the flat buffer
  std::size_t count  = 0;
  std::size_t row    = 0;  ///< elements of a filter or row; 0 for a bias
};

/// The arrays of a network, in the order in which they fill the flat buffer without gaps.
using network_shape = std::vector<parameter_segment>;
[[nodiscard]] std::size_t parameter_count(network_shape const& shape);

class update_codec {
 public:
  virtual ~update_codec() = default;

  /// Replaces `message` by the coded update. `key` names the draw: two senders or steps never share one.
  virtual void encode(span<float const> update, sample_key key, std::vector<std::byte>& message) = 0;

  /// sum += weight * (what the message says).
  /// @throws bad_packet when the bytes are no sound message for so many elements
  virtual void decode_add(span<std::byte const> message, float weight, span<float> sum) const = 0;

  /// Memory that this sender keeps from one update to the next because of the method.
  [[nodiscard]] virtual std::size_t state_bytes() const { return 0; }

  /// Relative error of the last message, |decoded - update|^2 / |update|^2 or its expectation; 0: exact.
  [[nodiscard]] virtual double omega() const = 0;

  /// True when encode() applies momentum itself, so that the optimizer must not.
  [[nodiscard]] virtual bool has_momentum() const { return false; }
};

enum class direction { up, down };

/// Codec of one sender, for every method of train_options.
/// @throws invalid_argument for choices that the method refuses
[[nodiscard]] std::unique_ptr<update_codec> make_update_codec(train_options const& options,
                                                              network_shape const& shape, direction way);

}  // namespace bird::trainer
