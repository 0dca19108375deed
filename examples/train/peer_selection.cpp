/// peer_selection: a radix select and a keyed permutation.
#include "peer_selection.hpp"

#include <algorithm>
#include <array>

#include "draw.cuh"

namespace bird::trainer {
namespace {

/// The k-th largest of `keys` (1 <= k <= size) by three histograms of 11, 10 and 10 bits: 31 bits hold
/// the order of all non-negative floats.
std::uint32_t kth_largest(std::vector<std::uint32_t> const& keys, std::size_t k)
{
  struct digit {
    std::uint32_t shift, width;
  };
  std::uint32_t prefix = 0, prefix_mask = 0;
  for (digit const part : {digit{20, 11}, digit{10, 10}, digit{0, 10}}) {
    std::array<std::size_t, 2048> histogram{};
    std::uint32_t const mask = (1U << part.width) - 1;
    for (std::uint32_t const key : keys) {
      if ((key & prefix_mask) == prefix) {
        ++histogram[key >> part.shift & mask];
      }
    }
    std::uint32_t bucket = mask;
    while (histogram[bucket] < k) {
      k -= histogram[bucket--];
    }
    prefix |= bucket << part.shift;
    prefix_mask |= mask << part.shift;
  }
  return prefix;
}

/// A permutation of 0 .. count - 1 as a pure function of the key: an alternating Feistel network on the
/// bits of count - 1, walked until it lands below count (fewer than two rounds of it on average). Its first
/// k images are k distinct positions.
class random_permutation {
 public:
  random_permutation(std::size_t count, sample_key key) : count_{count}
  {
    std::uint32_t const bits = std::max(2U, rule::bit_width(count - 1));
    low_bits_                = bits / 2;
    low_mask_                = (std::uint32_t{1} << low_bits_) - 1;
    high_mask_               = (std::uint32_t{1} << (bits - low_bits_)) - 1;
    auto const stream        = rule::stream_key(key.seed, key.step, key.tensor_id);
    for (std::uint32_t block = 0; block < rounds / 4; ++block) {
      auto const words = rule::philox({{block, 0, 0, permutation_tag}}, stream);
      std::copy_n(words.word, 4, round_key_.begin() + 4 * block);
    }
  }

  [[nodiscard]] std::uint32_t operator()(std::uint32_t number) const
  {
    do {
      number = shuffled(number);
    } while (number >= count_);
    return number;
  }

 private:
  static constexpr std::uint32_t rounds          = 8;
  static constexpr std::uint32_t permutation_tag = 0x7065726DU;  // no value of rule::purpose

  /// The finalizer of MurmurHash3.
  static std::uint32_t mixed(std::uint32_t x)
  {
    x ^= x >> 16;
    x *= 0x85EBCA6BU;
    x ^= x >> 13;
    x *= 0xC2B2AE35U;
    return x ^ x >> 16;
  }

  [[nodiscard]] std::uint32_t shuffled(std::uint32_t number) const
  {
    std::uint32_t low = number & low_mask_, high = number >> low_bits_;
    for (std::uint32_t round = 0; round < rounds; round += 2) {
      high ^= mixed(low ^ round_key_[round]) & high_mask_;
      low ^= mixed(high ^ round_key_[round + 1]) & low_mask_;
    }
    return high << low_bits_ | low;
  }

  std::size_t count_;
  std::uint32_t low_bits_, low_mask_, high_mask_;
  std::array<std::uint32_t, rounds> round_key_{};
};

}  // namespace

std::vector<std::uint32_t> largest_positions(std::vector<std::uint32_t> const& keys, std::size_t k)
{
  std::uint32_t const threshold = kth_largest(keys, k);
  auto ties                     = static_cast<std::ptrdiff_t>(k);
  for (std::uint32_t const key : keys) {
    ties -= key > threshold ? 1 : 0;
  }
  std::vector<std::uint32_t> positions;
  positions.reserve(k);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] > threshold || (keys[i] == threshold && threshold != 0 && ties-- > 0)) {
      positions.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return positions;
}

std::vector<std::uint32_t> random_positions(std::size_t count, std::size_t k, sample_key key)
{
  random_permutation const permutation{count, key};
  std::vector<std::uint32_t> positions(k);
  for (std::size_t i = 0; i < k; ++i) {
    positions[i] = permutation(static_cast<std::uint32_t>(i));
  }
  return positions;
}

}  // namespace bird::trainer
