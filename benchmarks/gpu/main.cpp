/// bird_bench_device: measures the kernels against the limits of the device's memory and against peers, and
/// prints one table of ratios. Without a device it says so and exits with 77; emulated, it only checks.
#include <cuda_runtime.h>

#include <cstdio>

#include "gpu/cub_peers.hpp"
#include "gpu/device_rows.hpp"
#include "program.hpp"
#if BIRD_BENCH_EMULATED
#include "emulation.hpp"
#endif

namespace {

using namespace bird::bench;

constexpr int no_device_status = 77;  // ctest's SKIP_RETURN_CODE

constexpr char const* usage = R"(usage: bird_bench_device [options]
  --filter REGEX      only rows whose name matches
  --list              print the rows, measure nothing
  --json FILE         write the rows {row, ours, reference, ratio, min, max, microseconds, goal} as well
  --raw FILE          write Google Benchmark's JSON of all repetitions as well
  --repetitions N     of every measurement (default 9)
  --seconds S         least time of a repetition (default 0.05)
  --quick             small sizes, 3 repetitions: proves that everything runs; ratios mean nothing
GB/s are bytes that must move over time, so a ratio to the copy is the share of the roofline.
)";

device_axes axes_of(bool quick)
{
  device_axes over;
  if (quick) {
    over.large >>= 12U;   // 64K
    over.medium >>= 11U;  // 8K
    over.bucket /= 400;   // 16K
    over.share = 4096;
  }
  return over;
}

}  // namespace

int main(int count, char** arguments)
{
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "bird_bench_device: no CUDA device: nothing was measured\n");
    return no_device_status;
  }
#if BIRD_BENCH_EMULATED
  constexpr bool emulated = true;
#else
  constexpr bool emulated = false;
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) == cudaSuccess) {
    std::printf("%s\n", device.name);
  }
#endif
  if (!cub_peers::is_built()) {
    std::printf("This build has no CUB: the rows that compare with cub::Device* are left out.\n");
  }
  device_inputs data{emulated ? 2U : 32U};
  auto const add_rows = [&](suite& rows, program_options const& chosen) {
    device_axes const over = axes_of(chosen.quick || emulated);
    add_device_limits(rows, data, over);
    add_device_compress(rows, data, over);
    add_device_top_k(rows, data, over);
    add_device_decode(rows, data, over);
    add_device_lists(rows, data, over);
  };
  int const status =
    run({"bird_bench_device", usage, false, add_rows, emulated ? "The device is emulated." : ""}, count,
        arguments);
#if BIRD_BENCH_EMULATED
  if (std::string const reports = emulation::take_reports(); !reports.empty()) {
    std::fprintf(stderr, "bird_bench_device: the emulation reports:\n%s", reports.c_str());
    return 1;
  }
#endif
  return status;
}
