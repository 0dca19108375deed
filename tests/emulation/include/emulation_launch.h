/// Typed launches: the call that nvcc's own header offers too. A kernel and copies of its arguments wait in
/// the stream until it is drained.
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace emulation {

/// Memory that kernels may read although no cudaMalloc gave it: their arguments.
void* argument_memory(std::size_t bytes);
void free_argument_memory(void* memory, std::size_t bytes);

/// A kernel with its arguments.
struct bound_kernel {
  virtual ~bound_kernel()   = default;
  virtual void call() const = 0;
  static void* operator new(std::size_t bytes) { return argument_memory(bytes); }
  static void operator delete(void* memory, std::size_t bytes) { free_argument_memory(memory, bytes); }
};

template <class... Parameters>
class bound_call final : public bound_kernel {
 public:
  template <class... Arguments>
  explicit bound_call(void (*kernel)(Parameters...), Arguments&&... arguments)
    : kernel_{kernel}, arguments_{std::forward<Arguments>(arguments)...}
  {
  }
  void call() const override { std::apply(kernel_, arguments_); }

 private:
  void (*kernel_)(Parameters...);
  std::tuple<std::remove_cv_t<std::remove_reference_t<Parameters>>...> arguments_;
};

cudaError_t launch(void const* kernel, cudaLaunchConfig_t const& config, std::size_t parameter_bytes,
                   std::shared_ptr<bound_kernel const> call);
cudaError_t occupancy(int* blocks, int threads);
cudaError_t set_attribute(void const* kernel, cudaFuncAttribute attribute, int value);
cudaError_t get_attributes(cudaFuncAttributes* attributes, void const* kernel);

}  // namespace emulation

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(cudaLaunchConfig_t const* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments)
{
  constexpr std::size_t bytes = (std::size_t{0} + ... + sizeof(Parameters));
  return emulation::launch(
    reinterpret_cast<void const*>(kernel), *config, bytes,
    std::shared_ptr<emulation::bound_kernel const>(new emulation::bound_call<Parameters...>(
      kernel, static_cast<Parameters>(std::forward<Arguments>(arguments))...)));
}

template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel*, int threads, std::size_t)
{
  return emulation::occupancy(blocks, threads);
}

template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute attribute, int value)
{
  return emulation::set_attribute(reinterpret_cast<void const*>(kernel), attribute, value);
}
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel* kernel)
{
  return emulation::get_attributes(attributes, reinterpret_cast<void const*>(kernel));
}
