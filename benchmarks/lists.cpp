/// lists: many tensors in one call against one call for each, on tensors with the shapes of ResNet-50.
#include <memory>
#include <stdexcept>
#include <vector>

#include "codec.hpp"
#include "rows.hpp"
#include "shapes.hpp"

namespace bird::bench {
namespace {

/// The list laid over one gradient; vectors go dense, as they would in training. `share` divides all counts.
std::vector<const_tensor_view> tensors_of(inputs& data, std::size_t share)
{
  std::vector<std::size_t> const counts = shrunk(resnet50(), share);
  span<float const> const x             = data.gradient(elements_of(counts));
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

}  // namespace

void add_lists(suite& rows, inputs& data, axes const& over)
{
  // A quick run takes a list of the same shape that is smaller by as much as its other sizes are.
  std::size_t const share = axes{}.large / over.large;
  std::size_t const total = elements_of(shrunk(resnet50(), share));
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
