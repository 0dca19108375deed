/// The stages of the codec on the CPU, in the order in which data passes through them:
///
///   tensors --tile_norms--> norms --sample--> slots --compact--> packet --decompress, apply--> tensors
///
/// Each stage reads what the one before it wrote. Work is split into chunks whose results do not depend on
/// which thread takes them, so any thread count gives the same bits.
#pragma once

#include "bird/compressor.hpp"
#include "draw.cuh"
#include "list_plan.hpp"
#include "slot.cuh"

namespace bird::host {

using rule::slot;

/// What sample() says of one segment.
struct segment_sample {
  std::uint64_t first_slot = 0;
  std::uint32_t slots      = 0;
  float scale              = 1.0F;  ///< as in segment_entry
  double companion_factor  = 0;     ///< sign: sum |b| of a companion times this is its magnitude
  double largest_value     = 0;  ///< full: bound of the values to be stored, 0 if they are the tensor's own
  float largest_norm       = 0;  ///< of the tiles
  bool non_finite          = false;
};

/// Buffers inside the caller's scratch.
struct scratch_view {
  float* norms;              ///< one a tile; null when tiles are single elements or nothing asks for norms
  slot* slots;               ///< capacity of the plan
  float* candidate_norms;    ///< uniform: norms of the drawn tiles, one a slot of the largest segment
  std::uint64_t* survivors;  ///< bi_random: one a tile of the largest segment
  std::uint64_t* chunks;     ///< two a chunk of the largest segment
};

inline constexpr std::uint64_t sample_chunk_tiles = 2048;  ///< 16 KiB of weights, half an L1 cache

[[nodiscard]] std::size_t scratch_bytes(list_plan const& plan, compressor_options const& options);
[[nodiscard]] scratch_view carve(list_plan const& plan, compressor_options const& options,
                                 std::byte* scratch);

/// Largest norm of a segment, and whether it holds an Inf or NaN anywhere.
struct norm_summary {
  float largest   = 0;
  bool non_finite = false;
};

/// A blind sampler leaves the tensors that it samples alone; the others are read and sent in any case.
enum class which_segments : std::uint8_t { all, not_sampled };

/// Norms of all tiles into `norms` (skipped where that is null: then only the summaries are made).
void tile_norms(list_plan const& plan, norm kind, float* norms, which_segments which,
                span<norm_summary> summaries);

/// Draws slots, sorted by tile. @returns their number
std::uint64_t sample(list_plan const& plan, compressor_options const& options, rule::philox_key key,
                     span<norm_summary const> summaries, scratch_view const& scratch,
                     span<segment_sample> samples);

/// Noise of a sample, as sums over what was kept of the sampled segments.
struct noise_estimate {
  double energy = 0;  ///< of |g|^2
  double error  = 0;  ///< of E |decoded - g|^2
};

/// Writes the packet. @returns its bytes
std::uint64_t compact(list_plan const& plan, compressor_options const& options, sample_key const& name,
                      rule::philox_key key, std::uint64_t capacity, span<segment_sample const> samples,
                      slot const* slots, std::byte* packet, noise_estimate& noise);

/// Overwrites the tensors; the packet has been checked against them.
void decompress(packet_view const& packet, span<tensor_view const> tensors);

/// Adds the packets in order; they have been checked against the tensors.
void apply(span<packet_view const> packets, span<float const> weights, span<tensor_view const> tensors);

/// velocity = momentum * velocity + g; residual += velocity (or g). The residual is what is sent.
void accumulate(list_plan const& plan, feedback const& memory);

/// Takes what the packet carries out of the residual, and clears the velocity of every sampled element that
/// was sent.
void settle(packet_view const& packet, feedback const& memory);

/// Sum of squares of all elements of sampled segments.
[[nodiscard]] double sum_of_squares(list_plan const& plan);

}  // namespace bird::host
