/// The CUDA runtime as tests without a GPU see it: the types and calls that this project uses, under their
/// own names, so that .cu files and their launchers compile unchanged as plain C++. See ../README.md.
///
/// The toolkit's header is not needed and must not be included as well. Enumerators have the toolkit's
/// values.
#pragma once

#include "emulation_types.h"

// --- runtime interface

enum cudaError_t {
  cudaSuccess                        = 0,
  cudaErrorInvalidValue              = 1,
  cudaErrorMemoryAllocation          = 2,
  cudaErrorInvalidConfiguration      = 9,
  cudaErrorInvalidMemcpyDirection    = 21,
  cudaErrorNoDevice                  = 100,
  cudaErrorInvalidDevice             = 101,
  cudaErrorInvalidResourceHandle     = 400,
  cudaErrorIllegalState              = 401,
  cudaErrorNotReady                  = 600,
  cudaErrorIllegalAddress            = 700,
  cudaErrorLaunchOutOfResources      = 701,
  cudaErrorLaunchFailure             = 719,
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorNotPermitted              = 800,
  cudaErrorNotSupported              = 801,
  cudaErrorStreamCaptureUnsupported  = 900,
  cudaErrorStreamCaptureInvalidated  = 901,
  cudaErrorStreamCaptureMerge        = 902,
  cudaErrorStreamCaptureUnmatched    = 903,
  cudaErrorStreamCaptureUnjoined     = 904,
  cudaErrorStreamCaptureIsolation    = 905,
  cudaErrorStreamCaptureImplicit     = 906,
  cudaErrorCapturedEvent             = 907,
  cudaErrorUnknown                   = 999,
};

enum cudaMemcpyKind {
  cudaMemcpyHostToHost     = 0,
  cudaMemcpyHostToDevice   = 1,
  cudaMemcpyDeviceToHost   = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault        = 4,
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock           = 1,
  cudaDevAttrMaxSharedMemoryPerBlock      = 8,
  cudaDevAttrWarpSize                     = 10,
  cudaDevAttrMultiProcessorCount          = 16,
  cudaDevAttrComputeCapabilityMajor       = 75,
  cudaDevAttrComputeCapabilityMinor       = 76,
  cudaDevAttrL2CacheSize                  = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor  = 39,
  cudaDevAttrCooperativeLaunch            = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMemoryPoolsSupported         = 115,
};
enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost         = 1,
  cudaMemoryTypeDevice       = 2,
  cudaMemoryTypeManaged      = 3,
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};

using cudaStream_t    = struct CUstream_st*;
using cudaEvent_t     = struct CUevent_st*;
using cudaGraph_t     = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
inline constexpr unsigned cudaStreamDefault      = 0;
inline constexpr unsigned cudaStreamNonBlocking  = 1;
inline constexpr unsigned cudaEventDefault       = 0;
inline constexpr unsigned cudaEventDisableTiming = 2;
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal      = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed     = 2,
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone        = 0,
  cudaStreamCaptureStatusActive      = 1,
  cudaStreamCaptureStatusInvalidated = 2
};

using cudaHostFn_t = void (*)(void* argument);

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
struct cudaFuncAttributes {
  std::size_t sharedSizeBytes;
  std::size_t constSizeBytes;
  std::size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int maxDynamicSharedSizeBytes;
};
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int warpSize;
  int maxThreadsPerBlock;
  int major;
  int minor;
  int multiProcessorCount;
  int l2CacheSize;
  int maxThreadsPerMultiProcessor;
  int cooperativeLaunch;
};

enum cudaLaunchAttributeID { cudaLaunchAttributeIgnore = 0, cudaLaunchAttributeCooperative = 2 };
union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream          = nullptr;
  cudaLaunchAttribute* attrs   = nullptr;
  unsigned numAttrs            = 0;
};

extern "C" {
char const* cudaGetErrorName(cudaError_t status);
char const* cudaGetErrorString(cudaError_t status);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceSynchronize();

cudaError_t cudaFree(void* memory);
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* address);
cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemset(void* to, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream);

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);

cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);
}

// In C++ the toolkit lets these take any pointer type.
namespace emulation {
cudaError_t allocate_device(void** memory, std::size_t bytes);
cudaError_t allocate_pinned(void** memory, std::size_t bytes);
cudaError_t allocate_in_stream(void** memory, std::size_t bytes, cudaStream_t stream);
}  // namespace emulation
template <class T>
cudaError_t cudaMalloc(T** memory, std::size_t bytes)
{
  return emulation::allocate_device(reinterpret_cast<void**>(memory), bytes);
}
template <class T>
cudaError_t cudaMallocHost(T** memory, std::size_t bytes)
{
  return emulation::allocate_pinned(reinterpret_cast<void**>(memory), bytes);
}
template <class T>
cudaError_t cudaMallocAsync(T** memory, std::size_t bytes, cudaStream_t stream)
{
  return emulation::allocate_in_stream(reinterpret_cast<void**>(memory), bytes, stream);
}

#include "emulation_device.h"
#include "emulation_launch.h"
