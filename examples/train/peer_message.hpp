/// peer_message: the parts that messages of the peer codecs are made of, written and read.
///
/// Readers take from the front of `rest` and throw bad_packet, naming what is wrong, before they read past
/// its end; what they return may be trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bird/span.hpp"

namespace bird::trainer {

enum class message_kind : std::uint32_t {  // "PC" and a number
  topk       = 0x50430001U,
  randomk    = 0x50430002U,
  sbc        = 0x50430003U,
  non_finite = 0x50430004U,
};

/// First 16 bytes of every message.
struct message_header {
  message_kind kind;
  std::uint32_t count;  ///< elements of the update
  std::uint32_t kept;   ///< elements sent; sbc: arrays
  float factor;         ///< of a stored value; sbc: zero
};
static_assert(sizeof(message_header) == 16);

/// @throws bad_packet "update message: <field> is <value>"
[[noreturn]] void refuse_message(char const* field, std::uint64_t value);

template <class T>
void put(std::vector<std::byte>& message, T const* data, std::size_t count)
{
  std::size_t const offset = message.size();
  message.resize(offset + count * sizeof(T));
  if (count != 0) {
    std::memcpy(message.data() + offset, data, count * sizeof(T));
  }
}

template <class T>
[[nodiscard]] std::vector<T> take(span<std::byte const>& rest, std::size_t count)
{
  if (count > rest.size() / sizeof(T)) {
    refuse_message("number of bytes left, too few:", rest.size());
  }
  std::vector<T> data(count);
  if (count != 0) {
    std::memcpy(data.data(), rest.data(), count * sizeof(T));
  }
  rest = rest.subspan(count * sizeof(T));
  return data;
}

/// @throws bad_packet unless `rest` is empty
void take_end(span<std::byte const> rest);

/// The power of two that brings the largest of `values` to 2^14 .. 2^15, inside fp16's range of 65504. It is
/// no smaller than the smallest normal float.
[[nodiscard]] float common_factor(std::vector<float> const& values);

/// Values as fp16 multiples of `factor`. Replaces them by what a reader will see, times `gain`.
void put_values(std::vector<std::byte>& message, std::vector<float>& values, float factor, float gain);
[[nodiscard]] std::vector<float> take_values(span<std::byte const>& rest, std::size_t count, float factor,
                                             float gain);

/// Strictly ascending numbers below `universe`, as Elias-Fano.
void put_ascending(std::vector<std::byte>& message, std::vector<std::uint32_t> const& numbers,
                   std::size_t universe);
[[nodiscard]] std::vector<std::uint32_t> take_ascending(span<std::byte const>& rest, std::size_t count,
                                                        std::size_t universe);

/// Strictly ascending numbers below `universe`, as Rice-coded gaps: the quotient by 2^b as ones and a zero,
/// then the b low bits, first bit lowest.
class rice_writer {
 public:
  void append(std::vector<std::uint32_t> const& numbers, std::size_t universe);
  [[nodiscard]] std::vector<std::byte> const& bytes() const noexcept { return bytes_; }

 private:
  void append_bit(bool bit);

  std::vector<std::byte> bytes_;
  std::size_t bits_ = 0;
};

class rice_reader {
 public:
  explicit rice_reader(span<std::byte const> bytes) noexcept : bytes_{bytes} {}

  [[nodiscard]] std::vector<std::uint32_t> next(std::size_t count, std::size_t universe);
  /// @throws bad_packet unless nothing but zero padding up to the next byte is left
  void end() const;

 private:
  [[nodiscard]] bool next_bit();

  span<std::byte const> bytes_;
  std::size_t at_ = 0;
};

/// The exponent b of the divisor. Sparse binary compression takes 1 + floor(log2(log(phi - 1) / log(1 - p)))
/// at p = count / universe; here log(1 - p) is -p and log(phi - 1) is -0.4812, so that both ends round alike.
[[nodiscard]] std::uint32_t rice_exponent(std::size_t count, std::size_t universe);

}  // namespace bird::trainer
