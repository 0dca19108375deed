/// One tensor compressed and decoded under many keys, element by element.
#pragma once

#include <functional>
#include <vector>

#include "codec_call.hpp"
#include "statistics.hpp"

namespace codec_test {

/// Calls visit(decoded elements of the first tensor, report) for steps 0, 1, ... of one seed.
template <class Visit>
void for_each_step(bird::compressor_options const& options, std::vector<tensor> const& list,
                   std::uint32_t steps, Visit const& visit)
{
  bird::compressor const codec{options};
  auto const views = views_of(list);
  std::vector<std::byte> packet(codec.packet_capacity(views));
  std::vector<std::byte> scratch(codec.compress_scratch_bytes(views));
  std::vector<std::vector<float>> decoded;
  std::vector<bird::tensor_view> outputs;
  for (tensor const& one : list) {
    decoded.emplace_back(one.shape.count);
  }
  for (std::vector<float>& output : decoded) {
    outputs.push_back({output.data(), output.size(), bird::dtype::float32});
  }
  for (std::uint32_t step = 0; step < steps; ++step) {
    auto const report = codec.compress(views, {20231106, step, 5}, packet, scratch, bird::on_host);
    bird::decompress({packet.data(), report.packet_bytes}, outputs, bird::on_host);
    visit(decoded, report);
  }
}

/// L1 or L2 norms of the tiles of some elements.
inline std::vector<double> tile_norms(std::vector<float> const& elements, std::size_t tile, bird::norm kind)
{
  std::vector<double> norms((elements.size() + tile - 1) / tile, 0.0);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    auto const x = static_cast<double>(elements[i]);
    norms[i / tile] += kind == bird::norm::l1 ? std::abs(x) : x * x;
  }
  for (double& norm : norms) {
    norm = kind == bird::norm::l1 ? norm : std::sqrt(norm);
  }
  return norms;
}

inline double sum_of(std::vector<double> const& terms)
{
  double sum = 0;
  for (double const term : terms) {
    sum += term;
  }
  return sum;
}

/// |a - b|^2, or |a|^2 when there is no b.
inline double squared_distance(std::vector<float> const& a, std::vector<float> const& b)
{
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    double const d = static_cast<double>(a[i]) - (b.empty() ? 0 : static_cast<double>(b[i]));
    sum += d * d;
  }
  return sum;
}

}  // namespace codec_test
