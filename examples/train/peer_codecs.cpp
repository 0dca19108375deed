/// peer_codecs: which elements each peer sends, and what it keeps for later.
///
/// Both ends meet in one type, sparse_update: write() returns what the message will decode to, so the
/// residual is exact, and decode_add() reads and checks the whole message before it adds the first element.
#include "peer_codecs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "packet_layout.cuh"
#include "peer_message.hpp"
#include "peer_selection.hpp"
#include "real.cuh"

namespace bird::trainer {
namespace {

/// Elements that a message carries; all others are zero.
struct sparse_update {
  std::vector<std::uint32_t> position;
  std::vector<float> value;
};

// ---- what all peers do alike ----

class peer_codec : public update_codec {
 public:
  peer_codec(std::size_t count, double ratio, bool keeps_residual)
    : count_{count}, ratio_{ratio}, residual_(keeps_residual ? count : 0)
  {
  }

  void encode(span<float const> update, sample_key key, std::vector<std::byte>& message) final
  {
    if (update.size() != count_) {
      throw invalid_argument{"update has " + std::to_string(update.size()) + " elements, the network has " +
                             std::to_string(count_)};
    }
    message.clear();
    if (!std::all_of(update.begin(), update.end(), rule::is_finite)) {
      put_header(message, message_kind::non_finite, 0, 0.0F);
      return;
    }
    if (residual_.empty()) {
      omega_ = relative_error(update, write(update, key, message));
      return;
    }
    for (std::size_t i = 0; i < count_; ++i) {
      residual_[i] += update[i];
    }
    sparse_update const sent = write(residual_, key, message);
    omega_                   = relative_error(residual_, sent);
    for (std::size_t i = 0; i < sent.position.size(); ++i) {
      residual_[sent.position[i]] -= sent.value[i];
    }
  }

  void decode_add(span<std::byte const> message, float weight, span<float> sum) const final
  {
    auto rest         = message;
    auto const header = take<message_header>(rest, 1)[0];
    if (header.count != count_ || sum.size() != count_) {
      refuse_message("element count", header.count);
    }
    if (header.kind == message_kind::non_finite) {
      take_end(rest);
      sum[0] = std::numeric_limits<float>::quiet_NaN();
      return;
    }
    sparse_update const update = read(header, rest);
    for (std::size_t i = 0; i < update.position.size(); ++i) {
      sum[update.position[i]] += weight * update.value[i];
    }
  }

  [[nodiscard]] std::size_t state_bytes() const final { return residual_.size() * sizeof(float); }
  [[nodiscard]] double omega() const override { return omega_; }

 protected:
  /// Appends the message of `wanted`, which is finite; returns what it decodes to.
  virtual sparse_update write(span<float const> wanted, sample_key key,
                              std::vector<std::byte>& message) const                         = 0;
  virtual sparse_update read(message_header const& header, span<std::byte const> rest) const = 0;

  /// Elements kept of `count`, by the rule that counts a packet's slots.
  [[nodiscard]] std::size_t kept_of(std::size_t count) const { return rule::slots_of(ratio_, count); }
  [[nodiscard]] std::size_t count() const { return count_; }

  void put_header(std::vector<std::byte>& message, message_kind kind, std::size_t kept, float factor) const
  {
    message_header const header{kind, static_cast<std::uint32_t>(count_), static_cast<std::uint32_t>(kept),
                                factor};
    put(message, &header, 1);
  }

  static void require(message_header const& header, message_kind kind, std::size_t most)
  {
    if (header.kind != kind) {
      refuse_message("kind", static_cast<std::uint32_t>(header.kind));
    }
    if (header.kept > most) {
      refuse_message("number of kept elements or arrays", header.kept);
    }
  }

 private:
  static double relative_error(span<float const> wanted, sparse_update const& sent)
  {
    double norm = 0;
    for (float const value : wanted) {
      norm += static_cast<double>(value) * value;
    }
    double error = norm;
    for (std::size_t i = 0; i < sent.position.size(); ++i) {
      double const value = wanted[sent.position[i]];
      double const off   = value - static_cast<double>(sent.value[i]);
      error += off * off - value * value;
    }
    return norm == 0 ? 0 : std::max(error, 0.0) / norm;
  }

  std::size_t count_;
  double ratio_;
  std::vector<float> residual_;
  double omega_ = 0;
};

// ---- the peers ----

class topk_codec final : public peer_codec {
 public:
  using peer_codec::peer_codec;

 private:
  sparse_update write(span<float const> wanted, sample_key, std::vector<std::byte>& message) const override
  {
    std::vector<std::uint32_t> magnitudes(count());
    std::transform(wanted.begin(), wanted.end(), magnitudes.begin(),
                   [](float value) { return rule::bits_of(rule::magnitude(value)); });
    sparse_update sent{largest_positions(magnitudes, kept_of(count())), {}};
    sent.value.reserve(sent.position.size());
    for (std::uint32_t const position : sent.position) {
      sent.value.push_back(wanted[position]);
    }
    float const factor = common_factor(sent.value);
    put_header(message, message_kind::topk, sent.position.size(), factor);
    put_ascending(message, sent.position, count());
    put_values(message, sent.value, factor, 1.0F);
    return sent;
  }

  sparse_update read(message_header const& header, span<std::byte const> rest) const override
  {
    require(header, message_kind::topk, count());
    sparse_update update;
    update.position = take_ascending(rest, header.kept, count());
    update.value    = take_values(rest, header.kept, header.factor, 1.0F);
    take_end(rest);
    return update;
  }
};

class randomk_codec final : public peer_codec {
 public:
  using peer_codec::peer_codec;

  /// E|decoded - g|^2 / |g|^2 of k of n elements, each times n / k.
  [[nodiscard]] double omega() const override { return gain(kept_of(count())) - 1.0; }

 private:
  [[nodiscard]] double gain(std::size_t k) const
  {
    return static_cast<double>(count()) / static_cast<double>(k);
  }

  sparse_update write(span<float const> wanted, sample_key key,
                      std::vector<std::byte>& message) const override
  {
    std::size_t const k = kept_of(count());
    sparse_update sent{random_positions(count(), k, key), {}};
    sent.value.reserve(k);
    for (std::uint32_t const position : sent.position) {
      sent.value.push_back(wanted[position]);
    }
    float const factor = common_factor(sent.value);
    put_header(message, message_kind::randomk, k, factor);
    put(message, &key, 1);
    put_values(message, sent.value, factor, static_cast<float>(gain(k)));
    return sent;
  }

  sparse_update read(message_header const& header, span<std::byte const> rest) const override
  {
    require(header, message_kind::randomk, count());
    if (header.kept == 0) {
      refuse_message("number of kept elements", 0);
    }
    static_assert(sizeof(sample_key) == 16);
    auto const key = take<sample_key>(rest, 1)[0];
    sparse_update update;
    update.value = take_values(rest, header.kept, header.factor, static_cast<float>(gain(header.kept)));
    take_end(rest);
    update.position = random_positions(count(), header.kept, key);
    return update;
  }
};

class sbc_codec final : public peer_codec {
 public:
  sbc_codec(network_shape const& shape, std::size_t count, double ratio)
    : peer_codec{count, ratio, true}, shape_{shape}
  {
  }

 private:
  struct entry {  // one array on the wire
    std::uint32_t kept;
    float mean;  ///< with the sign of the side that is sent
  };

  /// The k elements of one side of an array that reach furthest from zero, and their mean.
  struct side {
    std::vector<std::uint32_t> position;
    double mean = 0;
  };
  static side furthest(span<float const> array, float sign, std::size_t k)
  {
    std::vector<std::uint32_t> keys(array.size());
    std::transform(array.begin(), array.end(), keys.begin(),
                   [sign](float value) { return value * sign > 0.0F ? rule::bits_of(value * sign) : 0U; });
    side result{largest_positions(keys, k), 0};
    for (std::uint32_t const position : result.position) {
      result.mean += static_cast<double>(array[position]) * static_cast<double>(sign);
    }
    result.mean /= result.position.empty() ? 1.0 : static_cast<double>(result.position.size());
    return result;
  }

  sparse_update write(span<float const> wanted, sample_key, std::vector<std::byte>& message) const override
  {
    sparse_update sent;
    std::vector<entry> entries;
    rice_writer index;
    for (parameter_segment const& segment : shape_) {
      auto const array    = wanted.subspan(segment.offset, segment.count);
      std::size_t const k = kept_of(segment.count);
      side const above    = furthest(array, 1.0F, k);
      side const below    = furthest(array, -1.0F, k);
      bool const positive = above.mean >= below.mean;
      side const& kept    = positive ? above : below;
      auto const mean     = static_cast<float>(positive ? kept.mean : -kept.mean);
      entries.push_back({static_cast<std::uint32_t>(kept.position.size()), mean});
      index.append(kept.position, segment.count);
      for (std::uint32_t const position : kept.position) {
        sent.position.push_back(static_cast<std::uint32_t>(segment.offset + position));
        sent.value.push_back(mean);
      }
    }
    put_header(message, message_kind::sbc, shape_.size(), 0.0F);
    put(message, entries.data(), entries.size());
    put(message, index.bytes().data(), index.bytes().size());
    return sent;
  }

  sparse_update read(message_header const& header, span<std::byte const> rest) const override
  {
    require(header, message_kind::sbc, shape_.size());
    auto const entries = take<entry>(rest, shape_.size());
    rice_reader index{rest};
    sparse_update update;
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      if (!rule::is_finite(entries[i].mean)) {
        refuse_message("number of the array whose mean is not finite", i);
      }
      for (std::uint32_t const position : index.next(entries[i].kept, shape_[i].count)) {
        update.position.push_back(static_cast<std::uint32_t>(shape_[i].offset + position));
        update.value.push_back(entries[i].mean);
      }
    }
    index.end();
    return update;
  }

  network_shape shape_;
};

}  // namespace

std::unique_ptr<update_codec> make_peer_codec(train_options const& options, network_shape const& shape,
                                              direction way)
{
  std::size_t const count = parameter_count(shape);
  double const ratio =
    way == direction::down ? options.reply_ratio.value_or(options.codec.ratio) : options.codec.ratio;
  if (!(ratio > 0.0 && ratio <= 1.0)) {
    throw invalid_argument{"ratio must be above 0 and at most 1, is " + std::to_string(ratio)};
  }
  if (count == 0 || count > std::numeric_limits<std::uint32_t>::max() / 2) {
    throw invalid_argument{"a network of " + std::to_string(count) + " parameters has no peer codec"};
  }
  switch (options.method) {
    case method::topk:
      return std::make_unique<topk_codec>(count, ratio, false);
    case method::topk_ef:
      return std::make_unique<topk_codec>(count, ratio, true);
    case method::randomk:
      return std::make_unique<randomk_codec>(count, ratio, false);
    case method::sbc:
      return std::make_unique<sbc_codec>(shape, count, ratio);
    case method::dense:
    case method::bird:
      break;
  }
  throw invalid_argument{std::string{"method "} + to_string(options.method) + " is no peer codec"};
}

}  // namespace bird::trainer
