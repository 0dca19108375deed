/// What the four samplers share: one segment's work, and its tiles in chunks.
#pragma once

#include <algorithm>

#include "host/norm_reader.hpp"
#include "host/parallel.hpp"
#include "host/stages.hpp"

namespace bird::host {

/// Tiles below which waking the threads for a pass over norms costs more than it saves: a tile takes a few
/// cycles.
inline constexpr std::uint64_t parallel_tiles = 512 * 1024;

/// One sampled segment with at least one tile, and where its slots go.
struct segment_work {
  segment_plan const* segment;
  dtype type;
  rule::philox_key key;
  float largest;  ///< norm of the segment; 0 only for uniform
  bool many;      ///< worth the threads
  norm_reader norms;
  slot* slots;
  float* candidate_norms;
  std::uint64_t* survivors;
  std::uint64_t* chunk_storage;  ///< chunk_arrays counts a chunk
};

/// Replaces each value by the sum of those before it. @returns the sum of all
std::uint64_t exclusive_sum(std::uint64_t* values, std::uint64_t count);

/// Items cut into chunks, with one count for each chunk.
class chunk_list {
 public:
  chunk_list(std::uint64_t items, std::uint64_t* counts)
    : items_{items}, size_{rule::ceil_div(items, sample_chunk_tiles)}, counts_{counts}
  {
  }

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t first(std::uint64_t chunk) const { return chunk * sample_chunk_tiles; }
  [[nodiscard]] std::uint64_t tiles(std::uint64_t chunk) const
  {
    return std::min(sample_chunk_tiles, items_ - first(chunk));
  }
  std::uint64_t& operator[](std::uint64_t chunk) const { return counts_[chunk]; }
  /// Turns counts into places. @returns their sum
  std::uint64_t place() const { return exclusive_sum(counts_, size_); }

 private:
  std::uint64_t items_;
  std::uint64_t size_;
  std::uint64_t* counts_;
};

segment_sample sample_systematic(segment_work const& work, compressor_options const& options);
segment_sample sample_bi_random(segment_work const& work, compressor_options const& options);
segment_sample sample_uniform(segment_work const& work, compressor_options const& options);
segment_sample sample_top(segment_work const& work, compressor_options const& options);

}  // namespace bird::host
