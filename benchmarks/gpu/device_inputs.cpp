#include "gpu/device_inputs.hpp"

namespace bird::bench {

gradient_copies const& device_inputs::copies(std::size_t count, dtype type)
{
  gradient_copies& made = gradients_[{count, type}];
  if (made.empty()) {
    std::size_t const bytes      = count * element_bytes(type);
    const_tensor_view const host = on_host(count, type);
    for (std::size_t i = 0; i < turns_for(bytes).buffers; ++i) {
      made.push_back(std::make_unique<device_buffer>(bytes));
      made.back()->upload(host.data);
    }
  }
  return made;
}

gradient_copies const& device_inputs::outputs(std::size_t bytes)
{
  gradient_copies& made = outputs_[bytes];
  if (made.empty()) {
    for (std::size_t i = 0; i < turns_for(bytes).buffers; ++i) {
      made.push_back(std::make_unique<device_buffer>(bytes));
      made.back()->clear();
    }
  }
  return made;
}

}  // namespace bird::bench
