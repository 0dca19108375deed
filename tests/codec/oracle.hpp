/// Selection written from the documentation of the rules, slowly: which tiles are drawn, how often, and what
/// a draw stands for. Shares no code with kernels/ or src/.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace oracle {

__extension__ typedef unsigned __int128 wide;

using block = std::array<std::uint32_t, 4>;

/// Philox4x32-10 as Salmon et al. (SC 2011), figure 2 and table 2, have it.
inline block philox(block c, std::array<std::uint32_t, 2> k)
{
  for (int round = 0; round < 10; ++round) {
    std::uint64_t const a = std::uint64_t{0xD2511F53} * c[0];
    std::uint64_t const b = std::uint64_t{0xCD9E8D57} * c[2];
    c                     = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(b),
                             static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(a)};
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return c;
}

/// The stream of one packet: draw.cuh.
class stream {
 public:
  stream(std::uint64_t seed, std::uint32_t step, std::uint32_t tensor_id)
  {
    block const b = philox({step, tensor_id, 0x6B657973, 0},
                           {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    key_          = {b[0], b[1]};
  }
  [[nodiscard]] std::uint32_t word(std::uint32_t segment, std::uint32_t purpose, std::uint64_t number) const
  {
    std::uint64_t const at = number / 4;
    return philox({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at >> 32), segment, purpose},
                  key_)[number % 4];
  }

 private:
  std::array<std::uint32_t, 2> key_{};
};

inline constexpr std::uint32_t survive = 1, thin = 2, offset = 3, stratum = 4;

struct drawn {
  std::uint64_t tile;
  double multiplier;  ///< one over the expected number of draws
};

/// What one segment's sample is.
struct sample {
  std::vector<drawn> slots;     ///< sorted by tile
  double norm_per_slot    = 0;  ///< sign: what a slot carries
  std::uint64_t survivors = 0;  ///< bi_random: B
};

inline int bits(std::uint64_t value)
{
  int count = 0;
  for (; value != 0; value /= 2) {
    ++count;
  }
  return count;
}

/// K = ceil(ratio * tiles), the product as a double, and at least 1.
inline std::uint64_t slot_limit(double ratio, std::uint64_t tiles)
{
  auto const k = static_cast<std::uint64_t>(std::ceil(ratio * static_cast<double>(tiles)));
  return tiles == 0 ? 0 : std::min(std::max<std::uint64_t>(k, 1), tiles);
}

/// weight.cuh: norms in units of a power of two that gives the largest of them its bits.
struct weights {
  std::vector<std::uint64_t> of;
  double unit;

  explicit weights(std::vector<float> const& norms)
  {
    double const largest = static_cast<double>(*std::max_element(norms.begin(), norms.end()));
    int exponent         = 0;
    std::frexp(largest, &exponent);
    exponent      = std::max(exponent, -125);  // sub-normals share the exponent of the least normal number
    int const own = std::min(40, 62 - bits(norms.size()));
    unit          = std::ldexp(1.0, exponent - own);
    for (float const norm : norms) {
      auto const weight = static_cast<std::uint64_t>(std::floor(static_cast<double>(norm) / unit));
      of.push_back(norm > 0 ? std::max<std::uint64_t>(weight, 1) : 0);
    }
  }
};

/// systematic.cuh. `exact`: tiles that would own a slot or more get one and stand outside (values in full).
inline sample systematic(std::vector<float> const& norms, std::uint64_t slots, bool exact,
                         stream const& random, std::uint32_t segment)
{
  weights const w{norms};
  std::uint64_t total = 0, largest = 0, positive = 0;
  for (std::uint64_t const weight : w.of) {
    total += weight;
    largest = std::max(largest, weight);
    positive += weight > 0 ? 1 : 0;
  }
  std::uint64_t threshold = ~std::uint64_t{0}, certain = 0;
  std::uint64_t rest = total;
  if (exact && positive <= slots && static_cast<wide>(largest) * slots > total) {
    threshold = 1;
    certain   = positive;
    rest      = 0;
  } else if (exact && static_cast<wide>(largest) * slots > total) {
    // Bins of eight to an octave, from the heaviest: the least weight of each, its tiles and their sum.
    std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>, std::greater<>> bins;
    for (std::uint64_t const weight : w.of) {
      if (weight > 0) {
        std::uint64_t const octave = std::uint64_t{1} << (bits(weight) - 1);
        std::uint64_t const part   = (weight - octave) * 8 / octave;
        auto& bin                  = bins[octave + (part * octave + 7) / 8];
        ++bin.first;
        bin.second += weight;
      }
    }
    for (auto const& [least, bin] : bins) {
      if (static_cast<wide>(least) * (slots - certain) < rest) {
        break;
      }
      threshold = least;
      certain += bin.first;
      rest -= bin.second;
    }
  }
  std::uint64_t const shared = rest == 0 ? 0 : slots - certain;
  std::uint64_t const word =
    std::uint64_t{random.word(segment, offset, 1)} << 32 | random.word(segment, offset, 0);
  auto const r = static_cast<std::uint64_t>(static_cast<wide>(word) * rest >> 64);

  sample result;
  std::uint64_t sum = 0, next = 0;
  for (std::uint64_t tile = 0; tile < w.of.size(); ++tile) {
    if (w.of[tile] >= threshold) {
      result.slots.push_back({tile, 1.0});
      continue;
    }
    sum += w.of[tile];
    while (next < shared && static_cast<std::uint64_t>((static_cast<wide>(next) * rest + r) / shared) < sum) {
      result.slots.push_back(
        {tile, static_cast<double>(rest) / static_cast<double>(shared) / static_cast<double>(w.of[tile])});
      ++next;
    }
  }
  result.norm_per_slot = static_cast<double>(total) * w.unit / static_cast<double>(slots);
  return result;
}

/// bi_random.cuh.
inline sample bi_random(std::vector<float> const& norms, std::uint64_t slots, double gamma,
                        stream const& random, std::uint32_t segment)
{
  auto const largest = static_cast<double>(*std::max_element(norms.begin(), norms.end()));
  auto const chance  = [&](float norm) -> std::uint64_t {
    if (!(norm > 0)) {
      return 0;
    }
    double const share = static_cast<double>(norm) / largest;
    double const q     = gamma == 1 ? share : std::pow(share, gamma);
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(q * 4294967296.0), 1);
  };
  struct survivor {
    std::uint32_t word;
    std::uint64_t tile;
  };
  std::vector<survivor> alive;
  double expected = 0, layer = 0;
  weights const w{norms};
  for (std::uint64_t tile = 0; tile < norms.size(); ++tile) {
    expected += static_cast<double>(chance(norms[tile])) / 4294967296.0;
    layer += static_cast<double>(w.of[tile]) * w.unit;
    if (random.word(segment, survive, tile) < chance(norms[tile])) {
      alive.push_back({random.word(segment, thin, tile), tile});
    }
  }
  sample result;
  result.survivors = alive.size();
  if (alive.size() > slots) {
    std::sort(alive.begin(), alive.end(),
              [](survivor a, survivor b) { return a.word != b.word ? a.word < b.word : a.tile < b.tile; });
    alive.resize(slots);
    std::sort(alive.begin(), alive.end(), [](survivor a, survivor b) { return a.tile < b.tile; });
  }
  double const stands_for = static_cast<double>(result.survivors) / static_cast<double>(alive.size());
  for (survivor const& one : alive) {
    result.slots.push_back(
      {one.tile, stands_for * 4294967296.0 / static_cast<double>(chance(norms[one.tile]))});
  }
  result.norm_per_slot = stands_for * (gamma == 1 ? largest : layer / expected);
  return result;
}

/// uniform.cuh: one tile of each stratum; tiles of zeros are not sent.
inline sample uniform(std::vector<float> const& norms, std::uint64_t slots, stream const& random,
                      std::uint32_t segment)
{
  sample result;
  double sum = 0;
  for (std::uint64_t s = 0; s < slots; ++s) {
    std::uint64_t const first  = s * norms.size() / slots;
    std::uint64_t const length = (s + 1) * norms.size() / slots - first;
    std::uint64_t const tile   = first + (std::uint64_t{random.word(segment, stratum, s)} * length >> 32);
    if (norms[tile] > 0) {
      result.slots.push_back({tile, static_cast<double>(length)});
      sum += static_cast<double>(length) * static_cast<double>(norms[tile]);
    }
  }
  result.norm_per_slot = result.slots.empty() ? 0 : sum / static_cast<double>(result.slots.size());
  return result;
}

/// The K tiles of largest norm; of equal ones the first.
inline sample top(std::vector<float> const& norms, std::uint64_t slots)
{
  std::vector<std::uint64_t> order;
  for (std::uint64_t tile = 0; tile < norms.size(); ++tile) {
    if (norms[tile] > 0) {
      order.push_back(tile);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint64_t a, std::uint64_t b) { return norms[a] > norms[b]; });
  order.resize(std::min<std::uint64_t>(order.size(), slots));
  std::sort(order.begin(), order.end());
  sample result;
  double sum = 0;
  for (std::uint64_t const tile : order) {
    result.slots.push_back({tile, 1.0});
    sum += static_cast<double>(norms[tile]);
  }
  result.norm_per_slot = order.empty() ? 0 : sum / static_cast<double>(order.size());
  return result;
}

}  // namespace oracle
