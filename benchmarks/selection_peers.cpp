/// compress against compressors that keep single elements: exact top-k, thresholds, random-k.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>

#include "codec.hpp"
#include "compress.hpp"
#include "peers/ordered_select.hpp"
#include "peers/quickselect.hpp"
#include "peers/radix_select.hpp"
#include "peers/random_k.hpp"
#include "peers/sampled_threshold.hpp"
#include "peers/threshold.hpp"
#include "rows.hpp"

namespace bird::bench {
namespace {

using peers::sparse_view;

constexpr double density = 0.01;

/// Elements a peer may keep, as shares of k.
struct tolerance {
  double least;
  double most;
};
constexpr tolerance exact{1, 1};
constexpr tolerance sampled{0.7, 1.31};
constexpr tolerance fitted{0.2, 5};  // SIDCo's fit is for exponential data, which a gradient is only roughly

[[noreturn]] void wrong(std::string const& what) { throw std::runtime_error{what}; }

/// `kept` holds elements of x, as many as allowed, and no smaller than any that was left out.
void check_largest(span<float const> x, std::size_t k, sparse_view kept, tolerance allowed)
{
  double const share = static_cast<double>(kept.count) / static_cast<double>(k);
  if (share < allowed.least || share > allowed.most) {
    wrong(std::to_string(kept.count) + " elements were kept for k = " + std::to_string(k));
  }
  std::uint32_t least = 0x7FFFFFFFU;
  for (std::size_t i = 0; i < kept.count; ++i) {
    if (x[kept.index[i]] != kept.value[i]) {
      wrong("value " + std::to_string(i) + " is not the element that its index names");
    }
    least = std::min(least, peers::magnitude_bits(kept.value[i]));
  }
  if (peers::sum_above(x, least + 1).count > kept.count || peers::sum_above(x, least).count < kept.count) {
    wrong("a larger element was left out");
  }
}

/// Room of a peer, which all measurements of this size share: they never run at the same time.
template <class Buffers>
std::shared_ptr<Buffers> shared_buffers(std::size_t count)
{
  static std::map<std::size_t, std::weak_ptr<Buffers>> known;
  std::shared_ptr<Buffers> buffers = known[count].lock();
  if (!buffers) {
    buffers      = std::make_shared<Buffers>(count);
    known[count] = buffers;
  }
  return buffers;
}

/// A peer that needs Buffers: run(x, k, buffers).
template <class Buffers, class Run>
std::string measure_peer(suite& rows, inputs& data, char const* what, std::size_t count, int threads,
                         tolerance allowed, Run run)
{
  std::string const name = label(what, count, threads);
  auto const elements    = static_cast<double>(count);
  rows.measure({name, threads, {elements * sizeof(float), elements}, [=, &data] {
                  span<float const> const x = data.gradient(count);
                  auto const k              = static_cast<std::size_t>(std::ceil(density * elements));
                  auto const buffers        = shared_buffers<Buffers>(count);
                  check_largest(x, k, run(x, k, *buffers), allowed);
                  return [=] { run(x, k, *buffers); };
                }});
  return name;
}

template <class Run>
std::string measure_random(suite& rows, inputs& data, char const* what, std::size_t count, int threads,
                           Run run)
{
  std::string const name = label(what, count, threads);
  auto const elements    = static_cast<double>(count);
  rows.measure({name, threads, {elements * sizeof(float), elements}, [=, &data] {
                  span<float const> const x = data.gradient(count);
                  auto const kept           = shared_buffers<peers::sparse_buffer>(count);
                  auto const seed           = std::make_shared<std::uint64_t>(1);
                  double const found        = static_cast<double>(run(x, *seed, *kept).count);
                  if (std::abs(found - density * elements) > 6 * std::sqrt(density * elements) + 1) {
                    wrong("random-k kept " + std::to_string(found) + " elements");
                  }
                  return [=] { run(x, ++*seed, *kept); };
                }});
  return name;
}

void add_exact(suite& rows, inputs& data, std::size_t count, int threads, std::string const& ours)
{
  auto const row = [&](char const* what, std::string const& reference, std::optional<double> goal) {
    rows.compare({label(std::string{"compress over "} + what, count, threads),
                  ours,
                  {reference},
                  unit::gigabytes_per_second,
                  goal});
  };
  row("radix select (exact top-k)",
      measure_peer<peers::radix_buffers>(rows, data, "radix select", count, threads, exact,
                                         peers::radix_select),
      3.0);
  row("std::nth_element (exact top-k)",
      measure_peer<peers::ordered_buffers>(rows, data, "std::nth_element", count, threads, exact,
                                           peers::nth_element_select),
      25.0);
  row("parallel nth_element (exact top-k)",
      measure_peer<peers::ordered_buffers>(rows, data, "parallel nth_element", count, threads, exact,
                                           peers::parallel_nth_element_select),
      std::nullopt);
  row("vector quickselect (exact top-k)",
      measure_peer<peers::quickselect_buffers>(rows, data, "vector quickselect", count, threads, exact,
                                               peers::quickselect),
      std::nullopt);
  row("heap (exact top-k)",
      measure_peer<peers::ordered_buffers>(rows, data, "heap", count, threads, exact, peers::heap_top_k),
      std::nullopt);
  row("sampled select (exact top-k, one pass)",
      measure_peer<peers::sampled_buffers>(rows, data, "sampled select", count, threads, exact,
                                           peers::sampled_select),
      std::nullopt);
}

void add_thresholds(suite& rows, inputs& data, std::size_t count, int threads, std::string const& ours)
{
  auto const row = [&](char const* what, std::string const& reference, std::optional<double> goal) {
    rows.compare({label(std::string{"compress over "} + what, count, threads),
                  ours,
                  {reference},
                  unit::gigabytes_per_second,
                  goal});
  };
  auto const dgc = [](peers::sample_select how) {
    return [how](span<float const> x, std::size_t k, peers::sampled_buffers& buffers) {
      return peers::dgc_like(x, k, how, buffers);
    };
  };
  row("DGC-like (1 % sample, nth_element)",
      measure_peer<peers::sampled_buffers>(rows, data, "DGC-like", count, threads, sampled,
                                           dgc(peers::sample_select::nth_element)),
      1.6);
  row("DGC-like (1 % sample, radix select)",
      measure_peer<peers::sampled_buffers>(rows, data, "DGC-like with radix select", count, threads, sampled,
                                           dgc(peers::sample_select::radix)),
      std::nullopt);
  row(
    "SIDCo-like (two exponential fits)",
    measure_peer<peers::sampled_buffers>(rows, data, "SIDCo-like", count, threads, fitted, peers::sidco_like),
    2.3);
  auto const threshold = std::make_shared<std::uint32_t>(0);
  row("known threshold (compress-store)",
      measure_peer<peers::radix_buffers>(
        rows, data, "known threshold", count, threads, exact,
        [threshold](span<float const> x, std::size_t k, peers::radix_buffers& buffers) {
          if (*threshold == 0) {  // once, at the untimed first call
            sparse_view const top = peers::radix_select(x, k, buffers);
            *threshold            = 0x7FFFFFFFU;
            for (std::size_t i = 0; i < top.count; ++i) {
              *threshold = std::min(*threshold, peers::magnitude_bits(top.value[i]));
            }
          }
          sparse_view const kept = peers::compress_above(x, *threshold, buffers.kept);
          return buffers.kept.first(peers::drop_ties(buffers.kept, kept.count, *threshold, k));
        }),
      std::nullopt);
}

void add_random(suite& rows, inputs& data, std::size_t count, int threads, std::string const& ours)
{
  rows.compare({label("compress over random-k (Philox word an element)", count, threads),
                ours,
                {measure_random(rows, data, "random-k, Philox", count, threads,
                                [](span<float const> x, std::uint64_t seed, peers::sparse_buffer& kept) {
                                  return peers::random_k_philox(x, density, seed, kept);
                                })},
                unit::gigabytes_per_second,
                std::nullopt});
  compressor_options blind = full_values(density, 256);
  blind.sampling           = sampling::uniform;
  blind.blind              = true;
  rows.compare({label("compress blind over random-k (k draws, gather)", count, threads),
                measure_compress(rows, data, count, dtype::float32, blind, threads),
                {measure_random(rows, data, "random-k, draws", count, threads,
                                [](span<float const> x, std::uint64_t seed, peers::sparse_buffer& kept) {
                                  auto const k =
                                    static_cast<std::size_t>(density * static_cast<double>(x.size()));
                                  return peers::random_k_draws(x, k, seed, kept);
                                })},
                unit::gigabytes_per_second,
                std::nullopt});
}

}  // namespace

void add_selection_peers(suite& rows, inputs& data, axes const& over)
{
  for (int const threads : over.threads) {
    std::size_t const count = over.large;
    std::string const ours =
      measure_compress(rows, data, count, dtype::float32, full_values(density, 256), threads);
    add_exact(rows, data, count, threads, ours);
    add_thresholds(rows, data, count, threads, ours);
    add_random(rows, data, count, threads, ours);
  }
}

}  // namespace bird::bench
