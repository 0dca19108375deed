/// What the memory system allows: reads, copies and fills, each in the usual and in the best known form.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bird/span.hpp"
#include "prefetch.hpp"

namespace bird::peers {

// Each read returns the exclusive or of all 32-bit words, so that none can be left out.

/// A plain vector loop; the hardware prefetches as it likes.
std::uint32_t read_plain(span<float const> data);
/// The same loop with software prefetch.
std::uint32_t read_prefetched(span<float const> data, prefetch_pattern const& pattern);
/// Four runs of the thread's share side by side.
std::uint32_t read_four_runs(span<float const> data);

void copy_libc(span<float const> from, float* to);
void copy_non_temporal(span<float const> from, float* to);  ///< `to` aligned to 64 bytes

void fill_libc(span<float> data);          ///< with zeros, as most of a decoded gradient is
void fill_non_temporal(span<float> data);  ///< with zeros; aligned to 64 bytes

/// dense += weight * x: what a server does for a dense update.
void axpy(span<float const> x, float weight, span<float> dense);

}  // namespace bird::peers
