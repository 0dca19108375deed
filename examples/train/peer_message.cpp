/// peer_message: the byte codes of the peer codecs.
#include "peer_message.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "bird/error.hpp"
#include "elias_fano.cuh"
#include "real.cuh"

namespace bird::trainer {

void refuse_message(char const* field, std::uint64_t value)
{
  throw bad_packet{std::string{"update message: "} + field + " is " + std::to_string(value)};
}

void take_end(span<std::byte const> rest)
{
  if (!rest.empty()) {
    refuse_message("number of bytes after its end", rest.size());
  }
}

float common_factor(std::vector<float> const& values)
{
  constexpr int stored_exponent = 14;
  constexpr int least_exponent  = -126;
  float largest                 = 0.0F;
  for (float const value : values) {
    largest = std::max(largest, std::fabs(value));
  }
  if (largest == 0.0F) {
    return 1.0F;
  }
  int const exponent = std::max(std::ilogb(largest) - stored_exponent, least_exponent);
  return static_cast<float>(rule::power_of_two(exponent));
}

namespace {

/// A stored value as a reader sees it. Finite: a gain that leaves float's range saturates.
float restored(rule::half16 stored, float factor, float gain)
{
  float const value = rule::widen(stored) * factor * gain;
  return std::clamp(value, -rule::largest_float, rule::largest_float);
}

}  // namespace

void put_values(std::vector<std::byte>& message, std::vector<float>& values, float factor, float gain)
{
  std::vector<rule::half16> stored(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    stored[i] = rule::narrow_to<rule::half16>::from(values[i] / factor);
    values[i] = restored(stored[i], factor, gain);
  }
  put(message, stored.data(), stored.size());
}

std::vector<float> take_values(span<std::byte const>& rest, std::size_t count, float factor, float gain)
{
  constexpr std::uint32_t mantissa_mask = 0x007FFFFFU;
  std::uint32_t const bits              = rule::bits_of(factor);
  if (!(factor > 0.0F) || !rule::is_finite(factor) || (bits & mantissa_mask) != 0) {
    refuse_message("bit pattern of the factor, which is no power of two,", bits);
  }
  auto const stored = take<rule::half16>(rest, count);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!rule::is_finite(rule::widen(stored[i]))) {
      refuse_message("number of the value that is not finite", i);
    }
    values[i] = restored(stored[i], factor, gain);
  }
  return values;
}

void put_ascending(std::vector<std::byte>& message, std::vector<std::uint32_t> const& numbers,
                   std::size_t universe)
{
  rule::elias_fano const code{universe, numbers.size()};
  std::vector<std::uint64_t> words(code.words());
  std::uint64_t const lower = 64 * code.upper_words();
  std::uint32_t const width = code.low_bits();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::uint64_t const high = code.upper_position(numbers[i], i);
    words[high / 64] |= std::uint64_t{1} << (high % 64);
    if (width == 0) {
      continue;
    }
    std::uint64_t const low = numbers[i] & ((std::uint64_t{1} << width) - 1);
    std::uint64_t const at  = lower + i * width;
    words[at / 64] |= low << (at % 64);
    if (at % 64 + width > 64) {
      words[at / 64 + 1] |= low >> (64 - at % 64);
    }
  }
  put(message, words.data(), words.size());
}

std::vector<std::uint32_t> take_ascending(span<std::byte const>& rest, std::size_t count,
                                          std::size_t universe)
{
  rule::elias_fano const code{universe, count};
  auto const words          = take<std::uint64_t>(rest, code.words());
  std::uint64_t const lower = 64 * code.upper_words();
  std::vector<std::uint32_t> numbers;
  numbers.reserve(count);
  std::uint64_t least = 0;  // number that may come next
  for (std::uint64_t word = 0; word < code.upper_words(); ++word) {
    for (std::uint64_t bits = words[word]; bits != 0; bits &= bits - 1) {
      std::uint64_t const i = numbers.size();
      if (i == count) {
        refuse_message("count of positions, with more in the index,", count);
      }
      std::uint64_t const at  = 64 * word + static_cast<std::uint64_t>(__builtin_ctzll(bits));
      std::uint64_t const low = rule::read_bits(words.data(), lower + i * code.low_bits(), code.low_bits());
      std::uint64_t const number = code.number(at, i, low);
      if (number < least || number >= universe) {
        refuse_message("position out of order or range", number);
      }
      numbers.push_back(static_cast<std::uint32_t>(number));
      least = number + 1;
    }
  }
  if (numbers.size() != count) {
    refuse_message("number of positions in the index", numbers.size());
  }
  return numbers;
}

std::uint32_t rice_exponent(std::size_t count, std::size_t universe)
{
  std::uint64_t const twice_log = 77 * static_cast<std::uint64_t>(universe) / (80 * count);  // 0.9624 / p
  return twice_log == 0 ? 0 : rule::bit_width(twice_log) - 1;
}

void rice_writer::append_bit(bool bit)
{
  if (bits_ % 8 == 0) {
    bytes_.push_back(std::byte{0});
  }
  bytes_.back() |= static_cast<std::byte>(static_cast<unsigned>(bit) << (bits_ % 8));
  ++bits_;
}

void rice_writer::append(std::vector<std::uint32_t> const& numbers, std::size_t universe)
{
  if (numbers.empty()) {
    return;
  }
  std::uint32_t const width = rice_exponent(numbers.size(), universe);
  std::uint64_t least       = 0;
  for (std::uint32_t const number : numbers) {
    std::uint64_t const gap = number - least;
    for (std::uint64_t ones = gap >> width; ones != 0; --ones) {
      append_bit(true);
    }
    append_bit(false);
    for (std::uint32_t bit = 0; bit < width; ++bit) {
      append_bit((gap >> bit & 1U) != 0);
    }
    least = number + std::uint64_t{1};
  }
}

bool rice_reader::next_bit()
{
  if (at_ / 8 >= bytes_.size()) {
    refuse_message("number of index bytes, too few:", bytes_.size());
  }
  bool const bit = (std::to_integer<unsigned>(bytes_[at_ / 8]) >> (at_ % 8) & 1U) != 0;
  ++at_;
  return bit;
}

std::vector<std::uint32_t> rice_reader::next(std::size_t count, std::size_t universe)
{
  if (count > universe) {
    refuse_message("number of kept elements of an array", count);
  }
  std::vector<std::uint32_t> numbers;
  if (count == 0) {
    return numbers;
  }
  std::uint32_t const width = rice_exponent(count, universe);
  std::uint64_t least       = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t gap = 0;
    while (next_bit()) {
      gap += std::uint64_t{1} << width;
    }
    for (std::uint32_t bit = 0; bit < width; ++bit) {
      gap |= static_cast<std::uint64_t>(next_bit()) << bit;
    }
    if (gap >= universe - least) {
      refuse_message("gap beyond the end of an array", gap);
    }
    numbers.push_back(static_cast<std::uint32_t>(least + gap));
    least += gap + 1;
  }
  return numbers;
}

void rice_reader::end() const
{
  if (bytes_.size() != (at_ + 7) / 8) {
    refuse_message("number of index bytes", bytes_.size());
  }
  if (at_ % 8 != 0 && std::to_integer<unsigned>(bytes_[at_ / 8]) >> (at_ % 8) != 0) {
    refuse_message("padding of the index", std::to_integer<unsigned>(bytes_[at_ / 8]));
  }
}

}  // namespace bird::trainer
