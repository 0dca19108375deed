/// What the two drivers of the packet fuzzer share.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

/// How many inputs have parsed so far. A fuzzer that hardly gets past the parser tests nothing behind it.
std::uint64_t parsed_inputs();

/// Corrects sums, capacity and checksum of a mutated packet; `how` chooses which.
void repair(std::uint8_t* data, std::size_t size, std::uint32_t how);
