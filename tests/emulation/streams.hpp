/// Streams, events and graphs. Nothing runs when it is queued.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "machine.hpp"

namespace emulation {

/// A point that work reaches; shared by who waits for it.
using moment = std::shared_ptr<bool>;

/// One piece of queued work.
struct task {
  std::function<bool()> run;  ///< @returns false when the device is lost
  std::vector<moment> after;  ///< must have been reached before
  moment done;
};

/// What a capture has recorded, from all of its streams; tasks refer to each other by `done`.
struct recording {
  std::vector<task> tasks;
  cudaStream_t origin = nullptr;
};

/// The stream behind a handle of the interface; null for one that does not exist (any more).
CUstream_st* resolve(cudaStream_t handle);
/// Queues the task, or records it where the stream is captured.
void enqueue(CUstream_st& stream, std::function<bool()> run, std::vector<moment> after = {});
/// Runs work until all of this stream (null: of all streams) is done, in a random order that respects streams
/// and events alone. @returns cudaErrorLaunchFailure when a kernel was reported
cudaError_t drain(CUstream_st* stream);
cudaError_t drain_until(moment const& reached);
void forget_streams();
std::vector<CUstream_st*>& all_streams();

}  // namespace emulation

struct CUstream_st {
  std::deque<emulation::task> queue;
  emulation::moment last;  ///< of what was queued; null: nothing
  std::shared_ptr<emulation::recording> capture;
  emulation::moment captured_last;
  int device    = 0;
  bool blocking = true;  ///< waits for the legacy stream, and it for this one
  bool legacy   = false;
};
struct CUevent_st {
  emulation::moment reached;  ///< null: never recorded
  std::shared_ptr<emulation::recording> capture;
  std::shared_ptr<double> milliseconds;
};
struct CUgraph_st {
  std::shared_ptr<emulation::recording> recorded;
};
struct CUgraphExec_st {
  std::shared_ptr<emulation::recording> recorded;
  emulation::moment last_launch;  ///< launches of one graph follow each other
};
