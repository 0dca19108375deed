/// decode: packets that nobody on the host has seen, back into tensors.
///
///   parse    a block a packet: header and table against the tensors, and where its parts lie
///   sum_up   checksums; set bits of each chunk of index words
///   place    a block a packet: verdict on the checksum; prefix sums of the chunks
///   name     the tile of every slot, in a list; each must lie in its segment
///   verify   no tile comes before the one that precedes it
///   write    windows of the tensors: all packets are added in order, in shared memory, and stored once
///
/// A packet that fails anywhere before `write` fails the call, and no tensor is touched. What a packet says
/// is bounded before it is used as an address, so hostile bytes cannot lead outside of the buffers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "barrier_state.cuh"
#include "bird/compressor.hpp"
#include "packet_layout.cuh"

namespace bird::device {

inline constexpr std::uint32_t most_packets    = 128;   ///< of one call
inline constexpr std::uint32_t window_elements = 2048;  ///< 8 KiB of floats
inline constexpr std::uint32_t index_words     = 256;   ///< of a chunk: one a thread

/// One tensor that is written.
struct output {
  void* data;
  std::uint64_t count;
  std::uint32_t first_window;
  dtype type;
};

struct packet_input {
  std::byte const* bytes;
  std::uint64_t size;  ///< of the buffer; the packet may be shorter
  float weight;
};

/// What parse found out about one packet.
struct packet_state {
  packet_header header;
  std::uint64_t checksum;  ///< sum of the terms
  std::uint64_t index_offset;
  std::uint64_t starts_offset;
  std::uint64_t total_bytes;
  std::uint32_t tiles;
  std::uint32_t slots;
  std::uint32_t chunks;         ///< of words that hold one bit a number: bitmap or upper part
  std::uint32_t starts_chunks;  ///< of the starts section
  std::uint32_t* chunk_sums;
  std::uint32_t* starts_sums;
  std::uint32_t* names;  ///< tile of each slot
  std::uint32_t* set;    ///< bitmap with starts: tile of each set bit
};

/// One segment of one packet.
struct segment_layout {
  std::uint64_t region_offset;
  std::uint32_t first_tile;  ///< companion: of its parent
  std::uint32_t tiles;       ///< the same
  std::uint32_t first_slot;  ///< the same
  std::uint32_t slots;
  std::uint32_t slots_before;  ///< of all sampled segments before this one: never falls, to search in
  std::uint32_t tile;          ///< elements of a slot; 0 for dense
  float scale;
  segment_role role;
  std::uint8_t flags;
};

/// Why packets were refused; a greater code was found earlier in a packet.
enum class decode_failure : std::uint32_t {
  none = 0,
  order,  ///< tiles descend, or repeat where they must not
  tile,   ///< a slot names a tile outside its segment
  index,  ///< the index has not as many numbers as the header says
  checksum,
  scratch,   ///< the packet needs more scratch than was given
  length,    ///< the packet is longer than its buffer
  table,     ///< a segment is not that of the tensor, or has impossible fields
  segments,  ///< another number of segments than tensors
  header,    ///< magic, version or codes
};

struct decode_control {
  std::uint32_t failure;  ///< first word of the scratch; see encode_failure
  barrier_state barrier;
  /// What `failure` was when all blocks had met at the end of each phase. A block that is ahead may raise
  /// `failure` while another still asks how the phase before ended; all must go the same way.
  std::uint32_t verdicts[4];
};

/// Failures as numbers of which the greatest counts: that of the first packet, and there the earliest.
BIRD_RULE std::uint32_t encode_failure(std::uint32_t packet, decode_failure why)
{
  return (0xFFFFU - packet) << 8 | static_cast<std::uint32_t>(why);
}

struct decode_work {
  std::uint32_t packet_count;
  std::uint32_t output_count;
  std::uint32_t windows;
  std::uint64_t area_bytes;  ///< of scratch for the index of one packet
  decode_control* control;
  packet_state* packets;
  segment_layout* layouts;  ///< packet after packet
  std::byte* areas;
  output* outputs;
  packet_input inputs[most_packets];
};

enum class decode_mode { overwrite, accumulate };

/// Words of the bit string that has one set bit a number: the bitmap or the upper part; u32 has none.
BIRD_RULE std::uint64_t bit_string_words(index names, std::uint64_t tiles, std::uint64_t slots)
{
  switch (names) {
    case index::bitmap:
      return rule::ceil_div(tiles, 64);
    case index::elias_fano:
      return rule::elias_fano{tiles, slots}.upper_words();
    case index::u32:
      return 0;
  }
  return 0;
}

/// How the scratch for the index of one packet is divided, in 4-byte words.
struct index_area {
  std::uint64_t chunks;         ///< of words that hold one bit a number
  std::uint64_t starts_chunks;  ///< of the starts section
  std::uint64_t words;  ///< sums of all chunks, tiles of the slots, and with starts those of the set bits

  BIRD_RULE index_area(sampling how, index names, std::uint64_t tiles, std::uint64_t slots)
  {
    bool const starts = rule::has_starts(how, names);
    chunks            = rule::ceil_div(bit_string_words(names, tiles, slots), index_words);
    starts_chunks     = starts ? rule::ceil_div(rule::ceil_div(slots, 64), index_words) : 0;
    words             = chunks + starts_chunks + slots + (starts ? slots : 0);
  }
  [[nodiscard]] BIRD_RULE std::uint64_t bytes() const { return 4 * words; }
};

}  // namespace bird::device
