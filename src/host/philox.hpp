/// Philox words by the vector; the rule is rule::draw_block.
#pragma once

#include "bird/span.hpp"
#include "draw.cuh"

namespace bird::host {

/// What all counters of one call share.
struct philox_stream {
  rule::philox_key key;
  std::uint32_t segment;
  std::uint32_t what;
};

/// Fills `words` with the words of successive blocks, as rule::draw_block gives them.
/// `words.size()` is a multiple of 4.
void philox_fill(rule::philox_key key, std::uint32_t segment, rule::purpose what, std::uint64_t first_block,
                 span<std::uint32_t> words);

}  // namespace bird::host
