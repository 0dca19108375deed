/// Launches: what a configuration may be, and the grid's way into its stream.
#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "calls.hpp"

namespace emulation {
namespace {

constexpr std::size_t most_parameter_bytes = 32764;  // since CUDA 12.1
constexpr unsigned most_threads            = 1024;
constexpr std::size_t usual_shared_bytes   = 48 * 1024;
constexpr std::size_t most_shared_bytes    = 227 * 1024;

/// Dynamic shared memory that cudaFuncSetAttribute allowed a kernel.
std::map<void const*, std::size_t>& allowed_shared_bytes()
{
  static auto& allowed = *new std::map<void const*, std::size_t>;
  return allowed;
}
std::size_t allowed_for(void const* kernel)
{
  auto const found = allowed_shared_bytes().find(kernel);
  return found == allowed_shared_bytes().end() ? usual_shared_bytes : found->second;
}

std::string name_of(void const* kernel)
{
  Dl_info info{};
  if (dladdr(kernel, &info) == 0 || info.dli_sname == nullptr || info.dli_saddr != kernel) {
    return "?";
  }
  int status            = 0;
  char* const demangled = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
  std::string name      = demangled != nullptr ? demangled : info.dli_sname;
  std::free(demangled);
  for (std::string const anonymous = "(anonymous namespace)::"; name.find(anonymous) != std::string::npos;) {
    name.erase(name.find(anonymous), anonymous.size());
  }
  return name.substr(0, name.find('('));
}

bool is_cooperative(cudaLaunchConfig_t const& config)
{
  return std::any_of(config.attrs, config.attrs + config.numAttrs, [](cudaLaunchAttribute const& attribute) {
    return attribute.id == cudaLaunchAttributeCooperative && attribute.val.cooperative != 0;
  });
}

int blocks_that_fit(int threads)
{
  return threads > static_cast<int>(most_threads) || threads <= 0
           ? 0
           : std::max(1, current().blocks_each * 256 / threads);
}

cudaError_t why_not(void const* kernel, cudaLaunchConfig_t const& config, std::size_t parameter_bytes)
{
  std::uint64_t const threads = std::uint64_t{config.blockDim.x} * config.blockDim.y * config.blockDim.z;
  std::uint64_t const blocks  = std::uint64_t{config.gridDim.x} * config.gridDim.y * config.gridDim.z;
  if (threads == 0 || blocks == 0 || threads > most_threads || config.blockDim.z > 64 ||
      config.gridDim.x > 0x7FFFFFFF || config.gridDim.y > 65535 || config.gridDim.z > 65535) {
    return cudaErrorInvalidConfiguration;
  }
  if (parameter_bytes > most_parameter_bytes || config.dynamicSmemBytes > allowed_for(kernel)) {
    return cudaErrorInvalidValue;
  }
  auto const fit =
    static_cast<std::uint64_t>(blocks_that_fit(static_cast<int>(threads)) * current().multiprocessors);
  return is_cooperative(config) && blocks > fit ? cudaErrorCooperativeLaunchTooLarge : cudaSuccess;
}

}  // namespace

cudaError_t occupancy(int* blocks, int threads)
{
  return admitted(call::other, [&] {
    *blocks = blocks_that_fit(threads);
    return cudaSuccess;
  });
}

cudaError_t set_attribute(void const* kernel, cudaFuncAttribute attribute, int value)
{
  return admitted(call::other, [&] {
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        static_cast<std::size_t>(value) > most_shared_bytes) {
      return cudaErrorInvalidValue;
    }
    allowed_shared_bytes()[kernel] = static_cast<std::size_t>(value);
    return cudaSuccess;
  });
}

cudaError_t get_attributes(cudaFuncAttributes* attributes, void const* kernel)
{
  return admitted(call::other, [&] {
    *attributes                           = cudaFuncAttributes{};
    attributes->maxThreadsPerBlock        = static_cast<int>(most_threads);
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(allowed_for(kernel));
    return cudaSuccess;
  });
}

cudaError_t launch(void const* kernel, cudaLaunchConfig_t const& config, std::size_t parameter_bytes,
                   std::shared_ptr<bound_kernel const> call)
{
  return admitted(emulation::call::launch, [&] {
    cudaError_t const refused = why_not(kernel, config, parameter_bytes);
    if (refused != cudaSuccess) {
      return refused;
    }
    return onto_stream(config.stream, [&](CUstream_st& stream) {
      grid_launch const grid{name_of(kernel),        config.gridDim,          config.blockDim,
                             is_cooperative(config), config.dynamicSmemBytes, std::move(call)};
      enqueue(stream, [grid] {
        open_device_memory(true);
        bool const sound = run_grid(grid);
        open_device_memory(false);
        return sound;
      });
      return cudaSuccess;
    });
  });
}

}  // namespace emulation
