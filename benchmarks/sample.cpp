/// sample: from norms to slots, which with systematic sampling is also the index compaction.
///
/// The peer is what a threshold compressor does with norms: std::copy_if of the numbers of those above it.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "codec.hpp"
#include "host/stages.hpp"
#include "list_plan.hpp"
#include "rows.hpp"

namespace bird::bench {
namespace {

constexpr double density = 0.1;

/// A list of one tensor whose norms have been taken.
struct sampler {
  compressor_options options;
  list_plan plan;
  peers::array<std::byte> memory;
  host::scratch_view scratch;
  std::vector<host::norm_summary> summaries{1};
  std::vector<host::segment_sample> samples{1};
  std::uint32_t step = 0;

  sampler(const_tensor_view const& tensor, compressor_options chosen)
    : options{chosen}, plan{plan_list({&tensor, 1}, options)}, memory{host::scratch_bytes(plan, options)}
  {
    scratch = host::carve(plan, options, memory.data());
    host::tile_norms(plan, options.norm, scratch.norms, host::which_segments::all, summaries);
  }

  std::uint64_t run()
  {
    rule::philox_key const key = rule::stream_key(1, ++step, 0);
    return host::sample(plan, options, key, summaries, scratch, samples);
  }
};

std::string measure_sample(suite& rows, inputs& data, std::size_t count, sampling how, std::uint32_t tile,
                           int threads)
{
  std::string const name =
    label(std::string{"sample "} + to_string(how) + ", tile " + std::to_string(tile), count, threads);
  double const tiles = static_cast<double>(count) / tile;
  rows.measure({name, threads, {tiles * sizeof(float), tiles}, [=, &data] {
                  const_tensor_view const tensor = data.tensor(count, dtype::float32);
                  compressor_options options     = full_values(density, tile);
                  options.sampling               = how;
                  auto const stage               = std::make_shared<sampler>(tensor, options);
                  auto const slots               = static_cast<double>(stage->run());
                  if (how != sampling::bi_random && slots != std::ceil(density * tiles)) {
                    throw std::runtime_error{"the number of slots is " + std::to_string(slots)};
                  }
                  return [stage] { stage->run(); };
                }});
  return name;
}

std::string measure_copy_if(suite& rows, inputs& data, std::size_t count, std::uint32_t tile, int threads)
{
  std::string const name = label("std::copy_if of ids, tile " + std::to_string(tile), count, threads);
  double const tiles     = static_cast<double>(count) / tile;
  rows.measure({name, threads, {tiles * sizeof(float), tiles}, [=, &data] {
                  const_tensor_view const tensor = data.tensor(count, dtype::float32);
                  auto const stage         = std::make_shared<sampler>(tensor, full_values(density, tile));
                  float const* const norms = stage->scratch.norms;
                  std::vector<float> sorted(norms, norms + stage->plan.tiles);
                  auto const k = sorted.begin() +
                                 static_cast<std::ptrdiff_t>(density * static_cast<double>(sorted.size()));
                  std::nth_element(sorted.begin(), k, sorted.end(), std::greater<>{});
                  float const threshold = *k;
                  auto const ids        = std::make_shared<std::vector<std::uint32_t>>(stage->plan.tiles);
                  auto const kept       = std::make_shared<std::vector<std::uint32_t>>(stage->plan.tiles);
                  std::iota(ids->begin(), ids->end(), 0U);
                  return [=, keep = stage] {
                    std::copy_if(ids->begin(), ids->end(), kept->begin(),
                                 [=](std::uint32_t tile_number) { return norms[tile_number] > threshold; });
                  };
                }});
  return name;
}

}  // namespace

void add_sample(suite& rows, inputs& data, axes const& over)
{
  for (int const threads : over.threads) {
    std::size_t const count = over.large;
    for (sampling const how : {sampling::systematic, sampling::bi_random, sampling::top}) {
      rows.compare({label(std::string{"sample "} + to_string(how) + " d=0.1 tile 8 / std::copy_if of ids",
                          count, threads),
                    measure_sample(rows, data, count, how, 8, threads),
                    {measure_copy_if(rows, data, count, 8, threads)},
                    unit::gigaelements_per_second,
                    std::nullopt});
    }
  }
}

}  // namespace bird::bench
