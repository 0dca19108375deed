/// Where batches run. In a program with the emulated CUDA: on its streams. In one without: on queues of the
/// loopback's own, one for each handle and device; the handle NULL is the calling thread.
#pragma once

#include <memory>
#include <vector>

#include "batch.hpp"

namespace loopback::streams {

/// What one outermost group launches. Batches of several streams are ordered as NCCL orders them: all streams
/// of one communicator's group wait for all of its work.
void launch(std::vector<std::shared_ptr<batch>> const& batches);

/// Waits for what was called on the communicator, where the streams run by themselves.
void flush(communicator& comm);

/// Waits for a queue without CUDA.
void synchronize(cudaStream_t stream);

/// cudaGetDevice() of the emulation; -1: there is none.
int current_device();

/// Device memory, or host memory where that is the device's; null: there is none left.
void* allocate(std::size_t bytes);
void release(void* memory);

}  // namespace loopback::streams
