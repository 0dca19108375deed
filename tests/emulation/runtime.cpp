/// Errors and devices.
#include "calls.hpp"

namespace emulation {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

struct error_text {
  cudaError_t status;
  char const* name;
  char const* text;
};
constexpr error_text errors[] = {
#define BIRD_ERROR(name, text) \
  {                            \
    name, #name, text          \
  }
  BIRD_ERROR(cudaSuccess, "no error"),
  BIRD_ERROR(cudaErrorInvalidValue, "invalid argument"),
  BIRD_ERROR(cudaErrorMemoryAllocation, "out of memory"),
  BIRD_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
  BIRD_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
  BIRD_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
  BIRD_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
  BIRD_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
  BIRD_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
  BIRD_ERROR(cudaErrorNotReady, "device not ready"),
  BIRD_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
  BIRD_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
  BIRD_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
  BIRD_ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
  BIRD_ERROR(cudaErrorNotPermitted, "operation not permitted"),
  BIRD_ERROR(cudaErrorNotSupported, "operation not supported"),
  BIRD_ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
  BIRD_ERROR(cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"),
  BIRD_ERROR(cudaErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences"),
  BIRD_ERROR(cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"),
  BIRD_ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
  BIRD_ERROR(cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"),
  BIRD_ERROR(cudaErrorStreamCaptureImplicit,
             "operation would make the legacy stream depend on a capturing blocking stream"),
  BIRD_ERROR(cudaErrorCapturedEvent,
             "operation not permitted on an event last recorded in a capturing stream"),
  BIRD_ERROR(cudaErrorUnknown, "unknown error"),
#undef BIRD_ERROR
};
error_text text_of(cudaError_t status)
{
  for (error_text const& one : errors) {
    if (one.status == status) {
      return one;
    }
  }
  return {status, "unrecognized error code", "unrecognized error code"};
}

/// A device of compute capability 9.0 as far as anybody asks.
int attribute_of_device(cudaDeviceAttr attribute)
{
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      return current().multiprocessors;
    case cudaDevAttrMaxThreadsPerBlock:
      return 1024;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return 2048;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return 48 * 1024;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return 227 * 1024;
    case cudaDevAttrL2CacheSize:
      return 1 << 20;
    case cudaDevAttrWarpSize:
      return 32;
    case cudaDevAttrComputeCapabilityMajor:
      return 9;
    case cudaDevAttrComputeCapabilityMinor:
      return 0;
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrMemoryPoolsSupported:
      return 1;
  }
  return -1;
}

bool is_device(int device) { return device >= 0 && device < current().devices; }

}  // namespace

cudaError_t noted(cudaError_t status)
{
  if (status != cudaSuccess) {
    last_error = status;
  }
  return status;
}

int& current_device()
{
  static thread_local int device = 0;
  return device;
}

}  // namespace emulation

using namespace emulation;

extern "C" {

char const* cudaGetErrorName(cudaError_t status) { return text_of(status).name; }
char const* cudaGetErrorString(cudaError_t status) { return text_of(status).text; }
cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaGetDeviceCount(int* devices)
{
  *devices = current().devices;
  return *devices > 0 ? cudaSuccess : noted(cudaErrorNoDevice);
}
cudaError_t cudaGetDevice(int* device)
{
  return admitted(call::other, [&] {
    *device = current_device();
    return cudaSuccess;
  });
}
cudaError_t cudaSetDevice(int device)
{
  if (!is_device(device)) {
    return noted(cudaErrorInvalidDevice);
  }
  current_device() = device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device)
{
  return admitted(call::other, [&] {
    if (!is_device(device)) {
      return cudaErrorInvalidDevice;
    }
    *value = attribute_of_device(attribute);
    return *value < 0 ? cudaErrorInvalidValue : cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device)
{
  return admitted(call::other, [&] {
    if (!is_device(device)) {
      return cudaErrorInvalidDevice;
    }
    *properties = {"emulated device",
                   std::size_t{1} << 35,
                   static_cast<std::size_t>(attribute_of_device(cudaDevAttrMaxSharedMemoryPerBlock)),
                   attribute_of_device(cudaDevAttrWarpSize),
                   attribute_of_device(cudaDevAttrMaxThreadsPerBlock),
                   attribute_of_device(cudaDevAttrComputeCapabilityMajor),
                   attribute_of_device(cudaDevAttrComputeCapabilityMinor),
                   attribute_of_device(cudaDevAttrMultiProcessorCount),
                   attribute_of_device(cudaDevAttrL2CacheSize),
                   attribute_of_device(cudaDevAttrMaxThreadsPerMultiProcessor),
                   attribute_of_device(cudaDevAttrCooperativeLaunch)};
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize()
{
  return admitted(call::wait, [&] {
    cudaError_t const refused = refuse_in_capture();
    ++count().synchronisations;
    return refused != cudaSuccess ? refused : drain(nullptr);
  });
}

}  // extern "C"
