/// Error feedback: what a packet leaves behind is added to the next gradient. See src/host/feedback.cpp for
/// the rule; this gives the same bits.
#include "compress.hpp"
#include "launch.hpp"
#include "launch_table.cuh"
#include "packet_layout.cuh"
#include "sample.cuh"
#include "value_place.cuh"
#include "values.cuh"

namespace bird::device {
namespace {

struct accumulate_work {
  gradient_summaries seen;
  std::uint32_t segment_count;
  float momentum;
  feedback_buffers* kept;  ///< the buffers, left here for the kernels that follow
};

template <class T>
__device__ void accumulate(accumulate_work const& work, feedback_buffers const* buffers)
{
  if (work.kept != buffers) {
    for (std::uint32_t i = grid_thread(); i < work.segment_count; i += grid_threads()) {
      work.kept[i] = buffers[i];
    }
  }
  if (any_non_finite(work.seen.summaries, 0, work.seen.items)) {
    return;
  }
  for (std::uint32_t item = blockIdx.x; item < work.seen.items; item += gridDim.x) {
    segment const& s =
      work.seen.list[segment_of(work.seen.list, work.segment_count, &segment::first_item, item)];
    feedback_buffers const& b = buffers[s.number];
    T const* const gradient   = static_cast<T const*>(b.gradient);
    std::uint64_t const from  = std::uint64_t{item - s.first_item} * item_elements;
    std::uint64_t const end   = s.count - from < item_elements ? s.count : from + item_elements;
    for (std::uint64_t i = from + threadIdx.x; i < end; i += block_threads) {
      float update = rule::widen(gradient[i]);
      if (b.velocity != nullptr) {
        update        = work.momentum * b.velocity[i] + update;
        b.velocity[i] = update;
      }
      b.residual[i] += update;
    }
  }
}

template <class T, std::uint32_t Capacity>
__global__ void __launch_bounds__(block_threads, streaming_blocks)
  accumulate_to_table(accumulate_work work,
                      __grid_constant__ launch_table<feedback_buffers, Capacity> const table)
{
  accumulate<T>(work, table.entries);
}

template <class T>
__global__ void __launch_bounds__(block_threads, streaming_blocks) accumulate_to_list(accumulate_work work)
{
  accumulate<T>(work, work.kept);
}

/// Takes what was sent out of the residuals, batch by batch of the value regions. `top` sends a tile once, so
/// each element is taken once.
template <class Wire>
class settlement {
 public:
  __device__ explicit settlement(compress_work const& work) : w_{work} {}

  __device__ void settle(std::uint32_t batch)
  {
    std::uint32_t const number = segment_of(w_.list, w_.header.segment_count, &segment::first_batch, batch);
    segment const& s           = w_.list[number];
    segment_entry const& entry =
      reinterpret_cast<segment_entry const*>(w_.packet + sizeof(packet_header))[number];
    std::uint64_t const stride = rule::slot_elements(s.role, s.tile);
    bool const dense           = s.role == segment_role::dense;
    std::uint64_t const stored = dense ? s.count : entry.slots * stride;
    std::uint64_t const begin  = std::uint64_t{batch - s.first_batch} * batch_elements;
    if (begin >= stored) {
      return;
    }
    std::uint64_t const end = stored - begin < batch_elements ? stored : begin + batch_elements;
    value_locator const where{begin, dense ? 1 : static_cast<std::uint32_t>(stride)};
    for (std::uint64_t i = begin + threadIdx.x; i < end; i += block_threads) {
      if (dense) {  // the velocity goes on: this is plain momentum
        w_.buffers[number].residual[i] -= value_of<Wire>(number, i, 1.0F);
      } else {
        take(s, entry, where.of(i), i);
      }
    }
  }

 private:
  __device__ void take(segment const& s, segment_entry const& entry, value_place p, std::uint64_t at)
  {
    bool const companion    = s.role == segment_role::companion;
    std::uint32_t const own = w_.slots[w_.states[s.number].first_slot + p.slot].tile -
                              w_.list[companion ? s.parent : s.number].first_tile;
    std::uint64_t const items = companion ? 1 : items_of(s, own);
    if (p.at >= items) {
      return;
    }
    float const sent          = sent_value(s, entry, at, static_cast<std::uint32_t>(items));
    std::uint64_t const i     = companion ? own : std::uint64_t{own} * s.tile + p.at;
    feedback_buffers const& b = w_.buffers[s.number];
    b.residual[i] += -1.0F * sent;
    if (b.velocity != nullptr) {
      b.velocity[i] = 0.0F;
    }
  }

  /// As decompress would give it.
  [[nodiscard]] __device__ float sent_value(segment const& s, segment_entry const& entry, std::uint64_t at,
                                            std::uint32_t items) const
  {
    if (w_.header.values == values::sign) {
      auto const* const bits =
        reinterpret_cast<std::uint32_t const*>(w_.packet + w_.states[s.number].region_offset);
      float const magnitude = s.role == segment_role::companion
                                ? entry.scale
                                : rule::sign_magnitude(w_.header.norm, entry.scale, items);
      return (bits[at / 32] >> at % 32 & 1U) != 0 ? -magnitude : magnitude;
    }
    return w_.header.values == values::bf16 ? value_of<rule::bfloat16>(s.number, at, entry.scale)
                                            : value_of<Wire>(s.number, at, entry.scale);
  }

  template <class Stored>
  [[nodiscard]] __device__ float value_of(std::uint32_t number, std::uint64_t at, float scale) const
  {
    auto const* const stored = reinterpret_cast<Stored const*>(w_.packet + w_.states[number].region_offset);
    return rule::widen(stored[at]) * scale;
  }

  compress_work const& w_;
};

template <class Wire>
__global__ void __launch_bounds__(block_threads, streaming_blocks)
  settle(__grid_constant__ compress_work const work)
{
  if (work.control->refused != 0) {
    return;
  }
  settlement<Wire> settlement{work};
  for (std::uint32_t batch = blockIdx.x; batch < work.batches; batch += gridDim.x) {
    settlement.settle(batch);
  }
}

}  // namespace

void accumulate(dtype type, gradient_summaries const& seen, std::uint32_t segment_count, float momentum,
                span<feedback_buffers const> buffers, feedback_buffers* kept, cudaStream_t stream)
{
  accumulate_work const work{seen, segment_count, momentum, kept};
  launch_shape const shape{grid_for(seen.items), block_threads, false};
  dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (buffers.size() <= few_by_value) {
      launch("accumulate", accumulate_to_table<T, few_by_value>, shape, stream, work,
             table_of<few_by_value>(buffers));
    } else if (buffers.size() <= most_by_value) {
      launch("accumulate", accumulate_to_table<T, most_by_value>, shape, stream, work,
             table_of<most_by_value>(buffers));
    } else {
      put(buffers, kept, stream);
      launch("accumulate", accumulate_to_list<T>, shape, stream, work);
    }
  });
}

void settle(compress_work const& work, cudaStream_t stream)
{
  dispatch(work.header.type, [&](auto tag) {
    launch("settle", settle<typename decltype(tag)::type>, {grid_for(work.batches), block_threads, false},
           stream, work);
  });
}

}  // namespace bird::device
