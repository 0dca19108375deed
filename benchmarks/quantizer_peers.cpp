/// compress against quantizers, which read as much and send every element in fewer bits.
///
/// Bytes sent for 64M elements (256 MiB): compress at d = 0.01 about 1/99, one bit 1/32, four bits 1/7.9,
/// fp16 1/2.
#include <cmath>
#include <memory>
#include <stdexcept>

#include "codec.hpp"
#include "compress.hpp"
#include "peers/quantize.hpp"
#include "rows.hpp"

namespace bird::bench {
namespace {

/// run(x, output) of a quantizer that writes at most `bits` an element.
template <class Run>
void add_row(suite& rows, inputs& data, char const* what, std::size_t count, int threads, std::size_t bits,
             Run run)
{
  std::string const name = label(what, count, threads);
  auto const elements    = static_cast<double>(count);
  rows.measure({name, threads, {elements * sizeof(float), elements}, [=, &data] {
                  span<float const> const x = data.gradient(count);
                  span<std::byte> const out = data.output("quantized", count * bits / 8);
                  std::byte const untouched = out[out.size() - 1];
                  run(x, out.data());
                  std::byte const once = out[out.size() - 1];
                  run(x, out.data());
                  if (once != out[out.size() - 1] ||
                      (once == untouched && out[0] == untouched && out[1] == untouched)) {
                    throw std::runtime_error{"the output was not written, or not twice alike"};
                  }
                  return [=] { run(x, out.data()); };
                }});
  rows.compare({label(std::string{"compress over "} + what, count, threads),
                measure_compress(rows, data, count, dtype::float32, full_values(0.01, 256), threads),
                {name},
                unit::gigabytes_per_second,
                std::nullopt});
}

}  // namespace

void add_quantizer_peers(suite& rows, inputs& data, axes const& over)
{
  std::size_t const count = over.large;
  for (int const threads : over.threads) {
    add_row(rows, data, "1-bit sign pack", count, threads, 1, [](span<float const> x, std::byte* out) {
      peers::sign_pack(x, reinterpret_cast<std::uint8_t*>(out));
    });
    auto const ranges = std::make_shared<std::vector<peers::bucket_range>>(count / peers::bucket_elements);
    add_row(rows, data, "4-bit bucket quantizer", count, threads, 4,
            [ranges](span<float const> x, std::byte* out) {
              peers::bucket_quantize(x, 1, reinterpret_cast<std::uint8_t*>(out), ranges->data());
            });
    add_row(rows, data, "fp16 cast", count, threads, 16, [](span<float const> x, std::byte* out) {
      peers::half_cast(x, reinterpret_cast<std::uint16_t*>(out));
    });
  }
}

}  // namespace bird::bench
