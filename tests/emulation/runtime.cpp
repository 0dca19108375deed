/// The runtime's interface, over streams, memory and grids.
#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "machine.hpp"
#include "streams.hpp"

namespace emulation {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
int current_device                  = 0;

cudaError_t noted(cudaError_t status)
{
  if (status != cudaSuccess) {
    last_error = status;
  }
  return status;
}

/// Runs a call that may be made to fail.
template <class Call>
cudaError_t admitted(Call const& call)
{
  cudaError_t const status = admit_call();
  return noted(status != cudaSuccess ? status : call());
}

bool any_capture()
{
  auto const& streams = all_streams();
  return std::any_of(streams.begin(), streams.end(),
                     [](CUstream_st const* s) { return s->capture != nullptr; });
}

/// Allocations and waits are not allowed while a stream is captured; they spoil the capture.
cudaError_t refuse_in_capture() { return any_capture() ? cudaErrorStreamCaptureUnsupported : cudaSuccess; }

template <class Call>
cudaError_t on_stream(cudaStream_t handle, Call const& call)
{
  CUstream_st* const stream = resolve(handle);
  return stream == nullptr ? cudaErrorInvalidResourceHandle : call(*stream);
}

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
bool is_pinned(void const* address)
{
  region const* const r = find_region(address);
  return r != nullptr && r->pinned;
}

void move_bytes(void* to, void const* from, std::size_t bytes)
{
  open_region(to, true);
  open_region(from, true);
  std::memmove(to, from, bytes);
  open_region(from, false);
  open_region(to, false);
  if (checker.written != nullptr && find_region(to) != nullptr) {
    checker.written(static_cast<char*>(to), bytes);
  }
}

cudaMemcpyKind actual_kind(void const* to, void const* from)
{
  return on_device(to) ? (on_device(from) ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
                       : (on_device(from) ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
}

/// @param waits set when the call returns only after the copy
cudaError_t copy(CUstream_st& stream, void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                 bool& waits)
{
  if (kind != cudaMemcpyDefault && kind != actual_kind(to, from) && bytes != 0) {
    return cudaErrorInvalidValue;
  }
  if (!in_bounds(to, bytes) || !in_bounds(from, bytes)) {
    return cudaErrorInvalidValue;
  }
  ++count().copies;
  bool const from_pageable = !on_device(from) && !is_pinned(from);
  bool const to_pageable   = !on_device(to) && !is_pinned(to);
  if ((from_pageable || to_pageable) && stream.capture != nullptr) {
    return cudaErrorStreamCaptureUnsupported;
  }
  if (from_pageable) {  // staged at once
    auto const* const bytes_of = static_cast<char const*>(from);
    auto staged                = std::make_shared<std::vector<char>>(bytes_of, bytes_of + bytes);
    enqueue(stream, [=] {
      move_bytes(to, staged->data(), bytes);
      return true;
    });
  } else {
    enqueue(stream, [=] {
      move_bytes(to, from, bytes);
      return true;
    });
  }
  waits = to_pageable;
  return cudaSuccess;
}

std::string name_of(void const* kernel)
{
  Dl_info info{};
  if (dladdr(kernel, &info) == 0 || info.dli_sname == nullptr) {
    return "?";
  }
  int status            = 0;
  char* const demangled = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
  std::string name      = demangled != nullptr ? demangled : info.dli_sname;
  std::free(demangled);
  name = name.substr(0, name.find('('));
  return name;
}

constexpr std::size_t most_parameter_bytes = 32764;  // since CUDA 12.1

}  // namespace

cudaError_t occupancy(int* blocks, int threads)
{
  return admitted([&] {
    *blocks = threads > 1024 ? 0 : std::max(1, current().blocks_each * 256 / std::max(threads, 1));
    return cudaSuccess;
  });
}

cudaError_t launch(void const* kernel, cudaLaunchConfig_t const& config, std::size_t parameter_bytes,
                   std::shared_ptr<bound_kernel const> call)
{
  return admitted([&] {
    std::uint64_t const threads = std::uint64_t{config.blockDim.x} * config.blockDim.y * config.blockDim.z;
    std::uint64_t const blocks  = std::uint64_t{config.gridDim.x} * config.gridDim.y * config.gridDim.z;
    bool cooperative            = false;
    for (unsigned i = 0; i < config.numAttrs; ++i) {
      cooperative = cooperative || (config.attrs[i].id == cudaLaunchAttributeCooperative &&
                                    config.attrs[i].val.cooperative != 0);
    }
    if (threads == 0 || blocks == 0 || threads > 1024 || config.gridDim.y > 65535 ||
        config.gridDim.z > 65535) {
      return cudaErrorInvalidConfiguration;
    }
    if (parameter_bytes > most_parameter_bytes || config.dynamicSmemBytes != 0) {
      return cudaErrorInvalidValue;
    }
    auto const capacity = static_cast<std::uint64_t>(current().multiprocessors * current().blocks_each);
    if (cooperative && blocks > capacity) {
      return cudaErrorCooperativeLaunchTooLarge;
    }
    return on_stream(config.stream, [&](CUstream_st& stream) {
      grid_launch const grid{name_of(kernel), config.gridDim, config.blockDim, cooperative, std::move(call)};
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

using namespace emulation;

cudaError_t cudaMallocBytes(void** memory, std::size_t bytes)
{
  return admitted([&] {
    cudaError_t const refused = refuse_in_capture();
    if (refused != cudaSuccess) {
      return refused;
    }
    ++count().allocations;
    *memory = allocate_region(bytes, false, current_device);
    return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
  });
}

cudaError_t cudaMallocHostBytes(void** memory, std::size_t bytes)
{
  return admitted([&] {
    ++count().allocations;
    *memory = allocate_region(bytes, true, current_device);
    return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
  });
}

extern "C" {

char const* cudaGetErrorName(cudaError_t status)
{
  switch (status) {
#define BIRD_NAME(name) \
  case name:            \
    return #name;
    BIRD_NAME(cudaSuccess)
    BIRD_NAME(cudaErrorInvalidValue)
    BIRD_NAME(cudaErrorMemoryAllocation)
    BIRD_NAME(cudaErrorInvalidConfiguration)
    BIRD_NAME(cudaErrorInvalidMemcpyDirection)
    BIRD_NAME(cudaErrorInvalidDevice)
    BIRD_NAME(cudaErrorInvalidResourceHandle)
    BIRD_NAME(cudaErrorNotReady)
    BIRD_NAME(cudaErrorLaunchOutOfResources)
    BIRD_NAME(cudaErrorLaunchFailure)
    BIRD_NAME(cudaErrorCooperativeLaunchTooLarge)
    BIRD_NAME(cudaErrorNotSupported)
    BIRD_NAME(cudaErrorStreamCaptureUnsupported)
    BIRD_NAME(cudaErrorStreamCaptureInvalidated)
    BIRD_NAME(cudaErrorStreamCaptureUnjoined)
#undef BIRD_NAME
  }
  return "cudaErrorUnknown";
}
char const* cudaGetErrorString(cudaError_t status)
{
  return status == cudaSuccess ? "no error" : "emulated error";
}
cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaGetDeviceCount(int* devices)
{
  *devices = current().devices;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device)
{
  return admitted([&] {
    *device = current_device;
    return cudaSuccess;
  });
}
cudaError_t cudaSetDevice(int device)
{
  if (device < 0 || device >= current().devices) {
    return noted(cudaErrorInvalidDevice);
  }
  current_device = device;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device)
{
  return admitted([&] {
    if (device < 0 || device >= current().devices) {
      return cudaErrorInvalidDevice;
    }
    switch (attribute) {
      case cudaDevAttrMultiProcessorCount:
        *value = current().multiprocessors;
        return cudaSuccess;
      case cudaDevAttrMaxThreadsPerBlock:
        *value = 1024;
        return cudaSuccess;
      case cudaDevAttrWarpSize:
        *value = 32;
        return cudaSuccess;
      case cudaDevAttrComputeCapabilityMajor:
        *value = 9;
        return cudaSuccess;
      case cudaDevAttrComputeCapabilityMinor:
        *value = 0;
        return cudaSuccess;
      case cudaDevAttrCooperativeLaunch:
        *value = 1;
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}
cudaError_t cudaDeviceSynchronize()
{
  cudaError_t const refused = refuse_in_capture();
  ++count().synchronisations;
  return noted(refused != cudaSuccess ? refused : drain(nullptr));
}

cudaError_t cudaFree(void* memory)
{
  if (memory == nullptr) {
    return cudaSuccess;
  }
  ++count().synchronisations;
  (void)drain(nullptr);  // it waits for the device
  return noted(free_region(memory) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaFreeHost(void* memory) { return cudaFree(memory); }

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* address)
{
  return admitted([&] {
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
  return admitted([&] {
    return on_stream(handle, [&](CUstream_st& stream) {
      bool waits               = false;
      cudaError_t const status = copy(stream, to, from, bytes, kind, waits);
      if (status == cudaSuccess && waits) {
        ++count().synchronisations;
        return drain(&stream);
      }
      return status;
    });
  });
}
cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind)
{
  return admitted([&] {
    bool waits               = false;
    CUstream_st& legacy      = *resolve(nullptr);
    cudaError_t const status = copy(legacy, to, from, bytes, kind, waits);
    ++count().synchronisations;
    return status != cudaSuccess ? status : drain(&legacy);
  });
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t handle)
{
  return admitted([&] {
    if (!on_device(to) || !in_bounds(to, bytes)) {
      return cudaErrorInvalidValue;
    }
    return on_stream(handle, [&](CUstream_st& stream) {
      ++count().fills;
      enqueue(stream, [=] {
        open_region(to, true);
        std::memset(to, value, bytes);
        open_region(to, false);
        if (checker.written != nullptr) {
          checker.written(static_cast<char*>(to), bytes);
        }
        return true;
      });
      return cudaSuccess;
    });
  });
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes)
{
  return cudaMemsetAsync(to, value, bytes, nullptr);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags)
{
  return admitted([&] {
    (void)resolve(nullptr);  // the legacy stream is there first
    auto* const made = new CUstream_st;
    made->device     = current_device;
    made->blocking   = (flags & cudaStreamNonBlocking) == 0;
    all_streams().push_back(made);
    *stream = made;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamCreate(cudaStream_t* stream)
{
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
  return noted(on_stream(handle, [&](CUstream_st& stream) {
    cudaError_t const status = drain(&stream);
    auto& streams            = all_streams();
    streams.erase(std::find(streams.begin(), streams.end(), &stream));
    delete &stream;
    return status;
  }));
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
  return admitted([&] {
    cudaError_t const refused = refuse_in_capture();
    if (refused != cudaSuccess) {
      return refused;
    }
    ++count().synchronisations;
    return on_stream(handle, [](CUstream_st& stream) { return drain(&stream); });
  });
}
cudaError_t cudaStreamQuery(cudaStream_t handle)
{
  return on_stream(handle, [](CUstream_st& stream) {
    return stream.last != nullptr && !*stream.last ? cudaErrorNotReady : cudaSuccess;
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned)
{
  return admitted([&] {
    return on_stream(handle, [&](CUstream_st& stream) {
      if (event->capture != nullptr && stream.capture == nullptr) {
        stream.capture       = event->capture;  // the stream joins the capture
        stream.captured_last = event->reached;
        return cudaSuccess;
      }
      if (event->reached != nullptr) {  // one that was never recorded is no wait
        enqueue(stream, [] { return true; }, {event->reached});
      }
      return cudaSuccess;
    });
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status)
{
  return on_stream(handle, [&](CUstream_st& stream) {
    *status = stream.capture != nullptr ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode)
{
  return admitted([&] {
    return on_stream(handle, [](CUstream_st& stream) {
      if (stream.legacy || stream.capture != nullptr) {
        return cudaErrorStreamCaptureUnsupported;
      }
      stream.capture         = std::make_shared<recording>();
      stream.capture->origin = &stream;
      stream.captured_last   = nullptr;
      return cudaSuccess;
    });
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph)
{
  return admitted([&] {
    return on_stream(handle, [&](CUstream_st& stream) {
      if (stream.capture == nullptr || stream.capture->origin != &stream) {
        return cudaErrorStreamCaptureInvalidated;
      }
      *graph = new CUgraph_st{stream.capture};
      for (CUstream_st* const one : all_streams()) {
        if (one->capture == (*graph)->recorded) {
          one->capture = nullptr;
        }
      }
      return cudaSuccess;
    });
  });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long)
{
  return admitted([&] {
    *exec = new CUgraphExec_st{graph->recorded, nullptr};
    return cudaSuccess;
  });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle)
{
  return admitted([&] {
    return on_stream(handle, [&](CUstream_st& stream) {
      // The tasks were recorded in an order that their dependencies allow.
      std::vector<moment> const after{exec->last_launch};
      auto const recorded = exec->recorded;
      enqueue(
        stream,
        [recorded] {
          return std::all_of(recorded->tasks.begin(), recorded->tasks.end(),
                             [](task const& t) { return t.run(); });
        },
        after);
      exec->last_launch = stream.last;
      return cudaSuccess;
    });
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
  delete exec;
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned)
{
  return admitted([&] {
    *event = new CUevent_st;
    return cudaSuccess;
  });
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event)
{
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle)
{
  return admitted([&] {
    return on_stream(handle, [&](CUstream_st& stream) {
      auto const time = std::make_shared<double>(0);
      enqueue(stream, [time] {
        auto const since = std::chrono::steady_clock::now().time_since_epoch();
        *time            = std::chrono::duration<double, std::milli>(since).count();
        return true;
      });
      event->capture      = stream.capture;
      event->reached      = stream.capture != nullptr ? stream.captured_last : stream.last;
      event->milliseconds = time;
      return cudaSuccess;
    });
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
  ++count().synchronisations;
  return noted(drain_until(event->reached));
}
cudaError_t cudaEventQuery(cudaEvent_t event)
{
  return event->reached != nullptr && !*event->reached ? cudaErrorNotReady : cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
  if (cudaEventQuery(begin) != cudaSuccess || cudaEventQuery(end) != cudaSuccess ||
      begin->milliseconds == nullptr || end->milliseconds == nullptr) {
    return noted(cudaErrorNotReady);
  }
  *milliseconds = static_cast<float>(*end->milliseconds - *begin->milliseconds);
  return cudaSuccess;
}

}  // extern "C"
