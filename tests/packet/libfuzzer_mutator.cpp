/// libFuzzer's mutations, repaired: without this hardly any input would get past the checksum.
#include "packet_fuzz.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed)
{
  std::size_t const mutated = LLVMFuzzerMutate(data, size, max_size);
  repair(data, mutated, seed);
  return mutated;
}
