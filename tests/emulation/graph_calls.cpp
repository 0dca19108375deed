/// Captures and graphs, and what is forbidden while a stream is captured.
#include <algorithm>
#include <set>

#include "calls.hpp"

namespace emulation {
namespace {

bool is_unsafe_in(recording const& capture) { return capture.mode != cudaStreamCaptureModeRelaxed; }

/// Whether all that was recorded happens before the end of the stream that is to end the capture.
bool is_joined(recording const& recorded, CUstream_st const& origin)
{
  std::set<moment> needed(origin.captured_last.begin(), origin.captured_last.end());
  // Tasks stand behind those that they follow.
  for (auto one = recorded.tasks.rbegin(); one != recorded.tasks.rend(); ++one) {
    if (needed.count(one->done) == 0) {
      return false;
    }
    needed.insert(one->after.begin(), one->after.end());
  }
  return true;
}

void leave_capture(std::shared_ptr<recording> const& capture)
{
  capture->ended = true;
  for (CUstream_st* const stream : all_streams()) {
    if (stream->capture == capture) {
      stream->capture = nullptr;
      stream->captured_last.clear();
    }
  }
}

cudaError_t end_capture(CUstream_st& stream, cudaGraph_t& graph)
{
  std::shared_ptr<recording> const capture = stream.capture;
  graph                                    = nullptr;
  if (capture == nullptr) {
    return cudaErrorIllegalState;
  }
  if (capture->origin != &stream) {
    capture->invalidated = true;
    return cudaErrorStreamCaptureUnmatched;
  }
  bool const joined = is_joined(*capture, stream);
  leave_capture(capture);
  if (capture->invalidated) {
    return cudaErrorStreamCaptureInvalidated;
  }
  if (!joined) {
    return cudaErrorStreamCaptureUnjoined;
  }
  graph = new CUgraph_st{capture};
  return cudaSuccess;
}

}  // namespace

cudaError_t refuse_in_capture()
{
  bool refused = false;
  for (CUstream_st* const stream : all_streams()) {
    if (stream->capture != nullptr && is_unsafe_in(*stream->capture)) {
      stream->capture->invalidated = true;
      refused                      = true;
    }
  }
  return refused ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t refuse_if_captured(CUstream_st& stream)
{
  if (stream.capture == nullptr) {
    return cudaSuccess;
  }
  stream.capture->invalidated = true;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t may_enqueue(CUstream_st& stream)
{
  if (stream.capture != nullptr) {
    return stream.capture->invalidated ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  }
  bool implicit = false;
  for (CUstream_st* const other : all_streams()) {
    if (stream.legacy && other->blocking && other->capture != nullptr) {
      other->capture->invalidated = true;
      implicit                    = true;
    }
  }
  return implicit ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

}  // namespace emulation

using namespace emulation;

extern "C" {

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status)
{
  return on_stream(handle, [&](CUstream_st& stream) {
    *status = stream.capture == nullptr     ? cudaStreamCaptureStatusNone
              : stream.capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                            : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode)
{
  return admitted(call::other, [&] {
    return on_stream(handle, [&](CUstream_st& stream) {
      if (stream.legacy) {
        return cudaErrorStreamCaptureUnsupported;
      }
      if (stream.capture != nullptr) {
        return cudaErrorIllegalState;
      }
      stream.capture         = std::make_shared<recording>();
      stream.capture->origin = &stream;
      stream.capture->mode   = mode;
      return cudaSuccess;
    });
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph)
{
  return admitted(call::other, [&] {
    return on_stream(handle, [&](CUstream_st& stream) { return end_capture(stream, *graph); });
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long)
{
  return admitted(call::other, [&] {
    if (graph == nullptr) {
      return cudaErrorInvalidValue;
    }
    *exec = new CUgraphExec_st{graph->recorded, nullptr};
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle)
{
  return admitted(call::launch, [&] {
    if (exec == nullptr) {
      return cudaErrorInvalidValue;
    }
    return onto_stream(handle, [&](CUstream_st& stream) {
      cudaError_t const refused = refuse_if_captured(stream);  // graphs in graphs are not emulated
      if (refused == cudaSuccess) {
        exec->last_launch = enqueue_graph(stream, *exec->recorded, exec->last_launch);
      }
      return refused;
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

}  // extern "C"
