/// Groups: what a thread calls between GroupStart and the outermost GroupEnd happens at that end. A call
/// outside is a group of its own.
#pragma once

#include <functional>

#include "communicator.hpp"

namespace loopback::group {

void start();
/// @throws failure for an end without a start, or the first failure of the calls inside
ncclResult_t end();
/// Forgets all calls inside. @returns how many operations there were
std::size_t simulate_end();
bool is_open();
/// A call inside has failed: the end will say so.
void note(failure const& error);

/// An operation; done now if no group is open. @returns ncclSuccess or ncclInProgress
ncclResult_t add(communicator_ref comm, operation op);

/// Waits for other ranks, so it happens at the end of the group, beside others of its kind.
struct host_job {
  communicator_ref comm;         ///< whose `blocking` counts
  std::function<void()> body;    ///< may throw failure
  std::function<void()> finish;  ///< hands out the handle, in the calling thread: after body, or before for
                                 ///< a communicator that is not blocking
};
ncclResult_t add(host_job job);

}  // namespace loopback::group
