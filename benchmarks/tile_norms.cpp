/// tile_norms: the first stage alone, against the read limit.
#include <memory>
#include <stdexcept>
#include <vector>

#include "host/stages.hpp"
#include "list_plan.hpp"
#include "rows.hpp"
#include "tile_norm.cuh"

namespace bird::bench {
namespace {

std::string name_of(std::uint32_t tile, dtype type)
{
  return std::string{"tile norms, "} + to_string(type) + ", tile " + std::to_string(tile);
}

struct norms {
  list_plan plan;
  std::vector<float> norm;
  std::vector<host::norm_summary> summaries;

  void run() { host::tile_norms(plan, norm::l1, norm.data(), host::which_segments::all, summaries); }
};

/// A few tiles against the rule, which is what the stage has to equal bit for bit.
void check(norms const& stage, const_tensor_view tensor, std::uint32_t tile)
{
  if (tensor.type != dtype::float32) {
    return;
  }
  auto const* const x = static_cast<float const*>(tensor.data);
  for (std::uint64_t t = 0; t < stage.plan.tiles; t += 1 + stage.plan.tiles / 1000) {
    float const expected = rule::norm_of(norm::l1, x + t * tile, tile).norm;
    if (stage.norm[t] != expected) {
      throw std::runtime_error{"norm of tile " + std::to_string(t) + " differs from the rule"};
    }
  }
}

std::string measure(suite& rows, inputs& data, std::size_t count, std::uint32_t tile, dtype type, int threads)
{
  std::string const name = label(name_of(tile, type), count, threads);
  auto const elements    = static_cast<double>(count);
  rows.measure({name, threads, {elements * element_bytes(type), elements}, [=, &data] {
                  const_tensor_view const tensor = data.tensor(count, type);
                  compressor_options options;
                  options.tile = tile;
                  auto stage   = std::make_shared<norms>();
                  stage->plan  = plan_list({&tensor, 1}, options);
                  stage->norm.resize(stage->plan.tiles);
                  stage->summaries.resize(1);
                  stage->run();
                  check(*stage, tensor, tile);
                  return [stage] { stage->run(); };
                }});
  return name;
}

}  // namespace

void add_tile_norms(suite& rows, inputs& data, axes const& over)
{
  std::size_t const count = over.large;
  for (int const threads : over.threads) {
    for (std::uint32_t const tile : {8U, 64U, 256U, 1024U}) {
      rows.compare({label(name_of(tile, dtype::float32) + " / best read", count, threads),
                    measure(rows, data, count, tile, dtype::float32, threads), best_read(count, threads),
                    unit::gigabytes_per_second, std::nullopt});
    }
    for (dtype const type : {dtype::float16, dtype::bfloat16}) {
      rows.compare({label(name_of(256, type) + " / fp32, elements", count, threads),
                    measure(rows, data, count, 256, type, threads),
                    {measure(rows, data, count, 256, dtype::float32, threads)},
                    unit::gigaelements_per_second,
                    std::nullopt});
    }
  }
}

}  // namespace bird::bench
