#include "codec.hpp"

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace bird::bench {
namespace {

[[noreturn]] void wrong(std::string const& what) { throw std::runtime_error{what}; }

/// Full fp32 values: every decoded tile is zero or the tensor's own times one factor. A slot of systematic
/// sampling carries the same norm as any other, so that the norm of the whole is kept as well.
void check_tiles(span<float const> x, span<float const> decoded, std::uint64_t tile, std::uint64_t slots,
                 bool whole)
{
  std::uint64_t kept  = 0;
  double norm         = 0;
  double decoded_norm = 0;
  for (std::size_t first = 0; first < x.size(); first += tile) {
    std::size_t const end = std::min<std::size_t>(first + tile, x.size());
    std::size_t largest   = first;
    bool zero             = true;
    for (std::size_t i = first; i < end; ++i) {
      largest = std::abs(x[i]) > std::abs(x[largest]) ? i : largest;
      zero    = zero && decoded[i] == 0.0F;
      norm += static_cast<double>(std::abs(x[i]));
      decoded_norm += static_cast<double>(std::abs(decoded[i]));
    }
    if (zero) {
      continue;
    }
    ++kept;
    float const factor = decoded[largest] / x[largest];
    for (std::size_t i = first; i < end; ++i) {
      if (!(factor > 0.0F && std::abs(decoded[i] - factor * x[i]) <= 1e-6F * std::abs(decoded[largest]))) {
        wrong("element " + std::to_string(i) + " differs from its tile's factor times the tensor's");
      }
    }
  }
  if (kept == 0 || kept > slots) {
    wrong(std::to_string(kept) + " tiles were decoded of " + std::to_string(slots) + " slots");
  }
  if (whole && std::abs(decoded_norm - norm) > 1e-4 * norm) {
    wrong("the decoded norm is " + std::to_string(decoded_norm) + ", not " + std::to_string(norm));
  }
}

}  // namespace

codec::codec(std::vector<const_tensor_view> tensors, compressor_options options)
  : tensors_{std::move(tensors)},
    compressor_{options},
    packet_{compressor_.packet_capacity(tensors_)},
    scratch_{compressor_.compress_scratch_bytes(tensors_)}
{
}

void codec::compress()
{
  ++key_.step;
  report_ = compressor_.compress(tensors_, key_, {packet_.data(), packet_.size()},
                                 {scratch_.data(), scratch_.size()}, on_host);
}

std::shared_ptr<codec> checked_codec(inputs& data, std::size_t count, dtype type, compressor_options options)
{
  const_tensor_view const tensor = data.tensor(count, type);
  auto const made                = std::make_shared<codec>(std::vector<const_tensor_view>{tensor}, options);
  made->compress();
  std::uint64_t const tiles = (count + options.tile - 1) / options.tile;
  auto const expected = static_cast<std::uint64_t>(std::ceil(options.ratio * static_cast<double>(tiles)));
  if (made->report().kept_slots != expected) {
    wrong(std::to_string(made->report().kept_slots) + " slots were kept, not " + std::to_string(expected));
  }
  if (type == dtype::float32 && options.values == values::full) {
    auto* const decoded      = reinterpret_cast<float*>(data.output("dense", count * sizeof(float)).data());
    tensor_view const output = {decoded, count, type};
    decompress(made->packet(), {&output, 1}, on_host);
    check_tiles(data.gradient(count), {decoded, count}, options.tile, expected,
                options.sampling == sampling::systematic);
  }
  return made;
}

compressor_options full_values(double ratio, std::uint32_t tile)
{
  compressor_options options;
  options.sampling = sampling::systematic;
  options.values   = values::full;
  options.index    = index::elias_fano;
  options.ratio    = ratio;
  options.tile     = tile;
  return options;
}

std::string codec_name(compressor_options const& options, dtype type)
{
  std::string name;
  if (options.sampling != sampling::systematic) {
    name += std::string{to_string(options.sampling)} + (options.blind ? " blind " : " ");
  }
  if (options.values != values::full) {
    name += std::string{to_string(options.values)} + " ";
  }
  if (options.index != index::elias_fano) {
    name += std::string{to_string(options.index)} + " ";
  }
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "d=%g tile %u", options.ratio, options.tile);
  name += numbers;
  return type == dtype::float32 ? name : name + " " + to_string(type);
}

}  // namespace bird::bench
