#include "curand_philox.hpp"

#include <vector_functions.h>
#include <vector_types.h>

#define QUALIFIERS static inline  // cuRAND's hook: its generator as plain host code
#include <curand_philox4x32_x.h>
#undef QUALIFIERS

namespace bird::peers {

void curand_philox(std::uint32_t const (&key)[2], std::uint32_t third, std::uint32_t fourth,
                   std::uint64_t first_block, span<std::uint32_t> words)
{
  for (std::size_t block = 0; block < words.size() / 4; ++block) {
    std::uint64_t const number = first_block + block;
    uint4 const drawn          = curand_Philox4x32_10(
               make_uint4(static_cast<unsigned>(number), static_cast<unsigned>(number >> 32U), third, fourth),
               make_uint2(key[0], key[1]));
    words[4 * block]     = drawn.x;
    words[4 * block + 1] = drawn.y;
    words[4 * block + 2] = drawn.z;
    words[4 * block + 3] = drawn.w;
  }
}

}  // namespace bird::peers
