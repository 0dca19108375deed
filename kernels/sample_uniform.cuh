/// sample, uniform: see uniform.cuh for the rule.
///
///   measure   norms of the drawn tiles: the only ones that are read
///   weigh     signs: strata lengths times weights, whose sum gives the magnitude
///   place     per segment: prefix sums of the kept draws
///   emit
#pragma once

#include "sample.cuh"
#include "uniform.cuh"
#include "values.cuh"

namespace bird::device {

template <class T>
class uniform_sampler {
 public:
  static constexpr sampling how = sampling::uniform;

  __device__ explicit uniform_sampler(compress_work const& work) : w_{work}, key_{key_of(work)} {}

  /// @param then called once by all threads of one block when the slots of all segments are counted
  template <class Then>
  __device__ void run(grid_barrier& grid, Then const& then)
  {
    for_each_chunk<how>(w_, [&](chunk_view const& c) { measure(c); });
    if (w_.header.values == values::sign) {
      grid.wait();
      for_each_chunk<how>(w_, [&](chunk_view const& c) { weigh(c); });
    }
    meet(
      grid, w_, [&](segment const& s, segment_state& state) { place(s, state); }, then);
  }

  __device__ void emit()
  {
    for_each_chunk<how>(w_, [&](chunk_view const& c) {
      bool const inside          = threadIdx.x < c.count;
      bool const kept            = inside && norm_of_draw(c, threadIdx.x) > 0;
      std::uint64_t const before = block_prefix(kept ? 1 : 0).before;
      if (kept) {
        rule::stratum const stratum                            = stratum_of(c, threadIdx.x);
        w_.slots[c.state->first_slot + c.sums->first + before] = {c.s->first_tile + tile_of(c, threadIdx.x),
                                                                  static_cast<float>(stratum.length)};
      }
    });
  }

  __device__ void finish(segment_state&, segment const&) const {}

 private:
  static_assert(chunk_draws <= block_threads);

  [[nodiscard]] __device__ float& norm_of_draw(chunk_view const& c, std::uint32_t i) const
  {
    return w_.norms[c.s->first_draw + c.first + i];
  }
  [[nodiscard]] __device__ rule::stratum stratum_of(chunk_view const& c, std::uint32_t i) const
  {
    return rule::stratum_of(c.first + i, c.s->tiles, c.s->slots);
  }
  /// Tile of the segment.
  [[nodiscard]] __device__ std::uint32_t tile_of(chunk_view const& c, std::uint32_t i) const
  {
    std::uint32_t const word = rule::draw(key_, c.s->number, rule::purpose::stratum, c.first + i);
    return static_cast<std::uint32_t>(rule::uniform_tile(stratum_of(c, i), word));
  }

  __device__ void keep(chunk_view const& c, std::uint32_t i, rule::tile_norm const& one) const
  {
    norm_of_draw(c, i) = one.norm;
    raise(reinterpret_cast<std::uint32_t*>(&c.state->largest), rule::bits_of(one.norm));
    if (one.non_finite) {
      set_bits(&c.state->non_finite, 1);
    }
  }

  __device__ void measure(chunk_view const& c)
  {
    segment const& s    = *c.s;
    T const* const data = static_cast<T const*>(s.data);
    if (s.tile <= thread_tile) {
      if (threadIdx.x < c.count) {
        std::uint32_t const tile = tile_of(c, threadIdx.x);
        keep(c, threadIdx.x,
             norm_by_thread(w_.header.norm, data + std::uint64_t{tile} * s.tile,
                            static_cast<std::uint32_t>(items_of(s, tile))));
      }
    } else if (s.tile < block_tile) {
      for (std::uint32_t i = lane_group<T>::number(); i < c.count; i += lane_group<T>::a_block) {
        std::uint32_t const tile = tile_of(c, i);
        rule::tile_norm const one =
          norm_by_group(w_.header.norm, data + std::uint64_t{tile} * s.tile, items_of(s, tile));
        if (lane_group<T>::rank() == 0) {
          keep(c, i, one);
        }
      }
    } else {
      for (std::uint32_t i = 0; i < c.count; ++i) {
        std::uint32_t const tile = tile_of(c, i);
        rule::tile_norm const one =
          norm_by_block(w_.header.norm, data + std::uint64_t{tile} * s.tile, items_of(s, tile));
        if (threadIdx.x == 0) {
          keep(c, i, one);
        }
      }
    }
    __syncthreads();  // the norms are there
    bool const kept         = threadIdx.x < c.count && norm_of_draw(c, threadIdx.x) > 0;
    std::uint64_t const sum = block_sum(kept ? 1 : 0);
    if (threadIdx.x == 0) {
      *c.sums = {sum, 0};
    }
  }

  __device__ void weigh(chunk_view const& c)
  {
    if (!(c.state->largest > 0)) {
      return;
    }
    rule::weight_scale const scale{c.state->largest, c.s->tiles};
    std::uint64_t sum = 0;
    if (threadIdx.x < c.count) {
      sum = stratum_of(c, threadIdx.x).length * scale.weight(norm_of_draw(c, threadIdx.x));
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
      add(&c.state->weight_sum, sum);
    }
  }

  __device__ void place(segment const& s, segment_state& state)
  {
    chunk_state const all = scan_chunks(w_, s);
    __syncthreads();
    if (threadIdx.x != 0) {
      return;
    }
    state.slots            = static_cast<std::uint32_t>(all.first);
    state.companion_factor = 1.0 / static_cast<double>(s.slots);
    state.scale            = 1.0F;
    if (state.slots == 0) {
      return;
    }
    if (w_.header.values == values::sign) {
      rule::weight_scale const scale{state.largest, s.tiles};
      state.scale = rule::to_finite_float(rule::norm_per_slot(state.weight_sum, scale, state.slots));
    } else {
      double const longest = static_cast<double>(rule::ceil_div(s.tiles, s.slots));
      state.scale =
        rule::stored_scale(w_.header.values, w_.header.type, longest * static_cast<double>(state.largest));
    }
  }

  compress_work const& w_;
  rule::philox_key key_;
};

}  // namespace bird::device
