/// sample, systematic: see systematic.cuh for the rule.
///
///   weigh     sums of the weights of each chunk; their histogram where certain tiles are allowed
///   choose    per segment: certain tiles, W, r, slots
///   take_out  certain tiles out of the chunks' sums
///   place     per segment: prefix sums of the chunks
///   emit      every slot finds its tile by a search in the running sums of its chunk
#pragma once

#include "sample.cuh"
#include "systematic.cuh"
#include "values.cuh"

namespace bird::device {

template <class T>
class systematic_sampler {
 public:
  static constexpr sampling how = sampling::systematic;

  __device__ explicit systematic_sampler(compress_work const& work) : w_{work} {}

  /// @param then called once by all threads of one block when the slots of all segments are counted
  template <class Then>
  __device__ void run(grid_barrier& grid, Then const& then)
  {
    auto const choose_for = [&](segment const& s, segment_state& state) { choose(s, state); };
    weigh();
    if (!has_certain()) {
      meet(grid, w_, choose_for, then);
      return;
    }
    meet(grid, w_, choose_for, [] {});
    take_out();
    meet(
      grid, w_, [&](segment const& s, segment_state&) { scan_chunks(w_, s); }, then);
  }

  __device__ void emit()
  {
    for_each_chunk<how>(w_, [&](chunk_view const& c) { emit(c); });
  }

  __device__ void finish(segment_state&, segment const&) const {}

 private:
  [[nodiscard]] __device__ bool has_certain() const { return w_.header.values != values::sign; }
  [[nodiscard]] __device__ rule::weight_bin_sum* bins(segment const& s) const
  {
    return static_cast<rule::weight_bin_sum*>(w_.histograms) + std::size_t{s.histogram} * rule::weight_bins;
  }

  __device__ void weigh()
  {
    __shared__ std::uint64_t sums[rule::weight_bins];
    __shared__ std::uint32_t counts[rule::weight_bins];
    for_each_chunk<how>(w_, [&](chunk_view const& c) {
      if (has_certain()) {
        for (std::uint32_t bin = threadIdx.x; bin < rule::weight_bins; bin += block_threads) {
          sums[bin]   = 0;
          counts[bin] = 0;
        }
        __syncthreads();
      }
      rule::weight_scale const scale{c.state->largest, c.s->tiles};
      std::uint64_t sum      = 0;
      std::uint64_t non_zero = 0;
      for (std::uint32_t i = threadIdx.x; i < c.count; i += block_threads) {
        std::uint64_t const weight = scale.weight(norm_at<T>(w_, *c.s, c.first + i));
        if (weight != 0) {
          sum += weight;
          ++non_zero;
          if (has_certain()) {
            add(sums + rule::weight_bin(weight), weight);
            add(counts + rule::weight_bin(weight), 1);
          }
        }
      }
      sum      = block_sum(sum);
      non_zero = block_sum(non_zero);
      if (threadIdx.x == 0) {
        *c.sums = {sum, has_certain() ? non_zero : 0};  // signs: no tile is certain
      }
      if (has_certain()) {
        for (std::uint32_t bin = threadIdx.x; bin < rule::weight_bins; bin += block_threads) {
          if (counts[bin] != 0) {
            add(&bins(*c.s)[bin].sum, sums[bin]);
            add(&bins(*c.s)[bin].count, std::uint64_t{counts[bin]});
          }
        }
        __syncthreads();
      }
    });
  }

  __device__ void choose(segment const& s, segment_state& state)
  {
    __shared__ rule::weight_bin_sum near_bins[rule::weight_bins];  // one thread walks through them
    chunk_state const all = has_certain() ? sum_chunks(w_, s) : scan_chunks(w_, s);
    for (std::uint32_t bin = threadIdx.x; has_certain() && bin < rule::weight_bins; bin += block_threads) {
      near_bins[bin] = bins(s)[bin];
    }
    __syncthreads();
    if (threadIdx.x != 0 || !(state.largest > 0)) {
      return;
    }
    rule::weight_scale const scale{state.largest, s.tiles};
    rule::certain_tiles certain{rule::no_threshold, 0, 0};
    if (has_certain() && static_cast<rule::uint128>(scale.weight(state.largest)) * s.slots > all.first) {
      certain = rule::choose_certain(near_bins, {all.first, all.second}, s.slots);
      if (certain.count == 0) {
        certain.threshold = rule::no_threshold;
      }
    }
    state.total        = all.first - certain.sum;
    state.certain_from = certain.threshold;
    state.offset       = state.total == 0 ? 0 : rule::systematic_offset(key_of(w_), s.number, state.total);
    state.light_slots  = state.total == 0 ? 0 : s.slots - static_cast<std::uint32_t>(certain.count);
    state.slots        = static_cast<std::uint32_t>(certain.count) + state.light_slots;
    double const norm  = rule::norm_per_slot(state.total, scale, s.slots);
    if (w_.header.values == values::sign) {
      state.scale            = rule::to_finite_float(norm);
      state.companion_factor = 1.0 / static_cast<double>(s.slots);
    } else {
      state.scale = rule::stored_scale(w_.header.values, w_.header.type, norm);
    }
  }

  __device__ void take_out()
  {
    for_each_chunk<how>(w_, [&](chunk_view const& c) {
      if (!(c.state->largest > 0)) {
        return;
      }
      if (c.state->certain_from == rule::no_threshold) {
        if (threadIdx.x == 0) {
          c.sums->second = 0;
        }
        return;
      }
      rule::weight_scale const scale{c.state->largest, c.s->tiles};
      std::uint64_t sum   = 0;
      std::uint64_t count = 0;
      for (std::uint32_t i = threadIdx.x; i < c.count; i += block_threads) {
        std::uint64_t const weight = scale.weight(norm_at<T>(w_, *c.s, c.first + i));
        bool const certain         = weight >= c.state->certain_from;
        sum += certain ? weight : 0;
        count += certain ? 1 : 0;
      }
      sum   = block_sum(sum);
      count = block_sum(count);
      if (threadIdx.x == 0) {
        *c.sums = {c.sums->first - sum, count};
      }
    });
  }

  /// Tiles of a chunk that a thread takes: a run, so that its sums follow each other.
  static constexpr std::uint32_t run_tiles = chunk_tiles / block_threads;

  __device__ void emit(chunk_view const& c)
  {
    __shared__ std::uint64_t sums[chunk_tiles];            // of the weights up to and with a tile
    __shared__ std::uint16_t certain_before[chunk_tiles];  // certain tiles before a tile
    segment_state const& state = *c.state;
    if (!(state.largest > 0)) {
      return;
    }
    rule::weight_scale const scale{state.largest, c.s->tiles};
    std::uint32_t const begin = threadIdx.x * run_tiles;
    std::uint64_t weights[run_tiles];
    std::uint64_t sum     = 0;
    std::uint32_t certain = 0;
    std::uint32_t marks   = 0;  // of the certain ones
    for (std::uint32_t i = 0; i < run_tiles; ++i) {
      std::uint64_t const weight =
        begin + i < c.count ? scale.weight(norm_at<T>(w_, *c.s, c.first + begin + i)) : 0;
      bool const is_certain = weight >= state.certain_from;
      weights[i]            = is_certain ? 0 : weight;
      sum += weights[i];
      certain += is_certain ? 1U : 0U;
      marks |= is_certain ? 1U << i : 0U;
    }
    prefix const weight_prefix  = block_prefix(sum);
    prefix const certain_prefix = block_prefix(certain);
    std::uint64_t running       = c.sums->first + weight_prefix.before;
    auto ahead                  = static_cast<std::uint32_t>(certain_prefix.before);
    for (std::uint32_t i = 0; i < run_tiles; ++i) {
      running += weights[i];
      sums[begin + i]           = running;
      certain_before[begin + i] = static_cast<std::uint16_t>(ahead);
      ahead += marks >> i & 1U;
    }
    __syncthreads();
    rule::systematic const light{state.total, state.offset, state.light_slots};
    slot* const out = w_.slots + state.first_slot + c.sums->second;
    for (std::uint32_t i = 0; i < run_tiles; ++i) {
      if ((marks >> i & 1U) != 0) {
        std::uint64_t const before              = light.slots == 0 ? 0 : light.slots_below(sums[begin + i]);
        out[before + certain_before[begin + i]] = {c.s->first_tile + c.first + begin + i, 1.0F};
      }
    }
    if (light.slots != 0) {
      emit_light(c, scale, light, sums, certain_before, c.sums->first + weight_prefix.total, out);
    }
    __syncthreads();
  }

  __device__ void emit_light(chunk_view const& c, rule::weight_scale const& scale,
                             rule::systematic const& light, std::uint64_t const* sums,
                             std::uint16_t const* certain_before, std::uint64_t end_sum, slot* out)
  {
    std::uint64_t const end = light.slots_below(end_sum);
    for (std::uint64_t number = light.slots_below(c.sums->first) + threadIdx.x; number < end;
         number += block_threads) {
      std::uint64_t const position = light.position(number);
      std::uint32_t low            = 0;
      std::uint32_t high           = c.count - 1;
      while (low < high) {  // the first tile whose running sum exceeds the position
        std::uint32_t const middle = (low + high) / 2;
        if (sums[middle] > position) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      std::uint64_t const weight        = scale.weight(norm_at<T>(w_, *c.s, c.first + low));
      out[number + certain_before[low]] = {c.s->first_tile + c.first + low, light.multiplier(weight)};
    }
  }

  compress_work const& w_;
};

}  // namespace bird::device
