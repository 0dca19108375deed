/// The stages of the codec on the device. The host stages are their model; here sample and compact are one
/// kernel, since each of its phases must see all of the one before:
///
///   tensors --tile_norms--> norms --sample_and_compact--> packet --decode--> tensors
///
/// With error feedback (feedback.cu) residuals stand for the tensors:
///
///   tensors --tile_norms, accumulate--> residuals --tile_norms, sample_and_compact--> packet --settle-->
///   residuals
///
/// All functions enqueue and return: no allocation, no waiting, legal while a stream is captured.
#pragma once

#include <cuda_runtime.h>

#include "barrier_state.cuh"
#include "bird/compressor.hpp"
#include "device_list.cuh"

namespace bird::device {

/// What tile_norms reads and writes.
struct norm_work {
  segment* list;  ///< the segments, left here for the next kernel
  std::uint32_t segment_count;
  std::uint32_t items;
  norm kind;
  float* norms;  ///< one a tile; null when tiles are single elements or nothing asks for norms
  std::uint32_t* summaries;
  std::uint32_t* cleared;  ///< words that the next kernel wants to be zero
  std::uint32_t cleared_words;
};

void tile_norms(dtype type, norm_work const& work, span<segment const> segments, cudaStream_t stream);

/// Memory of error feedback for one tensor.
struct feedback_buffers {
  void const* gradient;
  float* residual;
  float* velocity;  ///< null: none
};

/// What tile_norms saw of the gradients where residuals stand for them.
struct gradient_summaries {
  segment const* list;  ///< cut into items of plain elements
  std::uint32_t const* summaries;
  std::uint32_t items;
};

/// residual += gradient, by way of the velocity where there is one; nothing where some gradient holds an Inf
/// or NaN, which the residual would keep for ever.
void accumulate(dtype type, gradient_summaries const& seen, std::uint32_t segment_count, float momentum,
                span<feedback_buffers const> buffers, feedback_buffers* kept, cudaStream_t stream);

/// Counters of a sample_and_compact kernel.
struct compress_control {
  barrier_state barrier;
  std::uint32_t finished;  ///< blocks that have added to the checksum
  std::uint64_t checksum;
  std::uint64_t index_offset;
  std::uint64_t starts_offset;
  std::uint64_t values_offset;
  std::uint64_t total_bytes;
  std::uint32_t slots;  ///< of all segments
  std::uint32_t non_finite;
  std::uint32_t refused;  ///< error feedback: some gradient holds an Inf or NaN
};

/// What sample_and_compact reads and writes.
struct compress_work {
  packet_header header;  ///< of the packet; flags, slot_count and checksum are still zero
  segment const* list;
  std::uint32_t items;
  std::uint32_t chunks;
  std::uint32_t batches;
  std::uint32_t tiles;
  bool scales_companions;  ///< some values of companions need a factor of their own
  double gamma;
  std::uint32_t* step_counter;  ///< added to the step, and then raised by one; may be null
  std::uint32_t const* summaries;
  float* norms;  ///< of tiles; uniform: of candidates; null when tiles are single elements
  compress_control* control;
  segment_state* states;
  chunk_state* chunk_states;
  gradient_summaries gradients;     ///< error feedback
  feedback_buffers const* buffers;  ///< error feedback; null: none
  void* histograms;  ///< systematic: rule::weight_bins of rule::weight_bin_sum; select: select_bins counts
  slot* slots;
  std::byte* packet;
};

void sample_and_compact(compress_work const& work, cudaStream_t stream);

/// residual -= what the packet of this work carries; the velocity of what was sent becomes zero.
void settle(compress_work const& work, cudaStream_t stream);

}  // namespace bird::device
