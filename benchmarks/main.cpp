/// bird_bench: measures every host stage against its limits and peers, and prints one table of ratios.
#include <omp.h>

#include "program.hpp"
#include "rows.hpp"

namespace {

using namespace bird::bench;

constexpr char const* usage = R"(usage: bird_bench [options]
  --filter REGEX      only rows whose name matches
  --list              print the rows, measure nothing
  --json FILE         write the rows {row, ours, reference, ratio, min, max, goal} as well
  --raw FILE          write Google Benchmark's JSON of all repetitions as well
  --repetitions N     of every measurement (default 9)
  --seconds S         least time of a repetition (default 0.05)
  --gradients FILE    measure on the fp32 tensors of a safetensors file, repeated to each size
  --quick             small sizes, 3 repetitions: proves that everything runs; ratios mean nothing
)";

axes axes_of(bool quick)
{
  axes over;
  if (quick) {
    over.large >>= 6U;   // 1M
    over.medium >>= 6U;  // 256K
    over.small >>= 6U;   // 16K
  }
  if (omp_get_num_procs() > 1) {
    over.threads.push_back(2);
  }
  return over;
}

void add_all(suite& rows, inputs& data, axes const& over)
{
  add_limits(rows, data, over);
  add_tile_norms(rows, data, over);
  add_sample(rows, data, over);
  add_compress(rows, data, over);
  add_selection_peers(rows, data, over);
  add_quantizer_peers(rows, data, over);
  add_decompress(rows, data, over);
  add_apply(rows, data, over);
  add_lists(rows, data, over);
  add_philox(rows, data, over);
}

}  // namespace

int main(int count, char** arguments)
{
  inputs data;
  auto const add_rows = [&](suite& rows, program_options const& chosen) {
    if (!chosen.gradients_file.empty()) {
      data = inputs{chosen.gradients_file};
    }
    add_all(rows, data, axes_of(chosen.quick));
  };
  return run({"bird_bench", usage, true, add_rows}, count, arguments);
}
