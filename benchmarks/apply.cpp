/// apply: a server adds packets to its tensors, against adding sparse elements and whole dense updates.
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "codec.hpp"
#include "peers/bandwidth.hpp"
#include "peers/radix_select.hpp"
#include "peers/scatter.hpp"
#include "rows.hpp"

namespace bird::bench {
namespace {

constexpr float weight = 1.0F / 1024;  // small, so that sums stay finite however often they are made

span<float> sum_of(inputs& data, std::size_t count)
{
  return {reinterpret_cast<float*>(data.output("sum", count * sizeof(float)).data()), count};
}

/// Packets of several workers, each with a key of its own.
struct packets {
  std::vector<std::shared_ptr<codec>> workers;
  std::vector<weighted_packet> list;
  tensor_view sum;

  void apply() { bird::apply(list, {&sum, 1}, on_host); }
};

/// What a row counts as bytes.
enum class counted { payload, moved };

/// Bytes of the packets; or those that must move: the payload is read, and every sum it touches read and
/// written.
double bytes_of(std::size_t count, double density, int workers, counted what)
{
  double const kept = density * static_cast<double>(count) * workers;
  return kept * (what == counted::payload ? sizeof(float) : 3 * sizeof(float));
}

std::string measure_apply(suite& rows, inputs& data, std::size_t count, double density, int workers,
                          counted what, int threads)
{
  std::string const name =
    label("apply " + std::to_string(workers) + " x " + codec_name(full_values(density, 256), dtype::float32) +
            (what == counted::payload ? ", payload" : ", moved"),
          count, threads);
  rows.measure(
    {name, threads, {bytes_of(count, density, workers, what), static_cast<double>(count)}, [=, &data] {
       auto const made       = std::make_shared<packets>();
       span<float> const sum = sum_of(data, count);
       made->sum             = {sum.data(), count, dtype::float32};
       for (int worker = 0; worker < workers; ++worker) {
         made->workers.push_back(checked_codec(data, count, dtype::float32, full_values(density, 256)));
         for (int step = 0; step < worker; ++step) {  // the keys, and so the tiles, of workers differ
           made->workers.back()->compress();
         }
         made->list.push_back({made->workers.back()->packet(), weight});
       }
       return [made] { made->apply(); };
     }});
  return name;
}

std::string measure_scatter_add(suite& rows, inputs& data, std::size_t count, double density, int threads)
{
  std::string const name = label("scatter-add of elements, d=" + std::to_string(density), count, threads);
  double const payload   = density * static_cast<double>(count) * (sizeof(float) + sizeof(std::uint32_t));
  rows.measure({name, threads, {payload, static_cast<double>(count)}, [=, &data] {
                  auto const buffers    = std::make_shared<peers::radix_buffers>(count);
                  auto const k          = static_cast<std::size_t>(density * static_cast<double>(count));
                  auto const top        = peers::radix_select(data.gradient(count), k, *buffers);
                  span<float> const sum = sum_of(data, count);
                  return [top, sum, keep = buffers] { peers::scatter_add(top, weight, sum); };
                }});
  return name;
}

std::string measure_axpy(suite& rows, inputs& data, std::size_t count, int threads)
{
  std::string const name = label("dense update (axpy)", count, threads);
  auto const elements    = static_cast<double>(count);
  rows.measure({name, threads, {elements * sizeof(float), elements}, [=, &data] {
                  span<float const> const x = data.gradient(count);
                  span<float> const sum     = sum_of(data, count);
                  return [=] { peers::axpy(x, weight, sum); };
                }});
  return name;
}

}  // namespace

void add_apply(suite& rows, inputs& data, axes const& over)
{
  for (int const threads : over.threads) {
    std::size_t const count = over.large;
    for (double const density : {0.01, 0.1}) {
      std::string const share = density == 0.1 ? "0.1" : "0.01";
      rows.compare({label("apply over scatter-add, payload bytes, d=" + share + " tile 256", count, threads),
                    measure_apply(rows, data, count, density, 1, counted::payload, threads),
                    {measure_scatter_add(rows, data, count, density, threads)},
                    unit::gigabytes_per_second,
                    4.0});
    }
    struct crowd {
      int workers;
      std::size_t count;
    };
    for (crowd const many : {crowd{1, over.large}, crowd{4, over.large}, crowd{16, over.medium}}) {
      rows.compare({label("apply " + std::to_string(many.workers) +
                            (many.workers == 1 ? " packet" : " packets") + " d=0.1 tile 256 / best copy",
                          many.count, threads),
                    measure_apply(rows, data, many.count, 0.1, many.workers, counted::moved, threads),
                    best_copy_both_ways(many.count, threads), unit::gigabytes_per_second, std::nullopt});
    }
    rows.compare({label("apply 1 packet d=0.01 over dense update, elements", count, threads),
                  measure_apply(rows, data, count, 0.01, 1, counted::payload, threads),
                  {measure_axpy(rows, data, count, threads)},
                  unit::gigaelements_per_second,
                  std::nullopt});
  }
}

}  // namespace bird::bench
