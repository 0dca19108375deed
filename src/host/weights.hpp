/// Weights of a chunk of norms, by the vector; rule::weight_scale is the specification.
#pragma once

#include "host/sample.hpp"
#include "weight.cuh"

namespace bird::host {

/// weights[i] = weight of |norms[i]|; the sign does not matter, so elements may stand for their norms.
void weights_of(rule::weight_scale scale, float const* norms, std::uint64_t count, std::uint64_t* weights);

/// The weights of one chunk, in a thread's own cache.
class weight_buffer {
 public:
  void fill(segment_work const& work, rule::weight_scale scale, std::uint64_t first, std::uint64_t count)
  {
    weights_of(scale, work.norms.read_signed(first, count, norms_), count, weights_);
  }
  std::uint64_t operator[](std::uint64_t i) const { return weights_[i]; }

 private:
  alignas(64) std::uint64_t weights_[sample_chunk_tiles];
  alignas(64) float norms_[sample_chunk_tiles];
};

}  // namespace bird::host
