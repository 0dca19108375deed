#include "shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "bird/error.hpp"
#include "dataset.hpp"

namespace bird::trainer {
namespace {

constexpr int most_draws = 100;

/// Shares of one class: independent gammas over their sum.
std::vector<double> draw_shares(int workers, double alpha, std::mt19937_64& random)
{
  std::gamma_distribution<double> gamma{alpha, 1.0};
  std::vector<double> shares(static_cast<std::size_t>(workers));
  for (double& share : shares) {
    share = gamma(random);
  }
  double const sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) {
    // A tiny alpha can make every gamma underflow to zero; then the class is split evenly.
    share = sum > 0 ? share / sum : 1.0 / workers;
  }
  return shares;
}

}  // namespace

std::vector<shard> deal_evenly(std::uint32_t count, int workers, std::uint64_t seed)
{
  shard order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937_64{seed});
  std::vector<shard> shards(static_cast<std::size_t>(workers));
  for (std::size_t i = 0; i < order.size(); ++i) {
    shards[i % shards.size()].push_back(order[i]);
  }
  return shards;
}

std::vector<shard> deal_skewed(span<std::uint8_t const> labels, int workers, double alpha,
                               std::uint32_t at_least, std::uint64_t seed)
{
  std::mt19937_64 random{seed};
  std::vector<shard> by_class(class_count);
  for (std::uint32_t i = 0; i < labels.size(); ++i) {
    by_class[labels[i]].push_back(i);
  }
  for (shard& images : by_class) {
    std::shuffle(images.begin(), images.end(), random);
  }
  for (int draw = 0; draw < most_draws; ++draw) {
    std::vector<shard> shards(static_cast<std::size_t>(workers));
    for (shard const& images : by_class) {
      std::vector<double> const shares = draw_shares(workers, alpha, random);
      double end                       = 0;
      std::size_t first                = 0;
      for (std::size_t worker = 0; worker < shards.size(); ++worker) {
        end += shares[worker];
        std::size_t const last =
          worker + 1 == shards.size()
            ? images.size()
            : std::clamp(static_cast<std::size_t>(std::lround(end * static_cast<double>(images.size()))),
                         first, images.size());
        for (; first < last; ++first) {
          shards[worker].push_back(images[first]);
        }
      }
    }
    if (std::all_of(shards.begin(), shards.end(), [&](shard const& s) { return s.size() >= at_least; })) {
      return shards;
    }
  }
  throw invalid_argument{
    fmt::format("--skew {}: {} draws left some of {} workers with fewer than {} images (a batch); raise it",
                alpha, most_draws, workers, at_least)};
}

}  // namespace bird::trainer
