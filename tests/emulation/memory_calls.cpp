/// Allocations, copies and fills.
#include <cstring>

#include "calls.hpp"

namespace emulation {
namespace {

bool in_bounds(void const* address, std::size_t bytes)
{
  region const* const r = find_region(address);
  return r == nullptr || static_cast<char const*>(address) + bytes <= r->begin + r->size;
}
bool on_device(void const* address)
{
  region const* const r = find_region(address);
  return r != nullptr && !r->pinned;
}
bool is_pageable(void const* address) { return find_region(address) == nullptr; }

/// A device address of which no live allocation is left when the work is done.
bool is_gone(void const* address) { return in_arena(address) && find_region(address) == nullptr; }

bool move_bytes(void* to, void const* from, std::size_t bytes)
{
  if (is_gone(to) || is_gone(from)) {
    report("a copy uses device memory that is freed");
    return false;
  }
  open_region(to, true);
  open_region(from, true);
  std::memmove(to, from, bytes);
  open_region(from, false);
  open_region(to, false);
  return checker.copied == nullptr ||
         checker.copied(static_cast<char*>(to), static_cast<char const*>(from), bytes);
}

bool fill_bytes(void* to, int value, std::size_t bytes)
{
  if (is_gone(to)) {
    report("a fill uses device memory that is freed");
    return false;
  }
  open_region(to, true);
  std::memset(to, value, bytes);
  open_region(to, false);
  return checker.copied == nullptr || checker.copied(static_cast<char*>(to), nullptr, bytes);
}

cudaMemcpyKind actual_kind(void const* to, void const* from)
{
  return on_device(to) ? (on_device(from) ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
                       : (on_device(from) ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
}

/// Pageable memory is read when the copy is queued; of pinned memory the host must keep its hands.
cudaError_t copy(CUstream_st& stream, void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind)
{
  if (bytes != 0 && kind != cudaMemcpyDefault && kind != actual_kind(to, from)) {
    return cudaErrorInvalidValue;
  }
  if (!in_bounds(to, bytes) || !in_bounds(from, bytes)) {
    return cudaErrorInvalidValue;
  }
  if ((is_pageable(from) || is_pageable(to)) && stream.capture != nullptr) {
    return refuse_if_captured(stream);
  }
  ++count().copies;
  if (is_pageable(from)) {
    auto const* const begin = static_cast<char const*>(from);
    auto const staged       = std::make_shared<std::vector<char>>(begin, begin + bytes);
    enqueue(stream, [=] { return move_bytes(to, staged->data(), bytes); });
  } else {
    enqueue(stream, [=] { return move_bytes(to, from, bytes); });
  }
  return cudaSuccess;
}

cudaError_t allocate(void** memory, std::size_t bytes, bool pinned)
{
  cudaError_t const refused = refuse_in_capture();
  if (refused != cudaSuccess) {
    return refused;
  }
  ++count().allocations;
  *memory = allocate_region(bytes, pinned, current_device());
  return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t free_now(void* memory, bool pinned)
{
  cudaError_t const refused = refuse_in_capture();
  region const* const r     = find_region(memory);
  if (memory == nullptr || refused != cudaSuccess) {
    return refused;
  }
  if (r == nullptr || r->begin != memory || r->pinned != pinned) {
    return cudaErrorInvalidValue;
  }
  ++count().synchronisations;
  (void)drain(nullptr);  // it waits for the device
  (void)free_region(memory);
  return cudaSuccess;
}

}  // namespace
}  // namespace emulation

using namespace emulation;

cudaError_t emulation::allocate_device(void** memory, std::size_t bytes)
{
  return admitted(call::allocation, [&] { return allocate(memory, bytes, false); });
}
cudaError_t emulation::allocate_pinned(void** memory, std::size_t bytes)
{
  return admitted(call::allocation, [&] { return allocate(memory, bytes, true); });
}
cudaError_t emulation::allocate_in_stream(void** memory, std::size_t bytes, cudaStream_t handle)
{
  return admitted(call::allocation, [&] {
    return onto_stream(handle, [&](CUstream_st& stream) {
      cudaError_t const refused = refuse_if_captured(stream);  // memory of graphs is not emulated
      if (refused != cudaSuccess) {
        return refused;
      }
      ++count().allocations;
      char* const made = allocate_region(bytes, false, current_device());
      *memory          = made;
      if (made == nullptr) {
        return cudaErrorMemoryAllocation;
      }
      set_usable(made, false);
      enqueue(stream, [=] {
        set_usable(made, true);
        return true;
      });
      return cudaSuccess;
    });
  });
}

extern "C" {

cudaError_t cudaFree(void* memory) { return noted(free_now(memory, false)); }
cudaError_t cudaFreeHost(void* memory) { return noted(free_now(memory, true)); }

cudaError_t cudaFreeAsync(void* memory, cudaStream_t handle)
{
  return noted(onto_stream(handle, [&](CUstream_st& stream) {
    cudaError_t const refused = refuse_if_captured(stream);
    region const* const r     = find_region(memory);
    if (refused == cudaSuccess && (r == nullptr || r->begin != memory || r->pinned)) {
      return cudaErrorInvalidValue;
    }
    if (refused == cudaSuccess) {
      enqueue(stream, [=] {
        if (!free_region(memory)) {
          report("device memory is freed twice");
        }
        return true;
      });
    }
    return refused;
  }));
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* address)
{
  return admitted(call::other, [&] {
    region const* const r = find_region(address);
    void* const plain     = const_cast<void*>(address);
    *attributes = r == nullptr ? cudaPointerAttributes{cudaMemoryTypeUnregistered, -1, nullptr, plain}
                  : r->pinned  ? cudaPointerAttributes{cudaMemoryTypeHost, r->device, plain, plain}
                               : cudaPointerAttributes{cudaMemoryTypeDevice, r->device, plain, nullptr};
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t handle)
{
  return admitted(call::copy, [&] {
    return onto_stream(handle, [&](CUstream_st& stream) {
      cudaError_t const status = copy(stream, to, from, bytes, kind);
      if (status == cudaSuccess && is_pageable(to)) {  // returns only when the bytes are there
        ++count().synchronisations;
        return drain(&stream);
      }
      return status;
    });
  });
}

cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind)
{
  return admitted(call::copy, [&] {
    cudaError_t const refused = refuse_in_capture();
    if (refused != cudaSuccess) {
      return refused;
    }
    return onto_stream(nullptr, [&](CUstream_st& legacy) {
      cudaError_t const status = copy(legacy, to, from, bytes, kind);
      ++count().synchronisations;
      return status != cudaSuccess ? status : drain(&legacy);
    });
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t handle)
{
  return admitted(call::copy, [&] {
    if (find_region(to) == nullptr || !in_bounds(to, bytes)) {
      return cudaErrorInvalidValue;
    }
    return onto_stream(handle, [&](CUstream_st& stream) {
      ++count().fills;
      enqueue(stream, [=] { return fill_bytes(to, value, bytes); });
      return cudaSuccess;
    });
  });
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes)
{
  return cudaMemsetAsync(to, value, bytes, nullptr);
}

}  // extern "C"
