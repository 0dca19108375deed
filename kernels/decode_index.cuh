/// decode, index: from packets that have been parsed to a list of tiles that can be trusted.
#pragma once

#include "block.cuh"
#include "decode.cuh"
#include "decode_parse.cuh"
#include "device_list.cuh"
#include "grid_barrier.cuh"
#include "packet_sum.cuh"
#include "real.cuh"

namespace bird::device {

class index_decoder {
 public:
  __device__ index_decoder(decode_work const& work, output const* outputs) : w_{work}, outputs_{outputs} {}

  /// @returns false when some packet failed; the same for all threads of the grid
  __device__ bool run(grid_barrier& grid)
  {
    for_each_packet([&](std::uint32_t p) { packet_parser{w_, outputs_}.parse(p); });
    if (!agree(grid)) {
      return false;
    }
    for_all([&](std::uint32_t p) { sum_up(p); });
    grid.wait();
    for_each_packet([&](std::uint32_t p) { place(p); });
    if (!agree(grid)) {
      return false;
    }
    for_all([&](std::uint32_t p) { name(p); });
    if (!agree(grid)) {
      return false;
    }
    bool starts = false;
    for_all([&](std::uint32_t p) { starts = starts || has_starts(p); });
    if (starts) {
      for_all([&](std::uint32_t p) { repeat(p); });
      grid.wait();
    }
    for_all([&](std::uint32_t p) { verify(p); });
    return agree(grid);
  }

 private:
  /// Ends a phase. @returns false when a packet has failed so far; the same for all threads of the grid
  __device__ bool agree(grid_barrier& grid)
  {
    std::uint32_t& verdict = w_.control->verdicts[phase_++];
    grid.wait([&] {
      if (threadIdx.x == 0) {
        verdict = w_.control->failure;
      }
    });
    return verdict == 0;
  }

  /// Calls visit(packet) for all packets, in every block.
  template <class Visit>
  __device__ void for_all(Visit const& visit)
  {
    for (std::uint32_t p = 0; p < w_.packet_count; ++p) {
      visit(p);
    }
  }

  /// Calls visit(packet) for the packets that this block takes.
  template <class Visit>
  __device__ void for_each_packet(Visit const& visit)
  {
    for (std::uint32_t p = blockIdx.x; p < w_.packet_count; p += gridDim.x) {
      visit(p);
    }
  }

  __device__ void fail(std::uint32_t packet, decode_failure why) { bird::device::fail(w_, packet, why); }
  [[nodiscard]] __device__ std::uint64_t const* words(std::uint32_t p, std::uint64_t offset) const
  {
    return reinterpret_cast<std::uint64_t const*>(w_.inputs[p].bytes + offset);
  }
  [[nodiscard]] __device__ bool has_starts(std::uint32_t p) const
  {
    packet_header const& header = w_.packets[p].header;
    return rule::has_starts(header.sampling, header.index);
  }
  [[nodiscard]] __device__ segment_layout const* layouts(std::uint32_t p) const { return layouts_of(w_, p); }

  static __device__ std::uint64_t bit_words(packet_state const& state)
  {
    return bit_string_words(state.header.index, state.tiles, state.slots);
  }

  // --- sum_up, place

  static __device__ std::uint32_t ones(std::uint64_t word)
  {
    return static_cast<std::uint32_t>(__popcll(static_cast<unsigned long long>(word)));
  }

  __device__ void count_bits(std::uint64_t const* section, std::uint64_t count, std::uint32_t chunks,
                             std::uint32_t* sums)
  {
    for (std::uint32_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
      std::uint64_t const i   = std::uint64_t{chunk} * index_words + threadIdx.x;
      std::uint64_t const sum = block_sum(i < count ? ones(section[i]) : 0);
      if (threadIdx.x == 0) {
        sums[chunk] = static_cast<std::uint32_t>(sum);
      }
    }
  }

  __device__ void sum_up(std::uint32_t p)
  {
    packet_state const& state = w_.packets[p];
    std::uint64_t const sum   = block_sum(sum_of_terms(w_.inputs[p].bytes, state.total_bytes));
    if (threadIdx.x == 0) {
      add(&w_.packets[p].checksum, sum);
    }
    count_bits(words(p, state.index_offset), bit_words(state), state.chunks, state.chunk_sums);
    count_bits(words(p, state.starts_offset), rule::ceil_div(state.slots, 64), state.starts_chunks,
               state.starts_sums);
  }

  /// @returns the sum of all
  static __device__ std::uint64_t scan(std::uint32_t* sums, std::uint32_t count)
  {
    std::uint64_t all = 0;
    for (std::uint32_t base = 0; base < count; base += block_threads) {
      std::uint32_t const i = base + threadIdx.x;
      prefix const one      = block_prefix(i < count ? sums[i] : 0);
      if (i < count) {
        sums[i] = static_cast<std::uint32_t>(all + one.before);
      }
      all += one.total;
    }
    return all;
  }

  __device__ void place(std::uint32_t p)
  {
    packet_state const& state = w_.packets[p];
    std::uint64_t const set   = scan(state.chunk_sums, state.chunks);
    std::uint64_t const first = scan(state.starts_sums, state.starts_chunks);
    if (threadIdx.x != 0) {
      return;
    }
    if (state.header.checksum != rule::checksum_fold(state.checksum)) {
      fail(p, decode_failure::checksum);
    }
    bool const starts = has_starts(p);
    bool const agrees =
      state.header.index == index::u32 || (starts ? set == first && set <= state.slots : set == state.slots);
    bool const begins = !starts || state.slots == 0 || (words(p, state.starts_offset)[0] & 1U) != 0;
    if (!agrees || !begins) {
      fail(p, decode_failure::index);
    }
  }

  // --- name, repeat, verify

  /// Calls visit(number, position) for the set bits of a section, which are numbered in order.
  template <class Visit>
  __device__ void for_each_bit(std::uint64_t const* section, std::uint64_t count, std::uint32_t chunks,
                               std::uint32_t const* sums, Visit const& visit)
  {
    for (std::uint32_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
      std::uint64_t const i = std::uint64_t{chunk} * index_words + threadIdx.x;
      std::uint64_t rest    = i < count ? section[i] : 0;
      auto number           = static_cast<std::uint32_t>(sums[chunk] + block_prefix(ones(rest)).before);
      for (; rest != 0; rest &= rest - 1) {
        visit(number++, i * 64 + static_cast<std::uint32_t>(__ffsll(static_cast<long long>(rest)) - 1));
      }
    }
  }

  __device__ void name(std::uint32_t p)
  {
    packet_state const& state = w_.packets[p];
    switch (state.header.index) {
      case index::u32: {
        auto const* const numbers = reinterpret_cast<std::uint32_t const*>(words(p, state.index_offset));
        for (std::uint32_t i = grid_thread(); i < state.slots; i += grid_threads()) {
          set_name(p, i, numbers[i]);
        }
        return;
      }
      case index::bitmap: {
        bool const starts = has_starts(p);
        for_each_bit(words(p, state.index_offset), bit_words(state), state.chunks, state.chunk_sums,
                     [&](std::uint32_t number, std::uint64_t tile) {
                       if (starts) {
                         state.set[number] = static_cast<std::uint32_t>(tile);
                       } else {
                         set_name(p, number, tile);
                       }
                     });
        return;
      }
      case index::elias_fano: {
        rule::elias_fano const code{state.tiles, state.slots};
        std::uint32_t const width        = code.low_bits();
        std::uint64_t const* const upper = words(p, state.index_offset);
        std::uint64_t const* const lower = upper + code.upper_words();
        for_each_bit(upper, bit_words(state), state.chunks, state.chunk_sums,
                     [&](std::uint32_t number, std::uint64_t position) {
                       std::uint64_t const low = rule::read_bits(lower, std::uint64_t{number} * width, width);
                       set_name(p, number, code.number(position, number, low));
                     });
        return;
      }
    }
  }

  /// Starts: slot i belongs to the set bit whose number is that of the starts up to i, less one.
  __device__ void repeat(std::uint32_t p)
  {
    packet_state const& state = w_.packets[p];
    if (!has_starts(p)) {
      return;
    }
    std::uint64_t const* const starts = words(p, state.starts_offset);
    std::uint64_t const count         = rule::ceil_div(state.slots, 64);
    for (std::uint32_t chunk = blockIdx.x; chunk < state.starts_chunks; chunk += gridDim.x) {
      std::uint64_t const i    = std::uint64_t{chunk} * index_words + threadIdx.x;
      std::uint64_t const word = i < count ? starts[i] : 0;
      auto number = static_cast<std::uint32_t>(state.starts_sums[chunk] + block_prefix(ones(word)).before);
      for (std::uint32_t bit = 0; bit < 64 && i * 64 + bit < state.slots; ++bit) {
        number += static_cast<std::uint32_t>(word >> bit & 1U);
        set_name(p, static_cast<std::uint32_t>(i * 64 + bit), state.set[number - 1]);
      }
    }
  }

  __device__ void set_name(std::uint32_t p, std::uint32_t number, std::uint64_t tile)
  {
    packet_state const& state = w_.packets[p];
    segment_layout const* all = layouts(p);
    segment_layout const& own =
      all[last_not_above(number, w_.output_count, [&](std::uint32_t i) { return all[i].slots_before; })];
    bool const inside = tile >= own.first_tile && tile - own.first_tile < own.tiles;
    if (!inside || number >= state.slots) {
      fail(p, decode_failure::tile);
      return;
    }
    state.names[number] = static_cast<std::uint32_t>(tile);
  }

  __device__ void verify(std::uint32_t p)
  {
    packet_state const& state = w_.packets[p];
    bool const repeats        = rule::repeats_tiles(state.header.sampling);
    bool sorted               = true;
    for (std::uint32_t i = grid_thread() + 1; i < state.slots; i += grid_threads()) {
      std::uint32_t const last = state.names[i - 1];
      sorted                   = sorted && (last < state.names[i] || (repeats && last == state.names[i]));
    }
    if (!sorted) {
      fail(p, decode_failure::order);
    }
  }

  decode_work const& w_;
  output const* outputs_;
  std::uint32_t phase_ = 0;
};

}  // namespace bird::device
