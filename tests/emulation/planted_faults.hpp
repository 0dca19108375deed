/// Kernels with faults to be caught: the test of the emulation's own senses.
#pragma once

#include <cuda_runtime.h>

namespace planted {

enum class kernel { block_sums, reverse_warps, half_warps, look_back, last_block, write_places, copy };

enum class fault {
  none,
  no_barrier_before_read,
  no_barrier_before_reuse,
  read_past_the_end,
  no_warp_barrier,
  full_mask_for_half_a_warp,
  tile_by_block_number,
  relaxed_load_of_a_flag,
  relaxed_store_of_a_flag,
  no_fence_before_the_last_block,
  blocks_write_one_place,
};

/// Device memory that the kernels use.
struct memory {
  unsigned const* input;
  unsigned count;
  unsigned* output;
  unsigned* flags;
  unsigned* counter;
};

cudaError_t run(kernel which, fault planted, memory const& m, cudaStream_t stream);

}  // namespace planted
