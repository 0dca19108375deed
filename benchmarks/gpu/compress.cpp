/// compress on the device, against the copy limit.
#include "gpu/device_codec.hpp"
#include "gpu/device_rows.hpp"

namespace bird::bench {

double compress_bytes(compressor_options const& options, dtype type)
{
  double const size   = element_bytes(type);
  double const stored = options.values == values::sign ? 1.0 / 8 : options.values == values::bf16 ? 2 : size;
  double const norms  = options.tile == 1 ? 0 : 8.0 / options.tile;
  double const all    = options.blind ? 0 : size;
  return all + options.ratio * (size + stored) + (options.blind ? 0 : norms);
}

std::string measure_device_compress(suite& rows, device_inputs& data, std::size_t count, dtype type,
                                    compressor_options options)
{
  std::string const name = device_label("compress, " + codec_name(options, type), count);
  auto const elements    = static_cast<double>(count);
  rows.measure({name, 1, {elements * compress_bytes(options, type), elements}, {}, [=, &data] {
                  auto const codec = checked_device_codec(data, count, type, options);
                  auto const made =
                    std::make_shared<replay>(data.turns_for(count * element_bytes(type)).calls,
                                             [codec](std::size_t i, cudaStream_t stream) {
                                               codec->compress(i, static_cast<std::uint32_t>(i), stream);
                                             });
                  return [made] { return (*made)(); };
                }});
  return name;
}

void add_device_compress(suite& rows, device_inputs& data, device_axes const& over)
{
  auto const row = [&](std::size_t count, dtype type, compressor_options options,
                       std::optional<double> goal) {
    rows.compare({device_label("compress " + codec_name(options, type) + " / copy", count),
                  measure_device_compress(rows, data, count, type, options),
                  {copy_limit(count)},
                  unit::gigabytes_per_second,
                  goal});
  };
  constexpr dtype fp32 = dtype::float32;
  row(over.large, fp32, full_values(0.01, 256), 0.80);
  row(over.large, fp32, full_values(0.1, 256), 0.80);
  row(over.large, fp32, full_values(0.001, 256), std::nullopt);
  for (std::uint32_t const tile : {1U, 8U, 64U, 1024U}) {
    row(over.large, fp32, full_values(0.01, tile), std::nullopt);
  }
  row(over.large, dtype::float16, full_values(0.01, 256), std::nullopt);
  row(over.large, dtype::bfloat16, full_values(0.01, 256), std::nullopt);
  for (char const* const name : {"tile", "sign1"}) {
    row(over.large, fp32, preset(name), std::nullopt);
  }
  row(over.medium, fp32, full_values(0.01, 256), std::nullopt);
  row(over.bucket, fp32, full_values(0.01, 256), std::nullopt);  // goal: 15 us, see the last column
  row(over.bucket, fp32, preset("tile"), std::nullopt);

  compressor_options blind = full_values(0.01, 256);
  blind.sampling           = sampling::uniform;
  blind.blind              = true;
  rows.compare({device_label("compress blind / systematic, d=0.01 tile 256, elements", over.large),
                measure_device_compress(rows, data, over.large, fp32, blind),
                {measure_device_compress(rows, data, over.large, fp32, full_values(0.01, 256))},
                unit::gigaelements_per_second,
                std::nullopt});
}

}  // namespace bird::bench
