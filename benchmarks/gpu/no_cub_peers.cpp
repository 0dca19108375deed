#include <stdexcept>

#include "gpu/cub_peers.hpp"

namespace bird::bench::cub_peers {
namespace {

[[noreturn]] void absent() { throw std::logic_error{"this build has no CUB"}; }

}  // namespace

bool is_built() { return false; }
std::size_t scratch_bytes(std::uint32_t) { absent(); }
void sum_of_magnitudes(float const*, std::uint32_t, float*, void*, std::size_t, cudaStream_t) { absent(); }
void select_flagged(float const*, std::uint8_t const*, std::uint32_t, float*, std::uint32_t*, void*,
                    std::size_t, cudaStream_t)
{
  absent();
}
void sort_by_magnitude(std::uint32_t const*, std::uint32_t*, std::uint32_t const*, std::uint32_t*,
                       std::uint32_t, void*, std::size_t, cudaStream_t)
{
  absent();
}

}  // namespace bird::bench::cub_peers
