/// compress: the whole way from a gradient to a packet, against the limits.
#include "compress.hpp"
#include "codec.hpp"
#include "rows.hpp"

namespace bird::bench {

std::string measure_compress(suite& rows, inputs& data, std::size_t count, dtype type,
                             compressor_options options, int threads)
{
  std::string const name = label("compress, " + codec_name(options, type), count, threads);
  auto const elements    = static_cast<double>(count);
  rows.measure({name, threads, {elements * element_bytes(type), elements}, [=, &data] {
                  auto const made = checked_codec(data, count, type, options);
                  return [made] { made->compress(); };
                }});
  return name;
}

namespace {

constexpr dtype fp32 = dtype::float32;

/// Rows that compare one way of compressing with the read limit.
void add_read_rows(suite& rows, inputs& data, axes const& over, int threads)
{
  auto const row = [&](std::size_t count, dtype type, compressor_options options,
                       std::optional<double> goal) {
    rows.compare({label("compress " + codec_name(options, type) + " / best read", count, threads),
                  measure_compress(rows, data, count, type, options, threads), best_read(count, threads),
                  unit::gigabytes_per_second, goal});
  };
  row(over.large, fp32, full_values(0.01, 256), 0.80);
  row(over.large, fp32, full_values(0.1, 256), 0.65);
  row(over.large, fp32, full_values(0.001, 256), std::nullopt);
  for (std::uint32_t const tile : {1U, 8U, 64U, 1024U}) {
    row(over.large, fp32, full_values(0.01, tile), std::nullopt);
  }
  row(over.medium, fp32, full_values(0.01, 256), std::nullopt);
  row(over.small, fp32, full_values(0.01, 256), std::nullopt);
  row(over.large, dtype::float16, full_values(0.01, 256), std::nullopt);
  row(over.large, dtype::bfloat16, full_values(0.01, 256), std::nullopt);

  row(over.large, fp32, preset("tile"), std::nullopt);
  row(over.large, fp32, preset("sign1"), std::nullopt);
  compressor_options other = full_values(0.01, 256);
  other.values             = values::sign;
  row(over.large, fp32, other, std::nullopt);
  other          = full_values(0.01, 256);
  other.sampling = sampling::top;
  row(over.large, fp32, other, std::nullopt);
}

void add_own_rows(suite& rows, inputs& data, axes const& over, int threads)
{
  std::size_t const count      = over.large;
  compressor_options const own = full_values(0.01, 256);
  std::string const compressed = measure_compress(rows, data, count, fp32, own, threads);
  rows.compare({label("compress d=0.01 tile 256 / memcpy", count, threads),
                compressed,
                {memcpy_of(count, threads)},
                unit::gigabytes_per_second,
                1.3});
  for (dtype const type : {dtype::float16, dtype::bfloat16}) {
    rows.compare({label(std::string{"compress "} + to_string(type) + " / fp32, elements", count, threads),
                  measure_compress(rows, data, count, type, own, threads),
                  {compressed},
                  unit::gigaelements_per_second,
                  1.7});
  }
  compressor_options blind = own;
  blind.sampling           = sampling::uniform;
  blind.blind              = true;
  rows.compare({label("compress blind / systematic, d=0.01 tile 256", count, threads),
                measure_compress(rows, data, count, fp32, blind, threads),
                {compressed},
                unit::gigabytes_per_second,
                15.0});
  for (index const names : {index::u32, index::bitmap}) {
    compressor_options fine = full_values(0.1, 8);
    std::string const coded = measure_compress(rows, data, count, fp32, fine, threads);
    fine.index              = names;
    rows.compare(
      {label(std::string{"compress elias_fano / "} + to_string(names) + ", d=0.1 tile 8", count, threads),
       coded,
       {measure_compress(rows, data, count, fp32, fine, threads)},
       unit::gigabytes_per_second,
       std::nullopt});
  }
}

}  // namespace

void add_compress(suite& rows, inputs& data, axes const& over)
{
  for (int const threads : over.threads) {
    add_read_rows(rows, data, over, threads);
    add_own_rows(rows, data, over, threads);
  }
}

}  // namespace bird::bench
