#include "sampled_threshold.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "threads.hpp"
#include "threshold.hpp"

namespace bird::peers {
namespace {

/// One run of a hundred: 1 %, the larger of DGC's two values; more of a gradient too small for that.
std::size_t sample_stride(std::size_t count)
{
  return std::min<std::size_t>(100, std::max<std::size_t>(1, count / 16384));
}

/// The k elements of `kept` of largest magnitude, in place.
std::size_t keep_largest(sparse_buffer& kept, std::size_t count, std::size_t k, array<std::uint32_t>& keys)
{
  if (count > keys.size()) {
    keys = array<std::uint32_t>{count};
  }
  std::transform(kept.value(), kept.value() + count, keys.data(), magnitude_bits);
  std::uint32_t const threshold = kth_largest({keys.data(), count}, k);
  std::size_t left              = 0;
  for (std::size_t i = 0; i < count; ++i) {
    // Written always, kept or not: the branch could not be predicted.
    kept.index()[left] = kept.index()[i];
    kept.value()[left] = kept.value()[i];
    left += keys[i] >= threshold ? 1U : 0U;
  }
  return drop_ties(kept, left, threshold, k);
}

/// The k-th largest of the sample.
std::uint32_t kth_of_sample(array<std::uint32_t>& sample, std::size_t count, std::size_t k, sample_select how)
{
  if (how == sample_select::radix) {
    return kth_largest({sample.data(), count}, k);
  }
  std::nth_element(sample.begin(), sample.begin() + (k - 1), sample.begin() + count, std::greater<>{});
  return sample[k - 1];
}

std::size_t sample_rank(std::size_t k, std::size_t sample_count, std::size_t count)
{
  double const rank = static_cast<double>(k) * static_cast<double>(sample_count) / static_cast<double>(count);
  return std::min(std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(rank))), sample_count);
}

/// The threshold that a share `share` of exponentially distributed numbers of this mean exceeds.
double exponential_threshold(double mean, double share) { return mean * std::log(1 / share); }

}  // namespace

sparse_view dgc_like(span<float const> gradient, std::size_t k, sample_select how, sampled_buffers& buffers)
{
  constexpr double tolerated = 1.3;  // above this share of k the selection is repeated on what was kept
  std::size_t const sample_count =
    sample_runs(gradient, sample_stride(gradient.size()), buffers.sample.data());
  std::uint32_t const threshold =
    sample_count == 0
      ? 0
      : kth_of_sample(buffers.sample, sample_count, sample_rank(k, sample_count, gradient.size()), how);
  std::size_t count = compress_above(gradient, threshold, buffers.kept).count;
  if (static_cast<double>(count) > tolerated * static_cast<double>(k)) {
    count = keep_largest(buffers.kept, count, k, buffers.sample);
  }
  return buffers.kept.first(count);
}

sparse_view sidco_like(span<float const> gradient, std::size_t k, sampled_buffers& buffers)
{
  constexpr double first_share = 0.25;  // SIDCo's delta_1
  double const share           = static_cast<double>(k) / static_cast<double>(gradient.size());
  tail const all               = sum_above(gradient, 0);
  double threshold             = 0;
  if (share >= first_share) {
    threshold = exponential_threshold(all.sum / static_cast<double>(all.count), share);
  } else {
    double const first = exponential_threshold(all.sum / static_cast<double>(all.count), first_share);
    tail const beyond  = sum_above(gradient, magnitude_bits(static_cast<float>(first)));
    double const mean  = beyond.sum / static_cast<double>(std::max<std::size_t>(1, beyond.count)) - first;
    double const left  = static_cast<double>(beyond.count) / static_cast<double>(gradient.size());
    threshold          = first + (left > share ? exponential_threshold(mean, share / left) : 0.0);
  }
  return compress_above(gradient, magnitude_bits(static_cast<float>(threshold)), buffers.kept);
}

sparse_view sampled_select(span<float const> gradient, std::size_t k, sampled_buffers& buffers)
{
  std::size_t const sample_count =
    sample_runs(gradient, sample_stride(gradient.size()), buffers.sample.data());
  std::size_t const rank = sample_rank(k, sample_count, gradient.size());
  // A line's 16 elements may go together, so the rank's variance is up to 16 times the binomial one.
  auto const margin             = static_cast<std::size_t>(5 * 4 * std::sqrt(static_cast<double>(rank)));
  std::uint32_t const threshold = sample_count == 0 ? 0
                                                    : kth_largest({buffers.sample.data(), sample_count},
                                                                  std::min(rank + margin, sample_count));
  std::size_t count             = compress_above(gradient, threshold, buffers.kept).count;
  if (count < k) {
    count = compress_above(gradient, 0, buffers.kept).count;
  }
  return buffers.kept.first(keep_largest(buffers.kept, count, k, buffers.sample));
}

}  // namespace bird::peers
