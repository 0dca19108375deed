/// Streams, events and functions of the host that wait in a stream.
#include <chrono>

#include "calls.hpp"

namespace emulation {
namespace {

cudaError_t query(moment const& reached)
{
  make_progress();
  if (reached != nullptr && !reached->reached) {
    return cudaErrorNotReady;
  }
  host_learns(reached);
  return device_is_lost() ? cudaErrorLaunchFailure : cudaSuccess;
}

/// A wait for an event that was recorded in a capture.
cudaError_t wait_in_capture(CUstream_st& stream, CUevent_st const& event)
{
  if (event.capture->ended) {
    return cudaErrorCapturedEvent;
  }
  if (stream.capture == nullptr) {
    if (stream.legacy) {
      event.capture->invalidated = true;
      return cudaErrorStreamCaptureImplicit;
    }
    stream.capture       = event.capture;  // the stream joins the capture
    stream.captured_last = event.captured_last;
    return cudaSuccess;
  }
  if (stream.capture != event.capture) {
    stream.capture->invalidated = event.capture->invalidated = true;
    return cudaErrorStreamCaptureMerge;
  }
  stream.captured_last.insert(stream.captured_last.end(), event.captured_last.begin(),
                              event.captured_last.end());
  return cudaSuccess;
}

cudaError_t wait_for(CUstream_st& stream, CUevent_st const& event)
{
  if (event.capture != nullptr) {
    return wait_in_capture(stream, event);
  }
  if (event.reached == nullptr) {
    return cudaSuccess;  // one that was never recorded is no wait
  }
  if (stream.capture != nullptr) {
    stream.capture->invalidated = true;
    return cudaErrorStreamCaptureIsolation;
  }
  enqueue(stream, [] { return true; }, {event.reached});
  return cudaSuccess;
}

void record(CUstream_st& stream, CUevent_st& event)
{
  event.capture = stream.capture;
  if (stream.capture != nullptr) {  // makes no work
    event.reached       = nullptr;
    event.captured_last = stream.captured_last;
    return;
  }
  auto const time = std::make_shared<double>(0);
  enqueue(stream, [time] {
    auto const since = std::chrono::steady_clock::now().time_since_epoch();
    *time            = std::chrono::duration<double, std::milli>(since).count();
    return true;
  });
  event.reached      = stream.last;
  event.milliseconds = time;
}

}  // namespace
}  // namespace emulation

using namespace emulation;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags)
{
  return admitted(call::other, [&] {
    *stream           = make_stream((flags & cudaStreamNonBlocking) == 0);
    (*stream)->device = current_device();
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
    if (stream.legacy) {
      return cudaErrorInvalidResourceHandle;
    }
    (void)refuse_if_captured(stream);
    cudaError_t const status = drain(&stream);
    remove_stream(stream);
    return status;
  }));
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
  return admitted(call::wait, [&] {
    return on_stream(handle, [](CUstream_st& stream) {
      cudaError_t const refused = refuse_in_capture();
      cudaError_t const its     = refuse_if_captured(stream);
      if (refused != cudaSuccess || its != cudaSuccess) {
        return cudaErrorStreamCaptureUnsupported;
      }
      ++count().synchronisations;
      return drain(&stream);
    });
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle)
{
  return on_stream(handle, [](CUstream_st& stream) {
    cudaError_t const refused = refuse_if_captured(stream);
    return refused != cudaSuccess ? refused : query(stream.last);
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned)
{
  return admitted(call::other, [&] {
    if (event == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    return onto_stream(handle, [&](CUstream_st& stream) { return wait_for(stream, *event); });
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* argument)
{
  return admitted(call::launch, [&] {
    return onto_stream(handle, [&](CUstream_st& stream) {
      enqueue(stream, [=] {
        forbid_calls(true);  // a function in a stream may call nothing of the runtime
        function(argument);
        forbid_calls(false);
        return true;
      });
      return cudaSuccess;
    });
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned)
{
  return admitted(call::other, [&] {
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
  return admitted(call::other, [&] {
    return onto_stream(handle, [&](CUstream_st& stream) {
      record(stream, *event);
      return cudaSuccess;
    });
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
  return admitted(call::wait, [&] {
    if (event->capture != nullptr) {
      event->capture->invalidated = true;
      return cudaErrorCapturedEvent;
    }
    ++count().synchronisations;
    return drain_until(event->reached);
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
  if (event->capture != nullptr) {
    event->capture->invalidated = true;
    return noted(cudaErrorCapturedEvent);
  }
  return query(event->reached);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
  if (cudaEventQuery(begin) != cudaSuccess || cudaEventQuery(end) != cudaSuccess) {
    return noted(cudaErrorNotReady);
  }
  if (begin->milliseconds == nullptr || end->milliseconds == nullptr) {
    return noted(cudaErrorInvalidResourceHandle);
  }
  *milliseconds = static_cast<float>(*end->milliseconds - *begin->milliseconds);
  return cudaSuccess;
}

}  // extern "C"
