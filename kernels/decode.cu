/// decompress and apply on the device: see decode.cuh for the phases.
#include "decode.cuh"

#include <algorithm>

#include "decode_index.cuh"
#include "decode_windows.cuh"
#include "device/decode.hpp"
#include "device/launch.hpp"

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
__global__ void __launch_bounds__(block_threads)
  decode_to_table(__grid_constant__ decode_work const work,
                  __grid_constant__ output_table<Capacity> const table)
{
  decode<Mode>(work, table.entries);
}

template <decode_mode Mode>
__global__ void __launch_bounds__(block_threads) decode_to_list(__grid_constant__ decode_work const work)
{
  decode<Mode>(work, work.outputs);
}

/// Tensors of a list that is too long for the parameters of one launch.
__global__ void put_outputs(output* list, std::uint32_t count,
                            __grid_constant__ output_table<most_outputs> const table)
{
  for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    list[i] = table.entries[i];
  }
}

template <std::uint32_t Capacity>
output_table<Capacity> table_of(span<output const> outputs)
{
  output_table<Capacity> table{};
  std::copy(outputs.begin(), outputs.end(), table.entries);
  return table;
}

template <decode_mode Mode>
void launch_for(decode_work const& work, span<output const> outputs, cudaStream_t stream)
{
  char const* const name     = Mode == decode_mode::overwrite ? "decompress" : "apply";
  std::uint64_t const pieces = std::max(work.windows, work.packet_count);
  auto const shape           = [&](auto* kernel) {
    return launch_shape{resident_grid(kernel, block_threads, pieces), block_threads, true};
  };
  if (outputs.size() <= few_outputs) {
    auto* const kernel = decode_to_table<Mode, few_outputs>;
    launch(name, kernel, shape(kernel), stream, work, table_of<few_outputs>(outputs));
  } else if (outputs.size() <= most_outputs) {
    auto* const kernel = decode_to_table<Mode, most_outputs>;
    launch(name, kernel, shape(kernel), stream, work, table_of<most_outputs>(outputs));
  } else {
    for (std::size_t first = 0; first < outputs.size(); first += most_outputs) {
      std::size_t const count = std::min<std::size_t>(most_outputs, outputs.size() - first);
      launch("put_outputs", put_outputs, {1, block_threads, false}, stream, work.outputs + first,
             static_cast<std::uint32_t>(count), table_of<most_outputs>(outputs.subspan(first, count)));
    }
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
