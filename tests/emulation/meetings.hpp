/// Barriers and warp operations, and what they need of the scheduler.
#pragma once

#include "machine.hpp"

namespace emulation {

/// The thread may run again.
void make_ready(fiber& one);
/// The running thread has queued or parked itself; another one goes on.
void give_way();

/// Lets the groups of a warp go whose lanes have all come or ended.
void complete_groups(block& b, unsigned warp);
/// Lets the threads of a block go when all that are alive have come to the barrier.
void complete_barrier(block& b);

}  // namespace emulation
