/// Timing of device work, by events around replays of a graph.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>

namespace bird::bench {

/// Enqueues call number i on the stream. Calls take turns over buffers, so that none finds its input in L2.
using device_call = std::function<void(std::size_t i, cudaStream_t stream)>;

/// How often a call is enqueued for one timing, and in how many buffers it takes turns.
struct turns {
  std::size_t buffers;
  std::size_t calls;
};

/// As many buffers as exceed every L2 (128 MiB), and as many calls as take long enough to be timed; at most
/// `most` of either.
turns turns_for(std::size_t bytes, std::size_t most);

/// A graph of calls. Its timing is that of one call.
class replay {
 public:
  replay(std::size_t calls, device_call call);
  ~replay();
  replay(replay const&)            = delete;
  replay& operator=(replay const&) = delete;

  /// Replays the graph. @returns seconds of one call
  double operator()();

 private:
  std::size_t calls_;
  device_call call_;  ///< owns the memory that the graph works on
  cudaStream_t stream_  = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  cudaEvent_t begin_    = nullptr;
  cudaEvent_t end_      = nullptr;
};

/// The same calls without a graph, launch by launch.
class launches {
 public:
  launches(std::size_t calls, device_call call);
  ~launches();
  launches(launches const&)            = delete;
  launches& operator=(launches const&) = delete;
  double operator()();

 private:
  std::size_t calls_;
  device_call call_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_   = nullptr;
  cudaEvent_t end_     = nullptr;
};

}  // namespace bird::bench
