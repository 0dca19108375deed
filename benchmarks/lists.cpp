/// lists: many tensors in one call against one call for each, on tensors with the shapes of ResNet-50.
#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "codec.hpp"
#include "rows.hpp"

namespace bird::bench {
namespace {

/// Elements of ResNet-50's 161 parameters: 53 convolutions, each with a scale and a shift, and one linear
/// layer.
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

/// The list laid over one gradient; vectors go dense, as they would in training. `share` divides all counts.
std::vector<const_tensor_view> tensors_of(inputs& data, std::size_t share)
{
  std::vector<std::size_t> counts = resnet50();
  for (std::size_t& count : counts) {
    count = std::max<std::size_t>(1, count / share);
  }
  std::size_t const total   = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  span<float const> const x = data.gradient(total);
  std::vector<const_tensor_view> tensors;
  std::size_t first = 0;
  for (std::size_t const count : counts) {
    bool const vector = count <= 2048 / share;
    tensors.push_back(
      {x.data() + first, count, dtype::float32, 0, vector ? segment_role::dense : segment_role::sampled});
    first += count;
  }
  return tensors;
}

std::size_t elements_of(std::size_t share)
{
  std::size_t total = 0;
  for (std::size_t const count : resnet50()) {
    total += std::max<std::size_t>(1, count / share);
  }
  return total;
}

}  // namespace

void add_lists(suite& rows, inputs& data, axes const& over)
{
  // A quick run takes a list of the same shape that is smaller by as much as its other sizes are.
  std::size_t const share = axes{}.large / over.large;
  std::size_t const total = elements_of(share);
  auto const elements     = static_cast<double>(total);
  work const amount{elements * sizeof(float), elements};
  for (int const threads : over.threads) {
    for (std::uint32_t const tile : {256U, 8U}) {
      compressor_options const options = full_values(tile == 8 ? 0.1 : 0.01, tile);
      std::string const what           = codec_name(options, dtype::float32);
      std::string const one_call       = label("161 tensors in one call, " + what, total, threads);
      std::string const one_each       = label("161 tensors in a call each, " + what, total, threads);
      rows.measure({one_call, threads, amount, [=, &data] {
                      auto const list = std::make_shared<codec>(tensors_of(data, share), options);
                      list->compress();
                      if (list->report().dense_bytes != total * sizeof(float)) {
                        throw std::runtime_error{"the list lost elements"};
                      }
                      return [list] { list->compress(); };
                    }});
      rows.measure({one_each, threads, amount, [=, &data] {
                      auto const single = std::make_shared<std::vector<codec>>();
                      for (const_tensor_view const& tensor : tensors_of(data, share)) {
                        single->emplace_back(std::vector<const_tensor_view>{tensor}, options);
                      }
                      return [single] {
                        for (codec& each : *single) {
                          each.compress();
                        }
                      };
                    }});
      rows.compare({label("161 tensors, one call / one call each, " + what, total, threads),
                    one_call,
                    {one_each},
                    unit::gigabytes_per_second,
                    std::nullopt});
    }
  }
}

}  // namespace bird::bench
