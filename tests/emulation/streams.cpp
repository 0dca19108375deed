#include "streams.hpp"

#include <algorithm>

namespace emulation {
namespace {

CUstream_st& legacy_stream()
{
  static auto& stream = *[] {
    auto* const made = new CUstream_st;
    made->legacy     = true;
    all_streams().push_back(made);
    return made;
  }();
  return stream;
}

random_source& order()
{
  static random_source source{0};
  return source;
}
std::uint64_t order_seed = 0;

bool is_reached(moment const& one) { return !one || *one; }

bool can_run(CUstream_st const& stream)
{
  return !stream.queue.empty() &&
         std::all_of(stream.queue.front().after.begin(), stream.queue.front().after.end(), is_reached);
}

}  // namespace

std::vector<CUstream_st*>& all_streams()
{
  static auto& streams = *new std::vector<CUstream_st*>;
  return streams;
}

CUstream_st* resolve(cudaStream_t handle)
{
  if (handle == nullptr || handle == cudaStreamLegacy) {
    return &legacy_stream();
  }
  auto const& streams = all_streams();
  return std::find(streams.begin(), streams.end(), handle) == streams.end() ? nullptr : handle;
}

void enqueue(CUstream_st& stream, std::function<bool()> run, std::vector<moment> after)
{
  task one{std::move(run), std::move(after), std::make_shared<bool>(false)};
  if (stream.capture) {
    one.after.push_back(stream.captured_last);
    stream.captured_last = one.done;
    stream.capture->tasks.push_back(std::move(one));
    return;
  }
  if (stream.legacy) {
    for (CUstream_st* const other : all_streams()) {
      if (other != &stream && other->blocking) {
        one.after.push_back(other->last);
      }
    }
  } else if (stream.blocking) {
    one.after.push_back(legacy_stream().last);
  }
  stream.last = one.done;
  stream.queue.push_back(std::move(one));
}

cudaError_t drain_until(moment const& reached)
{
  if (order_seed != current().seed) {
    order_seed = current().seed;
    order()    = random_source{order_seed ^ 0xABCDEF};
  }
  while (!is_reached(reached) && !device_is_lost()) {
    std::vector<CUstream_st*> ready;
    for (CUstream_st* const stream : all_streams()) {
      if (can_run(*stream)) {
        ready.push_back(stream);
      }
    }
    if (ready.empty()) {
      report("the host waits for work that can never be done");
      break;
    }
    CUstream_st& stream = *ready[order().below(ready.size())];
    task const one      = std::move(stream.queue.front());
    stream.queue.pop_front();
    if (!one.run()) {
      lose_device();
    }
    *one.done = true;
  }
  return device_is_lost() ? cudaErrorLaunchFailure : cudaSuccess;
}

cudaError_t drain(CUstream_st* stream)
{
  if (stream != nullptr) {
    return drain_until(stream->last);
  }
  cudaError_t status = cudaSuccess;
  for (CUstream_st* const one : all_streams()) {
    cudaError_t const its = drain_until(one->last);
    status                = its != cudaSuccess ? its : status;
  }
  return status;
}

void forget_streams()
{
  for (CUstream_st* const stream : all_streams()) {
    stream->queue.clear();
    stream->last    = nullptr;
    stream->capture = nullptr;
  }
}

}  // namespace emulation
