/// What the functions of the runtime's interface share: planned failures, the last error, and what a capture
/// forbids.
#pragma once

#include <utility>

#include "streams.hpp"

namespace emulation {

/// Remembers a failure for cudaGetLastError. @returns the status
cudaError_t noted(cudaError_t status);
/// The device that the next calls mean.
int& current_device();

/// Runs a call that may be made to fail.
template <class Call>
cudaError_t admitted(call kind, Call const& body)
{
  cudaError_t const status = admit_call(kind);
  return noted(status != cudaSuccess ? status : body());
}

/// Waits, allocations and the like are forbidden while any stream is captured (unless in the relaxed mode),
/// and spoil the capture. @returns cudaErrorStreamCaptureUnsupported then
cudaError_t refuse_in_capture();
/// The same for a call that touches this stream itself.
cudaError_t refuse_if_captured(CUstream_st& stream);
/// Whether work may be given to the stream: not to a spoilt capture, and not to the legacy stream while a
/// stream that waits for it is captured.
cudaError_t may_enqueue(CUstream_st& stream);

/// Runs a call on the stream behind the handle, if there is one.
template <class Call>
cudaError_t on_stream(cudaStream_t handle, Call const& body)
{
  CUstream_st* const stream = resolve(handle);
  return stream == nullptr ? cudaErrorInvalidResourceHandle : body(*stream);
}

/// The same for a call that gives work to it.
template <class Call>
cudaError_t onto_stream(cudaStream_t handle, Call const& body)
{
  return on_stream(handle, [&](CUstream_st& stream) {
    cudaError_t const refused = may_enqueue(stream);
    return refused != cudaSuccess ? refused : body(stream);
  });
}

/// Runs queued work as long as it likes to: for calls that poll.
void make_progress();

}  // namespace emulation
