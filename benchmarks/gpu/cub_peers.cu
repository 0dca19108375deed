#include "gpu/cub_peers.hpp"

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>

#include "launch.hpp"

namespace bird::bench::cub_peers {
namespace {

struct magnitude {
  __host__ __device__ float operator()(float x) const { return x < 0 ? -x : x; }
};

using device::check;

}  // namespace

bool is_built() { return true; }

std::size_t scratch_bytes(std::uint32_t count)
{
  std::size_t reduce = 0;
  std::size_t select = 0;
  std::size_t sort   = 0;
  float const* x     = nullptr;
  check(cub::DeviceReduce::TransformReduce(nullptr, reduce, x, static_cast<float*>(nullptr), count,
                                           ::cuda::std::plus<>{}, magnitude{}, 0.0F),
        "cub::DeviceReduce");
  check(cub::DeviceSelect::Flagged(nullptr, select, x, static_cast<std::uint8_t const*>(nullptr),
                                   static_cast<float*>(nullptr), static_cast<std::uint32_t*>(nullptr), count),
        "cub::DeviceSelect");
  std::uint32_t const* keys = nullptr;
  std::uint32_t* out        = nullptr;
  check(cub::DeviceRadixSort::SortPairsDescending(nullptr, sort, keys, out, keys, out, count),
        "cub::DeviceRadixSort");
  return std::max({reduce, select, sort});
}

void sum_of_magnitudes(float const* x, std::uint32_t count, float* sum, void* scratch, std::size_t bytes,
                       cudaStream_t stream)
{
  check(cub::DeviceReduce::TransformReduce(scratch, bytes, x, sum, count, ::cuda::std::plus<>{}, magnitude{},
                                           0.0F, stream),
        "cub::DeviceReduce");
}

void select_flagged(float const* x, std::uint8_t const* flags, std::uint32_t count, float* out,
                    std::uint32_t* selected, void* scratch, std::size_t bytes, cudaStream_t stream)
{
  check(cub::DeviceSelect::Flagged(scratch, bytes, x, flags, out, selected, count, stream),
        "cub::DeviceSelect");
}

void sort_by_magnitude(std::uint32_t const* keys, std::uint32_t* keys_out, std::uint32_t const* places,
                       std::uint32_t* places_out, std::uint32_t count, void* scratch, std::size_t bytes,
                       cudaStream_t stream)
{
  check(cub::DeviceRadixSort::SortPairsDescending(scratch, bytes, keys, keys_out, places, places_out, count,
                                                  0, 31, stream),
        "cub::DeviceRadixSort");
}

}  // namespace bird::bench::cub_peers
