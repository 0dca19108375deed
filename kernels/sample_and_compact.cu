/// sample_and_compact: norms to packet, in one cooperative kernel.
///
/// Every phase needs totals of the phase before it (the largest norm, the sum of weights, the number of
/// slots), so all blocks meet between them; see sample_*.cuh and compact.cuh for the phases.
#include "compact.cuh"
#include "launch.hpp"
#include "lay_out.cuh"
#include "sample_select.cuh"
#include "sample_systematic.cuh"
#include "sample_uniform.cuh"

namespace bird::device {
namespace {

template <class Sampler, class T, class Wire>
__global__ void __launch_bounds__(block_threads, meeting_blocks)
  sample_and_compact(__grid_constant__ compress_work const w)
{
  grid_barrier grid{&w.control->barrier};
  gather_summaries<T>(w);
  grid.wait();
  Sampler sampler{w};
  sampler.run(grid, [&] { layout{w}.lay_out(); });
  packet_writer<T, Wire> writer{w};
  writer.clear();
  sampler.emit();
  grid.wait();
  if (w.scales_companions) {
    writer.scale_companions();
    grid.wait();
  }
  writer.describe(sampler);
  writer.write_index();
  writer.write_values();
  grid.wait();
  writer.add_up();
}

template <class Sampler, class T, class Wire>
void start(compress_work const& work, cudaStream_t stream)
{
  auto* const kernel         = sample_and_compact<Sampler, T, Wire>;
  std::uint64_t const pieces = work.batches > work.chunks ? work.batches : work.chunks;
  launch("sample_and_compact", kernel, {resident_grid(kernel, block_threads, pieces), block_threads, true},
         stream, work);
}

template <class T>
void launch_for(compress_work const& work, cudaStream_t stream)
{
  switch (work.header.sampling) {
    case sampling::systematic:
      return start<systematic_sampler<T>, T, T>(work, stream);
    case sampling::bi_random:
      return start<select_sampler<sampling::bi_random, T>, T, T>(work, stream);
    case sampling::top:
      return start<select_sampler<sampling::top, T>, T, T>(work, stream);
    case sampling::uniform:
      return start<uniform_sampler<T>, T, T>(work, stream);
  }
}

}  // namespace

void sample_and_compact(compress_work const& work, cudaStream_t stream)
{
  dispatch(work.header.type, [&](auto tag) {
    using Wire = typename decltype(tag)::type;
    if (work.buffers != nullptr) {  // residuals are fp32, and only top takes them
      start<select_sampler<sampling::top, float>, float, Wire>(work, stream);
    } else {
      launch_for<Wire>(work, stream);
    }
  });
}

}  // namespace bird::device
