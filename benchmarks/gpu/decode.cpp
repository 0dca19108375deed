/// decompress and apply on the device, against the limits and against doing it element by element.
#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "gpu/device_codec.hpp"
#include "gpu/device_rows.hpp"
#include "gpu/peers.hpp"

namespace bird::bench {
namespace {

constexpr float weight = 1.0F / 1024;  // small, so that sums stay finite however often they are made

/// Packets in device memory, and what one call decodes them with.
struct packets {
  std::vector<std::shared_ptr<device_codec>> codecs;
  std::vector<weighted_packet> list;
  std::unique_ptr<device_buffer> scratch;
};

std::shared_ptr<packets> packets_of(device_inputs& data, std::size_t count, compressor_options options,
                                    std::size_t workers)
{
  auto const made = std::make_shared<packets>();
  for (std::size_t worker = 0; worker < workers; ++worker) {
    made->codecs.push_back(checked_device_codec(data, count, dtype::float32, options));
    made->codecs.back()->compress(0, static_cast<std::uint32_t>(worker), nullptr);
    made->list.push_back({made->codecs.back()->packet(), weight});
  }
  made->scratch = std::make_unique<device_buffer>(made->codecs[0]->decode_scratch_bytes(workers));
  device::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return made;
}

/// The packet's values as the host decodes them.
void check_decoded_values(packets const& made, std::size_t count, device_buffer const& decoded)
{
  span<std::byte const> const packet = made.list[0].packet;
  peers::array<std::byte> host_packet{packet.size()};
  device::check(cudaMemcpy(host_packet.data(), packet.data(), packet.size(), cudaMemcpyDeviceToHost),
                "cudaMemcpy");
  std::vector<float> expected(count);
  tensor_view const output{expected.data(), count, dtype::float32};
  decompress({host_packet.data(), packet_bytes({host_packet.data(), packet.size()})}, {&output, 1}, on_host);
  if (decoded.download<float>(count) != expected) {
    throw std::runtime_error{"decoded elements are not the host's"};
  }
}

std::string measure_decompress(suite& rows, device_inputs& data, std::size_t count,
                               compressor_options options)
{
  std::string const name = device_label("decompress, " + codec_name(options, dtype::float32), count);
  auto const elements    = static_cast<double>(count);
  rows.measure({name, 1, {elements * sizeof(float), elements}, {}, [=, &data] {
                  auto const made = packets_of(data, count, options, 1);
                  auto const& out = data.outputs(count * sizeof(float));
                  auto const call = [=, &out](std::size_t i, cudaStream_t stream) {
                    tensor_view const output{out[i % out.size()]->as<void>(), count, dtype::float32};
                    decompress(made->list[0].packet, {&output, 1}, made->scratch->bytes(), stream);
                  };
                  call(0, nullptr);
                  check_decoded(made->scratch->bytes(), cudaStreamLegacy);
                  check_decoded_values(*made, count, *out[0]);
                  auto const timed =
                    std::make_shared<replay>(data.turns_for(count * sizeof(float)).calls, call);
                  return [timed] { return (*timed)(); };
                }});
  return name;
}

/// Bytes that must move: the payload is read, and every sum it touches read and written.
double apply_bytes(std::size_t count, double density, std::size_t workers)
{
  return density * static_cast<double>(count) * static_cast<double>(workers) * 3 * sizeof(float);
}

std::string measure_apply(suite& rows, device_inputs& data, std::size_t count, double density,
                          std::size_t workers)
{
  compressor_options const options = full_values(density, 256);
  std::string const name =
    device_label("apply " + std::to_string(workers) + " x " + codec_name(options, dtype::float32), count);
  rows.measure({name, 1, {apply_bytes(count, density, workers), static_cast<double>(count)}, {}, [=, &data] {
                  auto const made  = packets_of(data, count, options, workers);
                  auto const& sums = data.outputs(count * sizeof(float));
                  auto const call  = [=, &sums](std::size_t i, cudaStream_t stream) {
                    tensor_view const sum{sums[i % sums.size()]->as<void>(), count, dtype::float32};
                    apply(made->list, {&sum, 1}, made->scratch->bytes(), stream);
                  };
                  call(0, nullptr);
                  check_decoded(made->scratch->bytes(), cudaStreamLegacy);
                  auto const timed =
                    std::make_shared<replay>(data.turns_for(count * sizeof(float)).calls, call);
                  return [timed] { return (*timed)(); };
                }});
  return name;
}

/// Elements at random places, as a top-k leaves them.
struct scattered {
  scattered(device_inputs& data, std::size_t count, std::size_t k)
    : values{k * sizeof(float)}, places{k * sizeof(std::uint32_t)}
  {
    values.upload(data.on_host(count, dtype::float32).data);
    std::vector<std::uint32_t> host(k);
    for (std::size_t i = 0; i < k; ++i) {  // one in each stretch of count / k
      std::size_t const stretch = count / k;
      host[i]                   = static_cast<std::uint32_t>(i * stretch + i * 2654435761U % stretch);
    }
    places.upload(host.data());
  }
  [[nodiscard]] sparse_elements view() const
  {
    return {values.as<float>(), places.as<std::uint32_t>(), nullptr};
  }
  device_buffer values;
  device_buffer places;
};

enum class adds { overwrite, accumulate };

std::string measure_scatter(suite& rows, device_inputs& data, std::size_t count, double density, adds how)
{
  std::string const name =
    device_label(std::string{how == adds::overwrite ? "memset and scatter" : "scatter-add"} +
                   " of elements, d=" + std::to_string(density),
                 count);
  auto const elements = static_cast<double>(count);
  rows.measure({name, 1, {elements * sizeof(float), elements}, {}, [=, &data] {
                  auto const k    = static_cast<std::size_t>(density * static_cast<double>(count));
                  auto const from = std::make_shared<scattered>(data, count, k);
                  auto const& out = data.outputs(count * sizeof(float));
                  auto const made =
                    std::make_shared<replay>(data.turns_for(count * sizeof(float)).calls,
                                             [=, &out](std::size_t i, cudaStream_t stream) {
                                               auto* const dense = out[i % out.size()]->as<float>();
                                               auto const n      = static_cast<std::uint32_t>(k);
                                               if (how == adds::overwrite) {
                                                 scatter(from->view(), n, dense, count, stream);
                                               } else {
                                                 scatter_add(from->view(), n, weight, dense, stream);
                                               }
                                             });
                  return [made] { return (*made)(); };
                }});
  return name;
}

std::string measure_axpy(suite& rows, device_inputs& data, std::size_t count)
{
  std::string const name = device_label("dense update (axpy)", count);
  auto const elements    = static_cast<double>(count);
  rows.measure(
    {name, 1, {elements * sizeof(float), elements}, {}, [=, &data] {
       auto const& x   = data.copies(count, dtype::float32);
       auto const& out = data.outputs(count * sizeof(float));
       auto const made = std::make_shared<replay>(
         data.turns_for(count * sizeof(float)).calls, [=, &x, &out](std::size_t i, cudaStream_t stream) {
           axpy(x[i % x.size()]->as<float>(), weight, out[i % out.size()]->as<float>(), count, stream);
         });
       return [made] { return (*made)(); };
     }});
  return name;
}

}  // namespace

void add_device_decode(suite& rows, device_inputs& data, device_axes const& over)
{
  std::size_t const count = over.large;
  auto const row = [&](std::string const& what, std::string const& ours, std::string const& reference,
                       unit in, std::optional<double> goal, std::size_t size) {
    rows.compare({device_label(what, size), ours, {reference}, in, goal});
  };
  for (compressor_options const& options :
       {full_values(0.01, 256), full_values(0.1, 256), preset("tile"), preset("sign1")}) {
    bool const judged = options.tile == 256 && options.ratio < 0.05;
    row("decompress " + codec_name(options, dtype::float32) + " / fill",
        measure_decompress(rows, data, count, options), fill_limit(count), unit::gigabytes_per_second,
        judged ? std::optional{0.88} : std::nullopt, count);
  }
  row("decompress d=0.01 tile 256 / fill",
      measure_decompress(rows, data, over.bucket, full_values(0.01, 256)), fill_limit(over.bucket),
      unit::gigabytes_per_second, std::nullopt, over.bucket);
  row("decompress d=0.01 tile 256 over memset and scatter, elements",
      measure_decompress(rows, data, count, full_values(0.01, 256)),
      measure_scatter(rows, data, count, 0.01, adds::overwrite), unit::gigaelements_per_second, std::nullopt,
      count);

  struct crowd {
    std::size_t workers;
    std::size_t count;
  };
  for (crowd const many : {crowd{1, over.large}, crowd{4, over.large}, crowd{16, over.medium}}) {
    row("apply " + std::to_string(many.workers) + " x d=0.1 tile 256 / copy",
        measure_apply(rows, data, many.count, 0.1, many.workers), copy_limit(many.count),
        unit::gigabytes_per_second, many.workers == 1 ? std::optional{0.70} : std::nullopt, many.count);
  }
  row("apply 1 x d=0.01 over scatter-add of elements, elements", measure_apply(rows, data, count, 0.01, 1),
      measure_scatter(rows, data, count, 0.01, adds::accumulate), unit::gigaelements_per_second, std::nullopt,
      count);
  row("apply 1 x d=0.01 over a dense update, elements", measure_apply(rows, data, count, 0.01, 1),
      measure_axpy(rows, data, count), unit::gigaelements_per_second, std::nullopt, count);
}

}  // namespace bird::bench
