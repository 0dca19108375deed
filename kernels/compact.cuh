/// compact: the packet of a sample, laid out as packet_layout.cuh and packet_format.md say.
///
///   lay_out    one block: where each segment's slots and values stand (lay_out.cuh)
///   clear      index and starts, into which bits are set
///   (the sampler emits its slots)
///   describe   header and segment table
///   index      tile numbers of all slots
///   values     batches of elements of the value regions
///   add_up     checksum
#pragma once

#include <type_traits>

#include "block.cuh"
#include "packet_layout.cuh"
#include "packet_sum.cuh"
#include "sample.cuh"
#include "value_place.cuh"
#include "values.cuh"

namespace bird::device {

/// Writes the sections. T is the type of what is compressed, Wire that of the packet: another one only where
/// a residual stands for a tensor.
template <class T, class Wire>
class packet_writer {
 public:
  __device__ explicit packet_writer(compress_work const& work) : w_{work}, key_{key_of(work)} {}

  __device__ void clear()
  {
    compress_control const& control = *w_.control;
    zero(control.index_offset, control.values_offset);
    for (std::uint32_t number = grid_thread(); number < w_.header.segment_count; number += grid_threads()) {
      bool const last           = number + 1 == w_.header.segment_count;
      std::uint64_t const begin = w_.states[number].region_offset;
      std::uint64_t const end   = last ? control.total_bytes : w_.states[number + 1].region_offset;
      // What lies between two regions is less than 16 bytes.
      for (std::uint64_t at = end - begin < 16 ? begin : end - 16; at < end; at += 4) {
        *word(at) = 0;
      }
    }
  }

  /// Values of companions: the factor that keeps those of the kept entries in range.
  __device__ void scale_companions()
  {
    for (std::uint32_t number = blockIdx.x; number < w_.header.segment_count; number += gridDim.x) {
      segment const& s     = w_.list[number];
      segment_state& state = w_.states[number];
      if (s.role != segment_role::companion) {
        continue;
      }
      double largest = 0;
      for (std::uint32_t i = threadIdx.x; i < state.slots; i += block_threads) {
        slot const one    = w_.slots[state.first_slot + i];
        float const value = entry(s, one.tile);
        if (rule::is_finite(value)) {
          double const stored =
            static_cast<double>(rule::magnitude(value)) * static_cast<double>(one.multiplier);
          largest = stored > largest ? stored : largest;
        }
      }
      largest = block_max(largest);
      if (threadIdx.x == 0) {
        state.scale = rule::stored_scale(w_.header.values, w_.header.type, largest);
      }
    }
  }

  template <class Sampler>
  __device__ void describe(Sampler const& sampler)
  {
    if (blockIdx.x != 0) {
      return;
    }
    auto* const table = reinterpret_cast<segment_entry*>(w_.packet + sizeof(packet_header));
    for (std::uint32_t number = threadIdx.x; number < w_.header.segment_count; number += block_threads) {
      segment const& s    = w_.list[number];
      segment_state state = w_.states[number];
      if (s.role == segment_role::sampled) {
        sampler.finish(state, s);
      }
      segment_entry written{};
      written.count = s.count;
      written.tile  = s.tile;
      written.role  = s.role;
      written.flags = state.non_finite != 0 ? header_flag::non_finite : std::uint8_t{0};
      written.slots = s.role == segment_role::dense ? 0 : state.slots;
      written.scale = s.role == segment_role::dense ? 1.0F : state.scale;
      table[number] = written;
    }
    if (threadIdx.x == 0) {
      *reinterpret_cast<packet_header*>(w_.packet) = header();
    }
  }

  __device__ void write_index()
  {
    switch (w_.header.index) {
      case index::u32:
        for (std::uint32_t i = grid_thread(); i < slots(); i += grid_threads()) {
          word(w_.control->index_offset)[i] = w_.slots[i].tile;
        }
        return;
      case index::bitmap:
        write_bitmap();
        return;
      case index::elias_fano:
        write_elias_fano();
        return;
    }
  }

  __device__ void write_values()
  {
    for (std::uint32_t batch = blockIdx.x; batch < w_.batches; batch += gridDim.x) {
      std::uint32_t const number = segment_of(w_.list, w_.header.segment_count, &segment::first_batch, batch);
      segment const& s           = w_.list[number];
      segment_state const& state = w_.states[number];
      std::uint64_t const stride = rule::slot_elements(s.role, s.tile);
      std::uint64_t const stored = s.role == segment_role::dense ? s.count : state.slots * stride;
      std::uint64_t const begin  = std::uint64_t{batch - s.first_batch} * batch_elements;
      if (begin >= stored) {
        continue;
      }
      std::uint64_t const end = stored - begin < batch_elements ? stored : begin + batch_elements;
      if (s.role == segment_role::dense) {
        write_dense(s, state, begin, end);
      } else if (w_.header.values == values::sign) {
        write_signs(s, state, begin, end);
      } else if (w_.header.values == values::bf16) {
        write_stored<rule::bfloat16>(s, state, begin, end);
      } else {
        write_stored<Wire>(s, state, begin, end);
      }
    }
  }

  /// The block that comes last writes the sum of all.
  __device__ void add_up()
  {
    std::uint64_t const rest = sums_values() ? w_.control->values_offset : w_.control->total_bytes;
    std::uint64_t const sum  = block_sum(value_terms_ + sum_of_terms(w_.packet, rest));
    if (threadIdx.x == 0) {
      add(&w_.control->checksum, sum);
      if (add_acquire_release(&w_.control->finished, 1) == gridDim.x - 1) {
        std::uint64_t const all =
          atomicAdd(reinterpret_cast<unsigned long long*>(&w_.control->checksum), 0ULL);
        *word(offsetof(packet_header, checksum)) = rule::checksum_fold(all);
        if (w_.step_counter != nullptr) {
          *w_.step_counter += 1;
        }
      }
    }
  }

 private:
  [[nodiscard]] __device__ std::uint32_t slots() const { return w_.control->slots; }

  /// Values that fill vectors enter the checksum as they are written; signs share words and are read again.
  [[nodiscard]] __device__ bool sums_values() const { return w_.header.values != values::sign; }

  /// Writes sixteen bytes of a value region.
  __device__ void put(std::uint64_t offset, uint4 raw)
  {
    *reinterpret_cast<uint4*>(w_.packet + offset) = raw;
    if (sums_values()) {
      value_terms_ += rule::checksum_term(offset / 8, std::uint64_t{raw.y} << 32 | raw.x) +
                      rule::checksum_term(offset / 8 + 1, std::uint64_t{raw.w} << 32 | raw.z);
    }
  }
  [[nodiscard]] __device__ std::uint32_t* word(std::uint64_t offset) const
  {
    return reinterpret_cast<std::uint32_t*>(w_.packet + offset);
  }

  __device__ void zero(std::uint64_t begin, std::uint64_t end)
  {
    for (std::uint64_t i = begin / 16 + grid_thread(); i < end / 16; i += grid_threads()) {
      reinterpret_cast<uint4*>(w_.packet)[i] = make_uint4(0, 0, 0, 0);
    }
  }

  [[nodiscard]] __device__ packet_header header() const
  {
    packet_header header = w_.header;
    header.flags         = w_.control->non_finite != 0 ? header_flag::non_finite : std::uint8_t{0};
    header.slot_count    = slots();
    header.step          = step_of(w_);
    return header;
  }

  __device__ void write_bitmap()
  {
    std::uint32_t* const tiles  = word(w_.control->index_offset);
    std::uint32_t* const starts = word(w_.control->starts_offset);
    bool const has_starts       = rule::has_starts(w_.header.sampling, w_.header.index);
    for (std::uint32_t i = grid_thread(); i < slots(); i += grid_threads()) {
      std::uint32_t const tile = w_.slots[i].tile;
      if (i == 0 || w_.slots[i - 1].tile != tile) {
        set_bits(tiles + tile / 32, 1U << tile % 32);
        if (has_starts) {
          set_bits(starts + i / 32, 1U << i % 32);
        }
      }
    }
  }

  /// Upper bits are set one by one; a word of the lower part is put together from the numbers that meet it.
  __device__ void write_elias_fano()
  {
    rule::elias_fano const code{w_.tiles, slots()};
    std::uint32_t const width  = code.low_bits();
    std::uint32_t* const upper = word(w_.control->index_offset);
    std::uint32_t* const lower = upper + 2 * code.upper_words();
    for (std::uint32_t i = grid_thread(); i < slots(); i += grid_threads()) {
      std::uint64_t const at = code.upper_position(w_.slots[i].tile, i);
      set_bits(upper + at / 32, 1U << at % 32);
    }
    if (width == 0) {
      return;
    }
    std::uint64_t const bits = std::uint64_t{slots()} * width;
    std::uint32_t const mask = static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);
    for (std::uint64_t i = grid_thread(); i < rule::ceil_div(bits, 32); i += grid_threads()) {
      std::uint64_t const begin = i * 32;
      std::uint32_t whole       = 0;
      for (std::uint64_t j = begin / width; j < slots() && j * width < begin + 32; ++j) {
        std::uint32_t const low = w_.slots[j].tile & mask;
        whole |= j * width >= begin ? low << (j * width - begin) : low >> (begin - j * width);
      }
      lower[i] = whole;
    }
  }

  /// Entry of a companion by the tile that it rides on.
  [[nodiscard]] __device__ float entry(segment const& s, std::uint32_t tile) const
  {
    return rule::widen(static_cast<T const*>(s.data)[tile - w_.list[s.parent].first_tile]);
  }

  /// A bit an element: each lane of a warp decides one, and the warp's votes are the word.
  __device__ void write_signs(segment const& s, segment_state const& state, std::uint64_t begin,
                              std::uint64_t end)
  {
    auto const stride = static_cast<std::uint32_t>(rule::slot_elements(s.role, s.tile));
    value_locator const where{begin, stride};
    std::uint32_t* const region = word(state.region_offset);
    for (std::uint64_t first = begin + warp_id() * warp_lanes; first < end;
         first += block_warps * warp_lanes) {
      std::uint64_t const element = first + lane_id();
      bool const bit              = element < end && sign_of(s, state, where.of(element));
      std::uint32_t const votes   = __ballot_sync(all_lanes, bit ? 1 : 0);
      if (lane_id() == 0) {
        region[first / 32] = votes;
      }
    }
  }

  [[nodiscard]] __device__ bool sign_of(segment const& s, segment_state const& state, value_place p) const
  {
    std::uint32_t const tile = w_.slots[state.first_slot + p.slot].tile;
    bool const companion     = s.role == segment_role::companion;
    // A companion draws as a tile of one element with the number of its entry.
    std::uint32_t const own = tile - (companion ? w_.list[s.parent].first_tile : s.first_tile);
    if (!companion && p.at >= items_of(s, own)) {
      return false;
    }
    T const* const data      = static_cast<T const*>(s.data);
    float const value        = rule::widen(companion ? data[own] : data[std::uint64_t{own} * s.tile + p.at]);
    std::uint32_t const bits = rule::bits_of(value);
    bool const zero          = (bits & ~rule::sign_mask) == 0;
    std::uint32_t const drawn_bit = zero ? rule::zero_sign_bit(key_, s.number, own, p.at) : bits >> 31;
    return drawn_bit != 0;
  }

  /// Sixteen bytes of a region at a time.
  template <class Stored>
  __device__ void write_stored(segment const& s, segment_state const& state, std::uint64_t begin,
                               std::uint64_t end)
  {
    constexpr std::uint32_t width = vector_width<Stored>;
    auto const stride             = static_cast<std::uint32_t>(rule::slot_elements(s.role, s.tile));
    bool const whole              = stride % width == 0;
    value_locator const where{begin, stride};
    for (std::uint64_t first = begin + threadIdx.x * width; first < end; first += block_threads * width) {
      Stored out[width] = {};
      if (whole) {
        store_run<width>(s, state, where.of(first), out);
      } else {
        for (std::uint32_t i = 0; i < width && first + i < end; ++i) {
          store_run<1>(s, state, where.of(first + i), out + i);
        }
      }
      put(state.region_offset + first * sizeof(Stored), pack_vector(out));
    }
  }

  /// `Count` elements of one tile, or an entry of a companion.
  template <std::uint32_t Count, class Stored>
  __device__ void store_run(segment const& s, segment_state const& state, value_place p, Stored* out) const
  {
    slot const one     = w_.slots[state.first_slot + p.slot];
    float const factor = one.multiplier / state.scale;
    if (s.role == segment_role::companion) {
      float const value = entry(s, one.tile);
      out[0]            = rule::is_finite(value) ? rule::narrow_saturating<Stored>(value * factor) : Stored{};
      return;
    }
    std::uint32_t const tile  = one.tile - s.first_tile;
    std::uint64_t const items = items_of(s, tile);
    T const* const elements   = static_cast<T const*>(s.data) + std::uint64_t{tile} * s.tile + p.at;
    float values[Count];
    load_run<Count>(elements, p.at < items ? items - p.at : 0, values);
    for (std::uint32_t i = 0; i < Count; ++i) {
      out[i] = p.at + i < items ? rule::narrow_saturating<Stored>(values[i] * factor) : Stored{};
    }
  }

  /// The first `available` of `Count` elements, by vectors where their address allows it.
  template <std::uint32_t Count>
  static __device__ void load_run(T const* elements, std::uint64_t available, float* values)
  {
    constexpr std::uint32_t width = vector_width<T>;
    if constexpr (Count % width == 0) {
      bool const aligned = is_vector_aligned(elements);
      for (std::uint32_t i = 0; i < Count; i += width) {
        load_some(elements, i, available, aligned, values + i);
      }
    } else {
      for (std::uint32_t i = 0; i < Count; ++i) {
        values[i] = i < available ? rule::widen(elements[i]) : 0.0F;
      }
    }
  }

  /// All elements as they are. Where the gradients were refused they are sent, not the residual.
  __device__ void write_dense(segment const& s, segment_state const& state, std::uint64_t begin,
                              std::uint64_t end)
  {
    if (w_.buffers != nullptr && w_.control->refused != 0) {
      copy_all(static_cast<Wire const*>(w_.buffers[s.number].gradient), state.region_offset, begin, end);
    } else {
      copy_all(static_cast<T const*>(s.data), state.region_offset, begin, end);
    }
  }

  template <class From>
  __device__ void copy_all(From const* data, std::uint64_t region, std::uint64_t begin, std::uint64_t end)
  {
    constexpr std::uint32_t width = vector_width<Wire>;
    bool const aligned            = std::is_same_v<From, Wire> && is_vector_aligned(data);
    for (std::uint64_t first = begin + threadIdx.x * width; first < end; first += block_threads * width) {
      std::uint64_t const offset = region + first * sizeof(Wire);
      if (aligned && first + width <= end) {
        put(offset, *reinterpret_cast<uint4 const*>(data + first));
        continue;
      }
      Wire out[width] = {};
      for (std::uint32_t i = 0; i < width && first + i < end; ++i) {
        if constexpr (std::is_same_v<From, Wire>) {
          out[i] = data[first + i];
        } else {
          out[i] = rule::narrow_to<Wire>::from(rule::widen(data[first + i]));
        }
      }
      put(offset, pack_vector(out));
    }
  }

  compress_work const& w_;
  rule::philox_key key_;
  std::uint64_t value_terms_ = 0;  ///< of the checksum, of what this thread has written
};

}  // namespace bird::device
