#include "scatter.hpp"

#include "bandwidth.hpp"
#include "threads.hpp"

namespace bird::peers {
namespace {

constexpr std::size_t ahead = 32;  // elements; the places lie far apart, so each is a line of its own

void prefetch_place(sparse_view kept, std::size_t i, float const* dense)
{
  if (i + ahead < kept.count) {
    __builtin_prefetch(dense + kept.index[i + ahead], 1);
  }
}

}  // namespace

void fill_and_scatter(sparse_view kept, span<float> dense)
{
  fill_libc(dense);
#pragma omp parallel for num_threads(parts_for(dense.size())) schedule(static)
  for (std::size_t i = 0; i < kept.count; ++i) {
    prefetch_place(kept, i, dense.data());
    dense[kept.index[i]] = kept.value[i];
  }
}

void scatter_add(sparse_view kept, float weight, span<float> dense)
{
#pragma omp parallel for num_threads(parts_for(dense.size())) schedule(static)
  for (std::size_t i = 0; i < kept.count; ++i) {
    prefetch_place(kept, i, dense.data());
    dense[kept.index[i]] += weight * kept.value[i];
  }
}

void fill_and_copy_tiles(tile_view kept, span<float> dense)
{
  fill_libc(dense);
#pragma omp parallel for num_threads(parts_for(dense.size())) schedule(static)
  for (std::size_t i = 0; i < kept.count; ++i) {
    std::memcpy(dense.data() + kept.tile[i] * kept.tile_elements, kept.value + i * kept.tile_elements,
                kept.tile_elements * sizeof(float));
  }
}

}  // namespace bird::peers
