/// lay_out: where each segment's slots and values stand in the packet, now that all counts are known.
#pragma once

#include "block.cuh"
#include "packet_layout.cuh"
#include "sample.cuh"

namespace bird::device {

/// By all threads of one block.
class layout {
 public:
  __device__ explicit layout(compress_work const& work) : w_{work} {}

  __device__ void lay_out()
  {
    place_slots();
    compress_control& control = *w_.control;
    rule::section_offsets const offsets{w_.header.segment_count, w_.header.sampling, w_.header.index,
                                        w_.tiles, slots_};
    std::uint64_t const end = place_regions(offsets.values);
    if (threadIdx.x == 0) {
      control.index_offset  = offsets.index;
      control.starts_offset = offsets.starts;
      control.values_offset = offsets.values;
      control.total_bytes   = end;
      control.slots         = slots_;
      control.non_finite    = non_finite_ ? 1 : 0;
    }
  }

 private:
  __device__ void place_slots()
  {
    bool non_finite = false;
    for (std::uint32_t base = 0; base < w_.header.segment_count; base += block_threads) {
      std::uint32_t const number = base + threadIdx.x;
      bool const inside          = number < w_.header.segment_count;
      bool const sampled         = inside && w_.list[number].role == segment_role::sampled;
      prefix const slots         = block_prefix(sampled ? w_.states[number].slots : 0);
      if (sampled) {
        w_.states[number].first_slot = slots_ + static_cast<std::uint32_t>(slots.before);
      }
      slots_ += static_cast<std::uint32_t>(slots.total);
      non_finite = non_finite || (inside && w_.states[number].non_finite != 0);
    }
    non_finite_ = __syncthreads_or(non_finite ? 1 : 0) != 0;
    for (std::uint32_t number = threadIdx.x; number < w_.header.segment_count; number += block_threads) {
      if (w_.list[number].role == segment_role::companion) {
        ride_along(w_.states[number], w_.states[w_.list[number].parent]);
      }
    }
    __syncthreads();
  }

  __device__ void ride_along(segment_state& state, segment_state const& parent) const
  {
    state.slots      = parent.slots;
    state.first_slot = parent.first_slot;
    if (w_.header.values == values::sign) {  // the scale is the companion's norm up to here
      state.scale = rule::to_finite_float(static_cast<double>(state.scale) * parent.companion_factor);
    }
  }

  /// Regions follow each other, and their alignment depends on what came before: sizes by all threads, sums
  /// by one.
  __device__ std::uint64_t place_regions(std::uint64_t values)
  {
    __shared__ std::uint64_t bytes[block_threads];
    __shared__ std::uint64_t end;
    if (threadIdx.x == 0) {
      end = values;
    }
    for (std::uint32_t base = 0; base < w_.header.segment_count; base += block_threads) {
      std::uint32_t const number = base + threadIdx.x;
      if (number < w_.header.segment_count) {
        segment const& s = w_.list[number];
        bytes[threadIdx.x] =
          rule::region_bytes(w_.header.values, s.role, rule::type_bytes(w_.header.type), s.count,
                             rule::slot_elements(s.role, s.tile), w_.states[number].slots);
      }
      __syncthreads();
      if (threadIdx.x == 0) {
        for (std::uint32_t i = 0; i < block_threads && base + i < w_.header.segment_count; ++i) {
          std::uint64_t const begin = rule::region_offset(end, w_.header.values, w_.list[base + i].role);
          end                       = begin + bytes[i];
          bytes[i]                  = begin;
        }
      }
      __syncthreads();
      if (number < w_.header.segment_count) {
        w_.states[number].region_offset = bytes[threadIdx.x];
      }
    }
    __syncthreads();
    return end;
  }

  compress_work const& w_;
  std::uint32_t slots_ = 0;
  bool non_finite_     = false;
};

}  // namespace bird::device
