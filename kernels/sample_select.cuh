/// sample, top and bi_random: the K tiles of largest key, by a radix select over 32-bit keys.
///
///   top         key = bits of the norm; tiles of norm 0 have none
///   bi_random   key = ~(word of stage 2), for the survivors of stage 1: the smallest words are kept. Fewer
///               survivors than slots are all kept, and nothing is selected
///
///   count      bi_random: survivors, and the sums that the magnitude needs
///   digit      three times: a histogram of 11 bits of the keys whose higher bits are those of the cut
///   narrow     per segment: the digit of the K-th largest key
///   tally      tiles above the cut and ties with it, in each chunk; of the ties the lower tiles are kept
///   emit
#pragma once

#include "bi_random.cuh"
#include "sample.cuh"
#include "values.cuh"

namespace bird::device {

inline constexpr std::uint32_t select_digits = 3;

/// Bits of a digit, from the top.
struct digit {
  std::uint32_t shift;
  std::uint32_t bits;
};
__device__ inline digit digit_of(std::uint32_t number)
{
  return number == 0 ? digit{21, 11} : number == 1 ? digit{10, 11} : digit{0, 10};
}

/// Four tiles, as many as a block of random words.
inline constexpr std::uint32_t quad = 4;

template <sampling How, class T>
class select_sampler {
 public:
  static constexpr sampling how = How;

  __device__ explicit select_sampler(compress_work const& work) : w_{work}, key_{key_of(work)} {}

  /// @param then called once by all threads of one block when the slots of all segments are counted
  template <class Then>
  __device__ void run(grid_barrier& grid, Then const& then)
  {
    if constexpr (How == sampling::bi_random) {
      count();
      grid.wait();
    }
    for (std::uint32_t number = 0; number < select_digits; ++number) {
      histogram(digit_of(number));
      meet(
        grid, w_, [&](segment const& s, segment_state& state) { narrow(s, state, number); }, [] {});
    }
    tally();
    meet(
      grid, w_, [&](segment const& s, segment_state& state) { place(s, state); }, then);
  }

  __device__ void emit()
  {
    for_each_chunk<how>(w_, [&](chunk_view const& c) { emit(c); });
  }

  /// top: the kept tiles' weights, known once they have been emitted, give the magnitude.
  __device__ void finish(segment_state& state, segment const& s) const
  {
    if (How == sampling::top && w_.header.values == values::sign && state.slots != 0) {
      rule::weight_scale const scale{state.largest, s.tiles};
      state.scale = rule::to_finite_float(rule::norm_per_slot(state.weight_sum, scale, state.slots));
    }
  }

 private:
  struct quad_keys {
    std::uint32_t key[quad];
    float norm[quad];
    std::uint32_t valid;  ///< bit i: tile i has a key
  };

  /// Keys of tiles first .. first + 3 of a segment, those that it has; first is a multiple of 4.
  __device__ quad_keys keys_of(segment const& s, segment_state const& state, std::uint32_t first,
                               std::uint32_t end, bool thin) const
  {
    quad_keys q{};
    for (std::uint32_t i = 0; i < quad && first + i < end; ++i) {
      q.norm[i] = norm_at<T>(w_, s, first + i);
    }
    if constexpr (How == sampling::top) {
      for (std::uint32_t i = 0; i < quad; ++i) {
        q.key[i] = rule::bits_of(q.norm[i]);
        q.valid |= q.key[i] != 0 ? 1U << i : 0U;
      }
    } else {
      rule::philox_block const word = rule::draw_block(key_, s.number, rule::purpose::survive, first / quad);
      for (std::uint32_t i = 0; i < quad; ++i) {
        std::uint64_t const threshold = rule::survival_threshold(q.norm[i], state.largest, w_.gamma);
        q.valid |= word.word[i] < threshold ? 1U << i : 0U;
      }
      if (thin && q.valid != 0) {
        rule::philox_block const order = rule::draw_block(key_, s.number, rule::purpose::thin, first / quad);
        for (std::uint32_t i = 0; i < quad; ++i) {
          q.key[i] = ~order.word[i];
        }
      }
    }
    return q;
  }

  /// Stage 1.
  __device__ void count()
  {
    for_each_chunk<how>(w_, [&](chunk_view const& c) {
      if (!(c.state->largest > 0)) {
        return;
      }
      rule::weight_scale const scale{c.state->largest, c.s->tiles};
      std::uint64_t weights    = 0;
      std::uint64_t thresholds = 0;
      std::uint64_t survivors  = 0;
      for (std::uint32_t i = threadIdx.x * quad; i < c.count; i += block_threads * quad) {
        quad_keys const q = keys_of(*c.s, *c.state, c.first + i, c.first + c.count, false);
        for (float const norm : q.norm) {
          weights += scale.weight(norm);
          thresholds += rule::survival_threshold(norm, c.state->largest, w_.gamma);
        }
        survivors += static_cast<std::uint32_t>(__popc(q.valid));
      }
      weights    = block_sum(weights);
      thresholds = block_sum(thresholds);
      survivors  = block_sum(survivors);
      if (threadIdx.x == 0) {
        add(&c.state->weight_sum, weights);
        add(&c.state->threshold_sum, thresholds);
        add(&c.state->non_zero, static_cast<std::uint32_t>(survivors));
      }
    });
  }

  /// True when nothing need be selected, because all that have a key are kept.
  [[nodiscard]] __device__ bool keeps_all(segment const& s, segment_state const& state) const
  {
    return How == sampling::bi_random ? state.non_zero <= s.slots : state.all_kept != 0;
  }

  [[nodiscard]] __device__ std::uint32_t* bins(segment const& s) const
  {
    return static_cast<std::uint32_t*>(w_.histograms) + std::size_t{s.histogram} * select_bins;
  }

  /// Keys of a chunk whose bits above the digit are those of the cut.
  __device__ void histogram(digit d)
  {
    __shared__ std::uint32_t counts[select_bins];
    for_each_chunk<how>(w_, [&](chunk_view const& c) {
      if (!(c.state->largest > 0) || keeps_all(*c.s, *c.state)) {
        return;
      }
      for (std::uint32_t bin = threadIdx.x; bin < select_bins; bin += block_threads) {
        counts[bin] = 0;
      }
      __syncthreads();
      for (std::uint32_t i = threadIdx.x * quad; i < c.count; i += block_threads * quad) {
        quad_keys const q = keys_of(*c.s, *c.state, c.first + i, c.first + c.count, true);
        for (std::uint32_t k = 0; k < quad; ++k) {
          bool const inside = std::uint64_t{q.key[k]} >> (d.shift + d.bits) == c.state->cut;
          if ((q.valid >> k & 1U) != 0 && inside) {
            add(counts + (q.key[k] >> d.shift & ((1U << d.bits) - 1)), 1);
          }
        }
      }
      __syncthreads();
      for (std::uint32_t bin = threadIdx.x; bin < select_bins; bin += block_threads) {
        if (counts[bin] != 0) {
          add(bins(*c.s) + bin, counts[bin]);
        }
      }
      __syncthreads();
    });
  }

  /// The digit of the K-th largest key, and how many keys are wanted of those that share it. Clears the bins.
  __device__ void narrow(segment const& s, segment_state& state, std::uint32_t number)
  {
    constexpr std::uint32_t run = select_bins / block_threads;
    bool const idle             = !(state.largest > 0) || keeps_all(s, state);
    std::uint64_t const wanted  = number == 0 ? s.slots : state.wanted;
    __syncthreads();  // the state has been read
    if (idle) {
      return;
    }
    std::uint32_t const highest = select_bins - 1 - threadIdx.x * run;  // of this thread's bins, falling
    std::uint32_t counts[run];
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < run; ++i) {
      counts[i] = bins(s)[highest - i];
      sum += counts[i];
      bins(s)[highest - i] = 0;
    }
    prefix const keys = block_prefix(sum);
    if (keys.total < wanted) {  // only at the first digit: fewer than K tiles have a key
      state.all_kept = 1;
      return;
    }
    if (keys.before < wanted && wanted <= keys.before + sum) {
      std::uint64_t above = keys.before;
      std::uint32_t i     = 0;
      for (; above + counts[i] < wanted; ++i) {
        above += counts[i];
      }
      state.cut    = state.cut << digit_of(number).bits | (highest - i);
      state.wanted = wanted - above;
    }
  }

  /// Which of four tiles are kept for sure, and which are ties.
  __device__ void compare(segment const& s, segment_state const& state, quad_keys const& q,
                          std::uint32_t& above, std::uint32_t& ties) const
  {
    above = 0;
    ties  = 0;
    for (std::uint32_t k = 0; k < quad; ++k) {
      if ((q.valid >> k & 1U) != 0) {
        bool const kept = keeps_all(s, state) || q.key[k] > state.cut;
        above |= kept ? 1U << k : 0U;
        ties |= !kept && q.key[k] == state.cut ? 1U << k : 0U;
      }
    }
  }

  __device__ void tally()
  {
    for_each_chunk<how>(w_, [&](chunk_view const& c) {
      std::uint64_t larger = 0;
      std::uint64_t equal  = 0;
      if (c.state->largest > 0) {
        for (std::uint32_t i = threadIdx.x * quad; i < c.count; i += block_threads * quad) {
          std::uint32_t above = 0;
          std::uint32_t ties  = 0;
          compare(*c.s, *c.state, keys_of(*c.s, *c.state, c.first + i, c.first + c.count, true), above, ties);
          larger += static_cast<std::uint32_t>(__popc(above));
          equal += static_cast<std::uint32_t>(__popc(ties));
        }
      }
      larger = block_sum(larger);
      equal  = block_sum(equal);
      if (threadIdx.x == 0) {
        *c.sums = {larger, equal};
      }
    });
  }

  __device__ void place(segment const& s, segment_state& state)
  {
    chunk_state const all = scan_chunks(w_, s);
    __syncthreads();
    if (threadIdx.x != 0 || !(state.largest > 0)) {
      return;
    }
    state.slots = static_cast<std::uint32_t>(all.first + (keeps_all(s, state) ? 0 : state.wanted));
    if constexpr (How == sampling::top) {
      state.companion_factor = 1.0 / static_cast<double>(s.tiles);
      state.scale            = 1.0F;
      state.weight_sum       = 0;
    } else {
      rule::bi_random const drawn{state.non_zero, state.slots, state.threshold_sum};
      rule::weight_scale const scale{state.largest, s.tiles};
      state.companion_factor = drawn.companion_factor();
      state.scale =
        w_.header.values == values::sign
          ? drawn.scale(w_.gamma, state.largest, static_cast<double>(state.weight_sum) * scale.unit())
          : rule::stored_scale(w_.header.values, w_.header.type, drawn.largest_value(state.largest));
    }
  }

  static constexpr std::uint32_t run_quads = chunk_tiles / block_threads / quad;

  __device__ void emit(chunk_view const& c)
  {
    if (!(c.state->largest > 0)) {
      return;
    }
    segment_state const& state = *c.state;
    quad_keys keys[run_quads];
    std::uint32_t above[run_quads];
    std::uint32_t ties[run_quads];
    std::uint64_t counts = 0;  // above, and ties in the upper half
    for (std::uint32_t j = 0; j < run_quads; ++j) {
      std::uint32_t const at = (threadIdx.x * run_quads + j) * quad;
      keys[j]                = keys_of(*c.s, state, c.first + at, c.first + c.count, true);
      compare(*c.s, state, keys[j], above[j], ties[j]);
      counts += static_cast<std::uint32_t>(__popc(above[j]));
      counts += std::uint64_t{static_cast<std::uint32_t>(__popc(ties[j]))} << 32;
    }
    std::uint64_t const before = block_prefix(counts).before;
    std::uint64_t larger       = c.sums->first + static_cast<std::uint32_t>(before);
    std::uint64_t equal        = c.sums->second + (before >> 32);
    std::uint64_t const wanted = keeps_all(*c.s, state) ? 0 : state.wanted;
    rule::weight_scale const scale{state.largest, c.s->tiles};
    std::uint64_t weights = 0;
    for (std::uint32_t j = 0; j < run_quads; ++j) {
      for (std::uint32_t k = 0; k < quad; ++k) {
        bool const is_above = (above[j] >> k & 1U) != 0;
        bool const is_tie   = (ties[j] >> k & 1U) != 0;
        if (is_above || (is_tie && equal < wanted)) {
          std::uint32_t const tile        = c.first + (threadIdx.x * run_quads + j) * quad + k;
          std::uint64_t const at          = larger + (equal < wanted ? equal : wanted);
          w_.slots[state.first_slot + at] = {c.s->first_tile + tile, multiplier(state, keys[j].norm[k])};
          weights += scale.weight(keys[j].norm[k]);
        }
        larger += is_above ? 1 : 0;
        equal += is_tie ? 1 : 0;
      }
    }
    if (How == sampling::top && w_.header.values == values::sign) {
      weights = block_sum(weights);
      if (threadIdx.x == 0) {
        add(&c.state->weight_sum, weights);
      }
    }
  }

  __device__ float multiplier(segment_state const& state, float norm) const
  {
    if constexpr (How == sampling::top) {
      return 1.0F;
    } else {
      rule::bi_random const drawn{state.non_zero, state.slots, state.threshold_sum};
      return drawn.multiplier(rule::survival_threshold(norm, state.largest, w_.gamma));
    }
  }

  compress_work const& w_;
  rule::philox_key key_;
};

}  // namespace bird::device
