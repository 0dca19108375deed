/// Streams, events and graphs. Nothing runs when it is queued.
///
/// Whoever waits runs queued work, in a random order that respects only what CUDA promises: the order of each
/// stream, events, the legacy stream's rules, the edges of a graph. What is ordered before what is also kept
/// as task_times, from which the checker knows races between kernels and copies of different streams.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "machine.hpp"

namespace emulation {

/// A point that work reaches.
struct moment_state {
  bool reached = false;
  task_times known;  ///< the work that happened before it
};
using moment = std::shared_ptr<moment_state>;

/// One piece of queued work.
struct task {
  std::function<bool()> run;  ///< @returns false when the device is lost
  std::vector<moment> after;  ///< must have been reached before
  moment done;
  unsigned lane = 0;       ///< tasks of one lane follow each other
  task_times host_before;  ///< what the host had waited for when it queued this
};

/// What a capture has recorded, from all of its streams; tasks refer to each other by `done`.
struct recording {
  std::vector<task> tasks;
  cudaStream_t origin        = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  bool invalidated           = false;
  bool ended                 = false;
};

/// The stream behind a handle of the interface; null for one that does not exist (any more).
CUstream_st* resolve(cudaStream_t handle);
CUstream_st* make_stream(bool blocking);
void remove_stream(CUstream_st& stream);
std::vector<CUstream_st*>& all_streams();

/// Queues the task, or records it where the stream is captured.
void enqueue(CUstream_st& stream, std::function<bool()> run, std::vector<moment> after = {});
/// Queues the tasks of a recording; the stream goes on when all are done. @returns when that is
moment enqueue_graph(CUstream_st& stream, recording const& recorded, moment const& last_launch);

/// Runs work until all of this stream (null: of all streams) is done. @returns cudaErrorLaunchFailure when a
/// kernel was reported
cudaError_t drain(CUstream_st* stream);
cudaError_t drain_until(moment const& reached);
/// The host has seen that a moment was reached.
void host_learns(moment const& reached);
void forget_streams();

}  // namespace emulation

struct CUstream_st {
  std::deque<emulation::task> queue;
  emulation::moment last;  ///< of what was queued; null: nothing
  std::shared_ptr<emulation::recording> capture;
  std::vector<emulation::moment> captured_last;  ///< what the next recorded task follows
  unsigned lane = 0;
  int device    = 0;
  bool blocking = true;  ///< waits for the legacy stream, and it for this one
  bool legacy   = false;
};
struct CUevent_st {
  emulation::moment reached;                      ///< null: never recorded
  std::shared_ptr<emulation::recording> capture;  ///< null: not recorded in one
  std::vector<emulation::moment> captured_last;
  std::shared_ptr<double> milliseconds;
};
struct CUgraph_st {
  std::shared_ptr<emulation::recording> recorded;
};
struct CUgraphExec_st {
  std::shared_ptr<emulation::recording> recorded;
  emulation::moment last_launch;  ///< launches of one graph follow each other
};
