/// decompress and apply on the device: see decode.cuh for the phases.
#include "decode.cuh"

#include <algorithm>

#include "decode.hpp"
#include "decode_index.cuh"
#include "decode_windows.cuh"
#include "launch.hpp"
#include "launch_table.cuh"

namespace bird::device {
namespace {

template <decode_mode Mode>
__device__ void decode(decode_work const& work, output const* outputs)
{
  grid_barrier grid{&work.control->barrier};
  if (index_decoder{work, outputs}.run(grid)) {
    window_writer<Mode>{work, outputs}.run();
  }
}

template <decode_mode Mode, std::uint32_t Capacity>
__global__ void __launch_bounds__(block_threads, decoding_blocks)
  decode_to_table(__grid_constant__ decode_work const work,
                  __grid_constant__ launch_table<output, Capacity> const table)
{
  decode<Mode>(work, table.entries);
}

template <decode_mode Mode>
__global__ void __launch_bounds__(block_threads, decoding_blocks)
  decode_to_list(__grid_constant__ decode_work const work)
{
  decode<Mode>(work, work.outputs);
}

template <decode_mode Mode>
void launch_for(decode_work const& work, span<output const> outputs, cudaStream_t stream)
{
  char const* const name     = Mode == decode_mode::overwrite ? "decompress" : "apply";
  std::uint64_t const pieces = std::max(work.windows, work.packet_count);
  auto const shape           = [&](auto* kernel) {
    return launch_shape{resident_grid(kernel, block_threads, pieces), block_threads, true};
  };
  if (outputs.size() <= few_by_value) {
    auto* const kernel = decode_to_table<Mode, few_by_value>;
    launch(name, kernel, shape(kernel), stream, work, table_of<few_by_value>(outputs));
  } else if (outputs.size() <= most_by_value) {
    auto* const kernel = decode_to_table<Mode, most_by_value>;
    launch(name, kernel, shape(kernel), stream, work, table_of<most_by_value>(outputs));
  } else {
    put(outputs, work.outputs, stream);
    auto* const kernel = decode_to_list<Mode>;
    launch(name, kernel, shape(kernel), stream, work);
  }
}

}  // namespace

void decode(decode_mode mode, decode_work const& work, span<output const> outputs, cudaStream_t stream)
{
  check(cudaMemsetAsync(work.control, 0, sizeof *work.control, stream), "cudaMemsetAsync");
  if (mode == decode_mode::overwrite) {
    launch_for<decode_mode::overwrite>(work, outputs, stream);
  } else {
    launch_for<decode_mode::accumulate>(work, outputs, stream);
  }
}

}  // namespace bird::device
