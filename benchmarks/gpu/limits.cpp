/// limits: what the memory gives, and what the runtime's own calls make of it.
#include <memory>
#include <stdexcept>

#include "gpu/device_rows.hpp"
#include "gpu/peers.hpp"
#include "rows.hpp"

namespace bird::bench {
namespace {

constexpr char const* copy_name   = "copy by multiprocessors, read + written";
constexpr char const* memcpy_name = "cudaMemcpyAsync, read + written";
constexpr char const* fill_name   = "fill by multiprocessors";
constexpr char const* memset_name = "cudaMemsetAsync";

using copy_function = void (*)(void const* from, void* to, std::size_t bytes, cudaStream_t stream);
using fill_function = void (*)(void* to, std::size_t bytes, cudaStream_t stream);

void copy_by_runtime(void const* from, void* to, std::size_t bytes, cudaStream_t stream)
{
  device::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
}

void fill_by_runtime(void* to, std::size_t bytes, cudaStream_t stream)
{
  device::check(cudaMemsetAsync(to, 0, bytes, stream), "cudaMemsetAsync");
}

void measure_copy(suite& rows, device_inputs& data, char const* name, std::size_t count, copy_function run)
{
  auto const elements = static_cast<double>(count);
  rows.measure({device_label(name, count), 1, {2 * elements * sizeof(float), elements}, {}, [=, &data] {
                  std::size_t const bytes = count * sizeof(float);
                  auto const& from        = data.copies(count, dtype::float32);
                  auto const& to          = data.outputs(bytes);
                  run(from[0]->as<void>(), to[0]->as<void>(), bytes, nullptr);
                  if (to[0]->download<float>(count) != from[0]->download<float>(count)) {
                    throw std::runtime_error{"a copy differs"};
                  }
                  auto const made = std::make_shared<replay>(
                    data.turns_for(bytes).calls, [=, &from, &to](std::size_t i, cudaStream_t stream) {
                      run(from[i % from.size()]->as<void>(), to[i % to.size()]->as<void>(), bytes, stream);
                    });
                  return [made] { return (*made)(); };
                }});
}

void measure_fill(suite& rows, device_inputs& data, char const* name, std::size_t count, fill_function run)
{
  auto const elements = static_cast<double>(count);
  rows.measure({device_label(name, count), 1, {elements * sizeof(float), elements}, {}, [=, &data] {
                  std::size_t const bytes = count * sizeof(float);
                  auto const& to          = data.outputs(bytes);
                  auto const made         = std::make_shared<replay>(
                    data.turns_for(bytes).calls, [=, &to](std::size_t i, cudaStream_t stream) {
                      run(to[i % to.size()]->as<void>(), bytes, stream);
                    });
                  return [made] { return (*made)(); };
                }});
}

}  // namespace

std::string device_label(std::string const& what, std::size_t count)
{
  return what + ", " + size_name(count);
}

std::string copy_limit(std::size_t count) { return device_label(copy_name, count); }
std::string fill_limit(std::size_t count) { return device_label(fill_name, count); }

void add_device_limits(suite& rows, device_inputs& data, device_axes const& over)
{
  for (std::size_t const count : {over.large, over.medium, over.bucket}) {
    measure_copy(rows, data, copy_name, count, copy);
    measure_copy(rows, data, memcpy_name, count, copy_by_runtime);
    measure_fill(rows, data, fill_name, count, fill_zeros);
    measure_fill(rows, data, memset_name, count, fill_by_runtime);
    auto const row = [&](char const* ours, char const* reference) {
      rows.compare({device_label(std::string{ours} + " / " + reference, count),
                    device_label(ours, count),
                    {device_label(reference, count)},
                    unit::gigabytes_per_second,
                    std::nullopt});
    };
    row(copy_name, memcpy_name);
    row(fill_name, memset_name);
  }
}

}  // namespace bird::bench
