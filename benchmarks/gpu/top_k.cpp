/// compress on the device, against exact top-k, a threshold that is known, and what a library's own calls do.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "codec.hpp"
#include "gpu/cub_peers.hpp"
#include "gpu/device_rows.hpp"
#include "gpu/peers.hpp"

namespace bird::bench {
namespace {

constexpr double density = 0.01;

/// The k-th largest magnitude, by the host.
float kth_magnitude(const_tensor_view const& tensor, std::size_t k)
{
  auto const* const x = static_cast<float const*>(tensor.data);
  std::vector<float> magnitudes(tensor.count);
  std::transform(x, x + tensor.count, magnitudes.begin(), [](float one) { return std::abs(one); });
  std::nth_element(magnitudes.begin(), magnitudes.begin() + static_cast<std::ptrdiff_t>(k - 1),
                   magnitudes.end(), std::greater<>{});
  return magnitudes[k - 1];
}

/// Room for the elements that a selection keeps.
struct selection {
  explicit selection(std::size_t capacity)
    : values{capacity * sizeof(float)}, places{capacity * sizeof(std::uint32_t)}, count{sizeof(std::uint32_t)}
  {
  }
  [[nodiscard]] sparse_elements view() const
  {
    return {values.as<float>(), places.as<std::uint32_t>(), count.as<std::uint32_t>()};
  }
  device_buffer values;
  device_buffer places;
  device_buffer count;
};

/// k elements, none below the k-th largest magnitude, each once and with its own value.
void check_top_k(selection const& got, const_tensor_view const& tensor, std::size_t k, float least)
{
  device::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  std::size_t const kept = got.count.download<std::uint32_t>(1)[0];
  if (kept != k) {
    throw std::runtime_error{std::to_string(kept) + " elements were kept, not " + std::to_string(k)};
  }
  auto const values   = got.values.download<float>(k);
  auto places         = got.places.download<std::uint32_t>(k);
  auto const* const x = static_cast<float const*>(tensor.data);
  for (std::size_t i = 0; i < k; ++i) {
    if (places[i] >= tensor.count || x[places[i]] != values[i] || std::abs(values[i]) < least) {
      throw std::runtime_error{"element " + std::to_string(i) + " is not among the largest"};
    }
  }
  std::sort(places.begin(), places.end());
  if (std::adjacent_find(places.begin(), places.end()) != places.end()) {
    throw std::runtime_error{"an element was kept twice"};
  }
}

work dense(std::size_t count)
{
  auto const elements = static_cast<double>(count);
  return {elements * sizeof(float), elements};
}

template <class Call>
std::function<double()> replayed(device_inputs const& data, std::size_t count, Call const& call)
{
  auto const made = std::make_shared<replay>(data.turns_for(count * sizeof(float)).calls, call);
  return [made] { return (*made)(); };
}

std::string measure_radix(suite& rows, device_inputs& data, std::size_t count)
{
  std::string const name = device_label("radix top-k in the manner of AIR", count);
  rows.measure({name, 1, dense(count), {}, [=, &data] {
                  auto const k          = static_cast<std::size_t>(density * static_cast<double>(count));
                  auto const& x         = data.copies(count, dtype::float32);
                  auto const out        = std::make_shared<selection>(k);
                  auto const candidates = std::make_shared<selection>(count);
                  auto const state      = std::make_shared<device_buffer>(sizeof(radix_state));
                  auto const call       = [=, &x](std::size_t i, cudaStream_t stream) {
                    radix_top_k(x[i % x.size()]->as<float>(), static_cast<std::uint32_t>(count),
                                      static_cast<std::uint32_t>(k), state->as<radix_state>(), candidates->view(),
                                      out->view(), stream);
                  };
                  call(0, nullptr);
                  const_tensor_view const host = data.on_host(count, dtype::float32);
                  check_top_k(*out, host, k, kth_magnitude(host, k));
                  return replayed(data, count, call);
                }});
  return name;
}

std::string measure_threshold(suite& rows, device_inputs& data, std::size_t count)
{
  std::string const name = device_label("all above a known threshold", count);
  rows.measure({name, 1, dense(count), {}, [=, &data] {
                  auto const k      = static_cast<std::size_t>(density * static_cast<double>(count));
                  auto const& x     = data.copies(count, dtype::float32);
                  float const least = kth_magnitude(data.on_host(count, dtype::float32), k);
                  auto const out    = std::make_shared<selection>(count);
                  auto const call   = [=, &x](std::size_t i, cudaStream_t stream) {
                    select_threshold(x[i % x.size()]->as<float>(), static_cast<std::uint32_t>(count), least,
                                       out->view(), stream);
                  };
                  call(0, nullptr);
                  device::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
                  if (out->count.download<std::uint32_t>(1)[0] < k) {
                    throw std::runtime_error{"elements above the threshold were lost"};
                  }
                  return replayed(data, count, call);
                }});
  return name;
}

std::string measure_reduce(suite& rows, device_inputs& data, std::size_t count)
{
  std::string const name = device_label("cub::DeviceReduce of magnitudes", count);
  rows.measure({name, 1, dense(count), {}, [=, &data] {
                  auto const& x      = data.copies(count, dtype::float32);
                  auto const n       = static_cast<std::uint32_t>(count);
                  auto const scratch = std::make_shared<device_buffer>(cub_peers::scratch_bytes(n));
                  auto const sum     = std::make_shared<device_buffer>(sizeof(float));
                  return replayed(data, count, [=, &x](std::size_t i, cudaStream_t stream) {
                    cub_peers::sum_of_magnitudes(x[i % x.size()]->as<float>(), n, sum->as<float>(),
                                                 scratch->as<void>(), scratch->bytes().size(), stream);
                  });
                }});
  return name;
}

std::string measure_flagged(suite& rows, device_inputs& data, std::size_t count)
{
  std::string const name = device_label("cub::DeviceSelect::Flagged, flags known", count);
  rows.measure({name, 1, dense(count), {}, [=, &data] {
                  auto const& x      = data.copies(count, dtype::float32);
                  auto const n       = static_cast<std::uint32_t>(count);
                  auto const scratch = std::make_shared<device_buffer>(cub_peers::scratch_bytes(n));
                  auto const out     = std::make_shared<selection>(count);
                  auto const flags   = std::make_shared<device_buffer>(count);
                  std::vector<std::uint8_t> host(count, 0);
                  for (std::size_t i = 0; i < count; i += 100) {
                    host[i] = 1;
                  }
                  flags->upload(host.data());
                  return replayed(data, count, [=, &x](std::size_t i, cudaStream_t stream) {
                    cub_peers::select_flagged(x[i % x.size()]->as<float>(), flags->as<std::uint8_t>(), n,
                                              out->values.as<float>(), out->count.as<std::uint32_t>(),
                                              scratch->as<void>(), scratch->bytes().size(), stream);
                  });
                }});
  return name;
}

std::string measure_sort(suite& rows, device_inputs& data, std::size_t count)
{
  std::string const name = device_label("cub::DeviceRadixSort of magnitudes and places", count);
  rows.measure({name, 1, dense(count), {}, [=, &data] {
                  auto const& x      = data.copies(count, dtype::float32);
                  auto const n       = static_cast<std::uint32_t>(count);
                  auto const scratch = std::make_shared<device_buffer>(cub_peers::scratch_bytes(n));
                  auto const out     = std::make_shared<selection>(count);
                  auto const places  = std::make_shared<device_buffer>(count * sizeof(std::uint32_t));
                  std::vector<std::uint32_t> host(count);
                  std::iota(host.begin(), host.end(), 0U);
                  places->upload(host.data());
                  return replayed(data, count, [=, &x](std::size_t i, cudaStream_t stream) {
                    cub_peers::sort_by_magnitude(x[i % x.size()]->as<std::uint32_t>(),
                                                 out->values.as<std::uint32_t>(), places->as<std::uint32_t>(),
                                                 out->places.as<std::uint32_t>(), n, scratch->as<void>(),
                                                 scratch->bytes().size(), stream);
                  });
                }});
  return name;
}

}  // namespace

void add_device_top_k(suite& rows, device_inputs& data, device_axes const& over)
{
  for (std::size_t const count : {over.large, over.bucket}) {
    std::string const ours =
      measure_device_compress(rows, data, count, dtype::float32, full_values(density, 256));
    auto const row = [&](char const* peer, std::string const& name, std::optional<double> goal) {
      rows.compare({device_label(std::string{"compress d=0.01 tile 256 over "} + peer + ", elements", count),
                    ours,
                    {name},
                    unit::gigaelements_per_second,
                    goal});
    };
    row("radix top-k", measure_radix(rows, data, count), 1.8);
    row("a known threshold", measure_threshold(rows, data, count), std::nullopt);
    if (cub_peers::is_built()) {
      row("cub::DeviceReduce", measure_reduce(rows, data, count), std::nullopt);
      row("cub::DeviceSelect::Flagged", measure_flagged(rows, data, count), 1.0);
      row("cub::DeviceRadixSort", measure_sort(rows, data, count), 10.0);
    }
  }
}

}  // namespace bird::bench
