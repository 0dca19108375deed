/// grid_barrier: all blocks of a cooperative launch wait for each other.
///
/// The block that arrives last may do something alone before the others go on, which saves a second barrier.
/// All threads of all blocks must come to every barrier.
#pragma once

#include "atomics.cuh"
#include "barrier_state.cuh"

namespace bird::device {

class grid_barrier {
 public:
  __device__ explicit grid_barrier(barrier_state* state) : state_{state} {}

  __device__ void wait()
  {
    wait([] {});
  }

  /// @param last called by all threads of the block that arrives last, when all writes of all blocks are
  ///             visible to it; its own are visible to all blocks afterwards
  template <class Last>
  __device__ void wait(Last const& last)
  {
    __shared__ bool is_last;
    ++number_;
    __syncthreads();
    if (threadIdx.x == 0) {
      is_last = add_acquire_release(&state_->arrived, 1) + 1 == number_ * gridDim.x;
    }
    __syncthreads();
    if (is_last) {
      last();
      __syncthreads();
      if (threadIdx.x == 0) {
        store_release(&state_->released, number_);
      }
    } else if (threadIdx.x == 0) {
      while (load_acquire(&state_->released) < number_) {
        __nanosleep(20);
      }
    }
    __syncthreads();
  }

 private:
  barrier_state* state_;
  std::uint32_t number_ = 0;
};

}  // namespace bird::device
