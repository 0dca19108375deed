#include "gpu/replay.hpp"

#include <algorithm>

#include "launch.hpp"

namespace bird::bench {
namespace {

using device::check;

cudaStream_t new_stream()
{
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return stream;
}

cudaEvent_t new_event()
{
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "cudaEventCreate");
  return event;
}

double seconds_between(cudaEvent_t begin, cudaEvent_t end)
{
  float milliseconds = 0;
  check(cudaEventSynchronize(end), "cudaEventSynchronize");
  check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace

turns turns_for(std::size_t bytes, std::size_t most)
{
  constexpr std::size_t larger_than_l2 = std::size_t{256} << 20U;
  constexpr std::size_t long_enough    = std::size_t{4} << 30U;  // a millisecond at 4 TB/s
  std::size_t const size               = std::max<std::size_t>(bytes, 1);
  std::size_t const buffers            = std::clamp<std::size_t>(larger_than_l2 / size, 1, most);
  return {buffers, std::clamp<std::size_t>(long_enough / size, buffers, most)};
}

replay::replay(std::size_t calls, device_call call)
  : calls_{calls}, call_{std::move(call)}, stream_{new_stream()}, begin_{new_event()}, end_{new_event()}
{
  call_(0, stream_);  // loads the kernels, which a capture may not
  check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  for (std::size_t i = 0; i < calls; ++i) {
    call_(i, stream_);
  }
  check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&exec_, graph, 0), "cudaGraphInstantiate");
  cudaGraphDestroy(graph);
}

replay::~replay()
{
  cudaGraphExecDestroy(exec_);
  cudaEventDestroy(begin_);
  cudaEventDestroy(end_);
  cudaStreamDestroy(stream_);
}

double replay::operator()()
{
  check(cudaEventRecord(begin_, stream_), "cudaEventRecord");
  check(cudaGraphLaunch(exec_, stream_), "cudaGraphLaunch");
  check(cudaEventRecord(end_, stream_), "cudaEventRecord");
  return seconds_between(begin_, end_) / static_cast<double>(calls_);
}

launches::launches(std::size_t calls, device_call call)
  : calls_{calls}, call_{std::move(call)}, stream_{new_stream()}, begin_{new_event()}, end_{new_event()}
{
  call_(0, stream_);
  check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

launches::~launches()
{
  cudaEventDestroy(begin_);
  cudaEventDestroy(end_);
  cudaStreamDestroy(stream_);
}

double launches::operator()()
{
  check(cudaEventRecord(begin_, stream_), "cudaEventRecord");
  for (std::size_t i = 0; i < calls_; ++i) {
    call_(i, stream_);
  }
  check(cudaEventRecord(end_, stream_), "cudaEventRecord");
  return seconds_between(begin_, end_) / static_cast<double>(calls_);
}

}  // namespace bird::bench
