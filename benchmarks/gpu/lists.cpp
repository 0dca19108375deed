/// lists: the tensors of a model in one call against a call for each; graphs against launches.
#include <memory>

#include "gpu/device_codec.hpp"
#include "gpu/device_rows.hpp"
#include "shapes.hpp"

namespace bird::bench {
namespace {

/// A model's tensors, one after the other in one gradient; vectors go dense, as they would in training.
std::vector<const_tensor_view> tensors_in(void const* gradient, std::vector<std::size_t> const& counts,
                                          std::size_t longest_vector)
{
  std::vector<const_tensor_view> tensors;
  auto const* at = static_cast<float const*>(gradient);
  for (std::size_t const count : counts) {
    bool const vector = count <= longest_vector;
    tensors.push_back({at, count, dtype::float32, 0, vector ? segment_role::dense : segment_role::sampled});
    at += count;
  }
  return tensors;
}

struct model {
  char const* name;
  std::vector<std::size_t> counts;
  std::size_t longest_vector;
};

void add_list(suite& rows, device_inputs& data, model const& m, compressor_options const& options)
{
  std::size_t const total = elements_of(m.counts);
  auto const elements     = static_cast<double>(total);
  work const amount{elements * compress_bytes(options, dtype::float32), elements};
  std::string const what  = std::string{m.name} + "'s tensors, " + codec_name(options, dtype::float32);
  std::string const whole = device_label(what + ", in one call", total);
  std::string const each  = device_label(what + ", in a call each", total);
  rows.measure(
    {whole, 1, amount, {}, [=, &data] {
       std::vector<std::vector<const_tensor_view>> lists;
       for (auto const& copy : data.copies(total, dtype::float32)) {
         lists.push_back(tensors_in(copy->as<void>(), m.counts, m.longest_vector));
       }
       auto const codec = std::make_shared<device_codec>(std::move(lists), options);
       codec->check_against(tensors_in(data.on_host(total, dtype::float32).data, m.counts, m.longest_vector));
       auto const made = std::make_shared<replay>(
         codec->lists(), [codec](std::size_t i, cudaStream_t stream) { codec->compress(i, 0, stream); });
       return [made] { return (*made)(); };
     }});
  rows.measure({each, 1, amount, {}, [=, &data] {
                  auto const codecs = std::make_shared<std::vector<std::unique_ptr<device_codec>>>();
                  auto const& copy  = data.copies(total, dtype::float32)[0];
                  for (auto const& one : tensors_in(copy->as<void>(), m.counts, m.longest_vector)) {
                    codecs->push_back(std::make_unique<device_codec>(
                      std::vector<std::vector<const_tensor_view>>{{one}}, options));
                  }
                  auto const made = std::make_shared<replay>(1, [codecs](std::size_t, cudaStream_t stream) {
                    for (auto const& codec : *codecs) {
                      codec->compress(0, 0, stream);
                    }
                  });
                  return [made] { return (*made)(); };
                }});
  rows.compare({device_label(what + ", one call / a call each", total),
                whole,
                {each},
                unit::gigabytes_per_second,
                std::nullopt});
}

void add_launches(suite& rows, device_inputs& data, std::size_t count)
{
  compressor_options const options = full_values(0.01, 256);
  std::string const launched       = device_label("compress launch by launch, d=0.01 tile 256", count);
  auto const elements              = static_cast<double>(count);
  rows.measure({launched, 1, {elements * compress_bytes(options, dtype::float32), elements}, {}, [=, &data] {
                  auto const codec = checked_device_codec(data, count, dtype::float32, options);
                  auto const made  = std::make_shared<launches>(
                    data.turns_for(count * sizeof(float)).calls,
                    [codec](std::size_t i, cudaStream_t stream) { codec->compress(i, 0, stream); });
                  return [made] { return (*made)(); };
                }});
  rows.compare({device_label("compress d=0.01 tile 256, graph / launches", count),
                measure_device_compress(rows, data, count, dtype::float32, options),
                {launched},
                unit::gigabytes_per_second,
                std::nullopt});
}

}  // namespace

void add_device_lists(suite& rows, device_inputs& data, device_axes const& over)
{
  std::size_t const vectors = 4096 / over.share;
  for (model const& m : {model{"ResNet-50", shrunk(resnet50(), over.share), vectors},
                         model{"BERT-Large", shrunk(bert_large(), over.share), vectors}}) {
    add_list(rows, data, m, full_values(0.01, 256));
    add_list(rows, data, m, preset("tile"));
  }
  add_launches(rows, data, over.bucket);
}

}  // namespace bird::bench
