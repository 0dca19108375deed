/// Weights of a chunk of norms, by the vector; rule::weight_scale is the specification.
#pragma once

#include "host/sample.hpp"
#include "weight.cuh"

namespace bird::host {

/// weights[i] = weight of norms[i].
void weights_of(rule::weight_scale scale, float const* norms, std::uint64_t count, std::uint64_t* weights);

struct weight_totals {
  std::uint64_t below    = 0;  ///< sum of the weights below a threshold
  std::uint64_t at_least = 0;  ///< number of weights that are not
};

/// The weights of one chunk, in a thread's own cache.
class weight_buffer {
 public:
  void fill(segment_work const& work, rule::weight_scale scale, std::uint64_t first, std::uint64_t count)
  {
    weights_of(scale, work.norms.read(first, count, norms_), count, weights_);
  }
  std::uint64_t operator[](std::uint64_t i) const { return weights_[i]; }

  [[nodiscard]] weight_totals totals(std::uint64_t count, std::uint64_t threshold) const
  {
    weight_totals totals;
    for (std::uint64_t i = 0; i < count; ++i) {
      bool const below = weights_[i] < threshold;
      totals.below += below ? weights_[i] : 0;
      totals.at_least += below ? 0 : 1;
    }
    return totals;
  }

 private:
  alignas(64) std::uint64_t weights_[sample_chunk_tiles];
  alignas(64) float norms_[sample_chunk_tiles];
};

}  // namespace bird::host
