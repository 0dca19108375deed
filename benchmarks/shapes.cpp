#include "shapes.hpp"

#include <algorithm>
#include <numeric>

namespace bird::bench {

std::vector<std::size_t> resnet50()
{
  std::vector<std::size_t> counts;
  auto const convolution = [&](std::size_t in, std::size_t out, std::size_t width) {
    counts.push_back(in * out * width * width);
    counts.push_back(out);
    counts.push_back(out);
  };
  convolution(3, 64, 7);
  std::size_t channels            = 64;
  std::size_t const blocks[]      = {3, 4, 6, 3};
  std::size_t const bottleneck[]  = {64, 128, 256, 512};
  constexpr std::size_t expansion = 4;
  for (std::size_t stage = 0; stage < 4; ++stage) {
    for (std::size_t block = 0; block < blocks[stage]; ++block) {
      std::size_t const inner = bottleneck[stage];
      convolution(channels, inner, 1);
      convolution(inner, inner, 3);
      convolution(inner, inner * expansion, 1);
      if (block == 0) {
        convolution(channels, inner * expansion, 1);
      }
      channels = inner * expansion;
    }
  }
  counts.push_back(channels * 1000);
  counts.push_back(1000);
  return counts;
}

std::vector<std::size_t> bert_large()
{
  constexpr std::size_t width = 1024;
  std::vector<std::size_t> counts{30522 * width, 512 * width, 2 * width, width, width};
  auto const linear = [&](std::size_t in, std::size_t out) {
    counts.push_back(in * out);
    counts.push_back(out);
  };
  auto const layer_norm = [&] { counts.insert(counts.end(), {width, width}); };
  for (int layer = 0; layer < 24; ++layer) {
    for (int projection = 0; projection < 4; ++projection) {
      linear(width, width);
    }
    layer_norm();
    linear(width, 4 * width);
    linear(4 * width, width);
    layer_norm();
  }
  linear(width, width);
  return counts;
}

std::vector<std::size_t> shrunk(std::vector<std::size_t> counts, std::size_t share)
{
  for (std::size_t& count : counts) {
    count = std::max<std::size_t>(1, count / share);
  }
  return counts;
}

std::size_t elements_of(std::vector<std::size_t> const& counts)
{
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

}  // namespace bird::bench
