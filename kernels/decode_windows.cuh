/// decode, second part: windows of the tensors.
///
///   tensor    | window 0: 2048 elements | window 1 | ...
///   tile      |--------|--------|--------|--------|          those that meet the window, by a search in the
///   slots         ^        ^ ^                 ^             list of names: one run for each packet
///
/// A block adds the runs of all packets to a window in shared memory, packet after packet, so every element
/// sees them in the same order. Slots of one packet that share a tile are added by the same lanes, in order.
/// Where apply() meets few tiles of a window it adds to them where they are, and the rest is not moved.
#pragma once

#include <type_traits>

#include "block.cuh"
#include "decode.cuh"
#include "device_list.cuh"
#include "values.cuh"
#include "vector_io.cuh"

namespace bird::device {

template <decode_mode Mode>
class window_writer {
 public:
  __device__ window_writer(decode_work const& work, output const* outputs) : w_{work}, outputs_{outputs} {}

  __device__ void run()
  {
    for (std::uint32_t window = blockIdx.x; window < w_.windows; window += gridDim.x) {
      std::uint32_t const number =
        last_not_above(window, w_.output_count, [&](std::uint32_t i) { return outputs_[i].first_window; });
      output const& out = outputs_[number];
      switch (out.type) {
        case dtype::float32:
          write(number, window - out.first_window, static_cast<float*>(out.data));
          break;
        case dtype::float16:
          write(number, window - out.first_window, static_cast<rule::half16*>(out.data));
          break;
        case dtype::bfloat16:
          write(number, window - out.first_window, static_cast<rule::bfloat16*>(out.data));
          break;
      }
    }
  }

 private:
  /// A stretch of one tensor.
  struct window_view {
    std::uint32_t number;  ///< of the tensor
    std::uint64_t count;   ///< elements of the tensor
    std::uint64_t first;
    std::uint64_t end;
    [[nodiscard]] __device__ std::uint32_t length() const { return static_cast<std::uint32_t>(end - first); }
  };

  /// The window's elements as sums in shared memory, with room for the whole vector at its end.
  struct sums_of_window {
    float* sums;
    std::uint64_t first;
    [[nodiscard]] __device__ float& of(std::uint64_t element) const { return sums[element - first]; }
    [[nodiscard]] __device__ float get(std::uint64_t element) const { return of(element); }
    __device__ void set(std::uint64_t element, float value) const { of(element) = value; }
  };
  /// The elements where they are.
  template <class T>
  struct elements_in_place {
    T* data;
    [[nodiscard]] __device__ float get(std::uint64_t element) const { return rule::widen(data[element]); }
    __device__ void set(std::uint64_t element, float value) const
    {
      data[element] = rule::narrow_to<T>::from(value);
    }
  };

  /// Slots of one packet that meet a window.
  struct run_of_slots {
    std::uint32_t begin;
    std::uint32_t end;
  };

  [[nodiscard]] __device__ segment_layout const& layout(std::uint32_t packet, std::uint32_t number) const
  {
    return w_.layouts[std::size_t{packet} * w_.output_count + number];
  }

  /// The first of the slots [begin, end) whose tile is not below `tile`.
  static __device__ std::uint32_t search(std::uint32_t const* names, std::uint32_t begin, std::uint32_t end,
                                         std::uint64_t tile)
  {
    while (begin < end) {
      std::uint32_t const middle = begin + (end - begin) / 2;
      if (names[middle] < tile) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }

  [[nodiscard]] __device__ run_of_slots find(std::uint32_t packet, window_view const& v) const
  {
    segment_layout const& s = layout(packet, v.number);
    if (s.role == segment_role::dense) {
      return {0, 1};
    }
    std::uint32_t const* const names = w_.packets[packet].names;
    std::uint32_t const stop         = s.first_slot + s.slots;
    std::uint32_t const begin        = search(names, s.first_slot, stop, s.first_tile + v.first / s.tile);
    return {begin, search(names, begin, stop, s.first_tile + rule::ceil_div(v.end, s.tile))};
  }

  /// What packets add to a window: bytes of elements that would be moved in place, and how many packets.
  struct amount {
    std::uint64_t bytes;
    std::uint64_t packets;
  };
  static constexpr std::uint64_t sector_bytes = 32;  ///< the least that memory moves

  template <class T>
  [[nodiscard]] __device__ std::uint64_t bytes_in_place(std::uint32_t packet, run_of_slots run,
                                                        window_view const& v) const
  {
    segment_layout const& s = layout(packet, v.number);
    if (s.role == segment_role::dense) {
      return v.length() * sizeof(T);
    }
    std::uint64_t const a_slot = s.tile * sizeof(T);
    return std::uint64_t{run.end - run.begin} * (a_slot > sector_bytes ? a_slot : sector_bytes);
  }

  /// Fewer bytes than the window has; and one rounding, as by way of the sums: fp32 rounds each packet
  /// anyway.
  template <class T>
  [[nodiscard]] static __device__ bool is_done_in_place(amount const& all, window_view const& v)
  {
    return Mode == decode_mode::accumulate && all.bytes < v.length() * sizeof(T) &&
           (std::is_same_v<T, float> || all.packets == 1);
  }

  template <class T>
  __device__ void write(std::uint32_t number, std::uint32_t window, T* data)
  {
    alignas(16) __shared__ float sums[window_elements];
    __shared__ run_of_slots runs[most_packets];
    std::uint64_t const count = outputs_[number].count;
    std::uint64_t const first = std::uint64_t{window} * window_elements;
    std::uint64_t const end   = count - first < window_elements ? count : first + window_elements;
    window_view const v{number, count, first, end};
    amount mine{0, 0};
    bool poisoned = false;
    for (std::uint32_t p = threadIdx.x; p < w_.packet_count; p += block_threads) {
      runs[p]             = find(p, v);
      std::uint64_t bytes = runs[p].begin != runs[p].end ? bytes_in_place<T>(p, runs[p], v) : 0;
      mine                = {mine.bytes + bytes, mine.packets + (bytes != 0 ? 1 : 0)};
      poisoned = poisoned || (first == 0 && (layout(p, number).flags & header_flag::non_finite) != 0);
    }
    amount const all{block_sum(mine.bytes), block_sum(mine.packets)};
    poisoned = __syncthreads_or(poisoned ? 1 : 0) != 0;
    if (all.packets == 0) {
      if (Mode == decode_mode::overwrite) {
        fill_zeros(data + first, v.length());
      }
    } else if (is_done_in_place<T>(all, v)) {
      add_packets(runs, v, elements_in_place<T>{data});
    } else {
      load(data, v, sums);
      __syncthreads();
      add_packets(runs, v, sums_of_window{sums, first});
      store(data, v, sums);
    }
    if (poisoned) {
      __syncthreads();
      if (threadIdx.x == 0) {
        data[0] = rule::narrow_to<T>::from(rule::float_of(rule::quiet_nan_bits));
      }
    }
    __syncthreads();  // the next window uses the same shared memory
  }

  /// What the sums of a window begin with, up to the next whole vector.
  template <class T>
  static __device__ void load(T const* data, window_view const& v, float* sums)
  {
    constexpr std::uint32_t width = vector_width<T>;
    bool const aligned            = is_vector_aligned(data);
    for (std::uint32_t i = threadIdx.x * width; i < v.length(); i += block_threads * width) {
      float values[width] = {};
      if (Mode == decode_mode::accumulate) {
        load_some(data, v.first + i, v.count, aligned, values);
      }
      for (std::uint32_t k = 0; k < width; k += 4) {
        *reinterpret_cast<float4*>(sums + i + k) =
          make_float4(values[k], values[k + 1], values[k + 2], values[k + 3]);
      }
    }
  }

  template <class T>
  static __device__ void store(T* data, window_view const& v, float const* sums)
  {
    constexpr std::uint32_t width = vector_width<T>;
    bool const aligned            = is_vector_aligned(data);
    for (std::uint32_t i = threadIdx.x * width; i < v.length(); i += block_threads * width) {
      T values[width] = {};
      for (std::uint32_t k = 0; k < width; k += 4) {
        float4 const four = *reinterpret_cast<float4 const*>(sums + i + k);
        values[k]         = rule::narrow_to<T>::from(four.x);
        values[k + 1]     = rule::narrow_to<T>::from(four.y);
        values[k + 2]     = rule::narrow_to<T>::from(four.z);
        values[k + 3]     = rule::narrow_to<T>::from(four.w);
      }
      store_some(data, v.first + i, v.count, aligned, values);
    }
  }

  template <class T>
  static __device__ void fill_zeros(T* data, std::uint32_t length)
  {
    constexpr std::uint32_t width = vector_width<T>;
    std::uint32_t const whole     = is_vector_aligned(data) ? length / width * width : 0;
    for (std::uint32_t i = threadIdx.x * width; i < whole; i += block_threads * width) {
      *reinterpret_cast<uint4*>(data + i) = make_uint4(0, 0, 0, 0);
    }
    for (std::uint32_t i = whole + threadIdx.x; i < length; i += block_threads) {
      data[i] = T{};
    }
  }

  /// One packet after the other.
  template <class Target>
  __device__ void add_packets(run_of_slots const* runs, window_view const& v, Target const& target)
  {
    for (std::uint32_t p = 0; p < w_.packet_count; ++p) {
      if (runs[p].begin != runs[p].end) {
        add_packet(p, runs[p], v, target);
        __syncthreads();
      }
    }
  }

  template <class Target>
  __device__ void add_packet(std::uint32_t packet, run_of_slots run, window_view const& v,
                             Target const& target)
  {
    switch (w_.packets[packet].header.type) {
      case dtype::float32:
        return add_as<float>(packet, run, v, target);
      case dtype::float16:
        return add_as<rule::half16>(packet, run, v, target);
      case dtype::bfloat16:
        return add_as<rule::bfloat16>(packet, run, v, target);
    }
  }

  template <class Wire, class Target>
  __device__ void add_as(std::uint32_t packet, run_of_slots run, window_view const& v, Target const& target)
  {
    segment_layout const& s       = layout(packet, v.number);
    std::byte const* const region = w_.inputs[packet].bytes + s.region_offset;
    packet_header const& header   = w_.packets[packet].header;
    float const weight            = Mode == decode_mode::overwrite ? 1.0F : w_.inputs[packet].weight;
    if (s.role == segment_role::dense) {
      Wire const* const values = reinterpret_cast<Wire const*>(region) + v.first;
      for (std::uint32_t i = threadIdx.x; i < v.length(); i += block_threads) {
        float const value = rule::widen(values[i]);
        target.set(v.first + i,
                   Mode == decode_mode::overwrite ? value : target.get(v.first + i) + weight * value);
      }
      return;
    }
    if (header.values == values::sign) {
      auto const* const bits = reinterpret_cast<std::uint32_t const*>(region);
      add_slots(packet, s, run, v, target, [&](std::uint64_t at, std::uint32_t items) {
        float const magnitude =
          weight *
          (s.role == segment_role::companion ? s.scale : rule::sign_magnitude(header.norm, s.scale, items));
        return (bits[at / 32] >> at % 32 & 1U) != 0 ? -magnitude : magnitude;
      });
    } else if (header.values == values::bf16) {
      add_slots(packet, s, run, v, target,
                scaled(reinterpret_cast<rule::bfloat16 const*>(region), s.scale, weight));
    } else {
      add_slots(packet, s, run, v, target, scaled(reinterpret_cast<Wire const*>(region), s.scale, weight));
    }
  }

  template <class Stored>
  static __device__ auto scaled(Stored const* values, float scale, float weight)
  {
    return [=](std::uint64_t at, std::uint32_t) { return weight * (rule::widen(values[at]) * scale); };
  }

  /// Some lanes take a slot each: as many as its tile has elements, up to a warp.
  template <class Target, class Value>
  __device__ void add_slots(std::uint32_t packet, segment_layout const& s, run_of_slots run,
                            window_view const& v, Target const& target, Value const& value)
  {
    std::uint32_t const* const names = w_.packets[packet].names;
    std::uint32_t const bits         = rule::bit_width(s.tile - 1);
    std::uint32_t const lanes        = bits > 5 ? warp_lanes : 1U << bits;
    std::uint32_t const lane         = threadIdx.x % lanes;
    for (std::uint32_t head = run.begin + threadIdx.x / lanes; head < run.end;
         head += block_threads / lanes) {
      std::uint32_t const name = names[head];
      if (head != run.begin && names[head - 1] == name) {
        continue;  // the lanes of its tile's first slot take it
      }
      std::uint64_t const begin = std::uint64_t{name - s.first_tile} * s.tile;
      std::uint64_t const left  = v.count - begin;
      auto const items          = static_cast<std::uint32_t>(left < s.tile ? left : s.tile);
      std::uint64_t const from  = begin > v.first ? begin : v.first;
      std::uint64_t const to    = begin + items < v.end ? begin + items : v.end;
      for (std::uint64_t element = from + lane; element < to; element += lanes) {
        float sum = target.get(element);
        for (std::uint32_t slot = head; slot < run.end && names[slot] == name; ++slot) {
          sum += value(std::uint64_t{slot - s.first_slot} * s.tile + (element - begin), items);
        }
        target.set(element, sum);
      }
    }
  }

  decode_work const& w_;
  output const* outputs_;
};

}  // namespace bird::device
