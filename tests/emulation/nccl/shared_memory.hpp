/// The making of a segment: its file, its parts.
#pragma once

#include <cstddef>
#include <string>

namespace loopback {

/// Where the parts of a segment begin, in bytes, and how large a slot of each kind is.
struct layout {
  std::size_t ranks, channels, slots, channel_slots, total, slot, channel;
  explicit layout(int nranks);
};

struct mapping {
  void* base;
  std::size_t bytes;
};

/// Maps the segment of this name, made for so many ranks if it does not exist. @throws failure
/// (ncclSystemError)
mapping open_or_publish(std::string const& name, int nranks, int version);

}  // namespace loopback
