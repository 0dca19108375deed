#include "gpu/device_codec.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace bird::bench {
namespace {

constexpr sample_key key_of(std::uint32_t step) { return {1, step, 0}; }

}  // namespace

device_codec::device_codec(std::vector<std::vector<const_tensor_view>> lists, compressor_options options)
  : lists_{std::move(lists)},
    compressor_{options},
    packet_{compressor_.packet_capacity(lists_[0])},
    scratch_{compressor_.compress_scratch_bytes(lists_[0])}
{
}

void device_codec::compress(std::size_t i, std::uint32_t step, cudaStream_t stream)
{
  compressor_.compress(lists_[i % lists_.size()], key_of(step), packet_.bytes(), scratch_.bytes(), stream);
}

std::size_t device_codec::decode_scratch_bytes(std::size_t packets) const
{
  return compressor_.decode_scratch_bytes(lists_[0], packets);
}

void device_codec::check_against(std::vector<const_tensor_view> const& on_host)
{
  codec host{on_host, compressor_.options()};
  host.compress();  // step 1
  compress(0, 1, nullptr);
  device::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  span<std::byte const> const expected = host.packet();
  auto const got                       = packet_.download<std::byte>(expected.size());
  auto const at = std::mismatch(expected.begin(), expected.end(), got.begin()).first - expected.begin();
  if (static_cast<std::size_t>(at) != expected.size()) {
    throw std::runtime_error{"byte " + std::to_string(at) + " of " + std::to_string(expected.size()) +
                             " is not the host packet's"};
  }
}

std::shared_ptr<device_codec> checked_device_codec(device_inputs& data, std::size_t count, dtype type,
                                                   compressor_options options)
{
  std::vector<std::vector<const_tensor_view>> lists;
  for (auto const& copy : data.copies(count, type)) {
    lists.push_back({{copy->as<void>(), count, type}});
  }
  auto const made = std::make_shared<device_codec>(std::move(lists), options);
  made->check_against({data.on_host(count, type)});
  return made;
}

}  // namespace bird::bench
