/// decompress: from a packet to a dense gradient, against filling memory and against other decoders.
#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "codec.hpp"
#include "peers/radix_select.hpp"
#include "peers/scatter.hpp"
#include "rows.hpp"

namespace bird::bench {
namespace {

constexpr double density = 0.01;

work dense(std::size_t count)
{
  auto const elements = static_cast<double>(count);
  return {elements * sizeof(float), elements};
}

span<float> output_of(inputs& data, std::size_t count)
{
  return {reinterpret_cast<float*>(data.output("dense", count * sizeof(float)).data()), count};
}

std::string measure_ours(suite& rows, inputs& data, std::size_t count, compressor_options options,
                         int threads)
{
  std::string const name = label("decompress, " + codec_name(options, dtype::float32), count, threads);
  rows.measure({name, threads, dense(count), [=, &data] {
                  auto const packet = checked_codec(data, count, dtype::float32, options);
                  auto* const out   = output_of(data, count).data();
                  return [=] {
                    tensor_view const tensor{out, count, dtype::float32};
                    decompress(packet->packet(), {&tensor, 1}, on_host);
                  };
                }});
  return name;
}

/// The peer whose packet holds whole tiles but which fills first: every hundredth tile.
std::string measure_fill_and_copy(suite& rows, inputs& data, std::size_t count, std::uint32_t tile,
                                  int threads)
{
  std::string const name = label("memset, then copy tiles of " + std::to_string(tile), count, threads);
  rows.measure({name, threads, dense(count), [=, &data] {
                  std::size_t const kept = count / tile / 100;
                  auto const tiles       = std::make_shared<std::vector<std::uint32_t>>(kept);
                  for (std::size_t i = 0; i < kept; ++i) {
                    (*tiles)[i] = static_cast<std::uint32_t>(100 * i + i * 31 % 100);
                  }
                  span<float const> const values = data.gradient(count).first(kept * tile);
                  span<float> const out          = output_of(data, count);
                  return [=] { peers::fill_and_copy_tiles({tiles->data(), values.data(), kept, tile}, out); };
                }});
  return name;
}

std::string measure_scatter(suite& rows, inputs& data, std::size_t count, int threads)
{
  std::string const name = label("memset, then scatter elements", count, threads);
  rows.measure({name, threads, dense(count), [=, &data] {
                  auto const buffers    = std::make_shared<peers::radix_buffers>(count);
                  auto const k          = static_cast<std::size_t>(density * static_cast<double>(count));
                  auto const top        = peers::radix_select(data.gradient(count), k, *buffers);
                  span<float> const out = output_of(data, count);
                  peers::fill_and_scatter(top, out);
                  if (static_cast<std::size_t>(std::count(out.begin(), out.end(), 0.0F)) != count - k) {
                    throw std::runtime_error{"the scatter lost elements"};
                  }
                  return [top, out, keep = buffers] { peers::fill_and_scatter(top, out); };
                }});
  return name;
}

}  // namespace

void add_decompress(suite& rows, inputs& data, axes const& over)
{
  for (int const threads : over.threads) {
    auto const fill_row = [&](std::size_t count, compressor_options const& options,
                              std::optional<double> goal) {
      rows.compare(
        {label("decompress " + codec_name(options, dtype::float32) + " / best fill", count, threads),
         measure_ours(rows, data, count, options, threads), best_fill(count, threads),
         unit::gigabytes_per_second, goal});
    };
    fill_row(over.large, full_values(0.01, 256), 0.90);
    fill_row(over.large, full_values(0.1, 256), std::nullopt);
    fill_row(over.medium, full_values(0.01, 256), std::nullopt);
    fill_row(over.large, preset("tile"), std::nullopt);
    fill_row(over.large, preset("sign1"), std::nullopt);

    std::string const ours = measure_ours(rows, data, over.large, full_values(0.01, 256), threads);
    rows.compare({label("decompress over memset, then copy of tiles", over.large, threads),
                  ours,
                  {measure_fill_and_copy(rows, data, over.large, 256, threads)},
                  unit::gigabytes_per_second,
                  std::nullopt});
    rows.compare({label("decompress over memset, then scatter of elements", over.large, threads),
                  ours,
                  {measure_scatter(rows, data, over.large, threads)},
                  unit::gigabytes_per_second,
                  std::nullopt});
  }
}

}  // namespace bird::bench
