/// The packet: what one list of tensors becomes on the wire. packet_format.md is the specification.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bird/api.h"
#include "bird/error.hpp"
#include "bird/span.hpp"
#include "bird/tensor.hpp"

namespace bird BIRD_API {

/// How tiles are chosen; also the code in the header.
enum class sampling : std::uint8_t {
  bi_random  = 1,  ///< BIRD: keep tile j with (a_j / max a)^gamma, then thin to ceil(ratio * tiles)
  systematic = 2,  ///< exactly ceil(ratio * tiles) draws with probabilities proportional to the norms
  uniform    = 3,  ///< one tile of every stratum of tiles / K; never looks at the data
  top        = 4,  ///< the tiles of largest norm
};

/// What is sent of a kept tile.
enum class values : std::uint8_t {
  sign = 1,  ///< one bit an element; the magnitude is shared by the segment
  full = 2,  ///< its elements over their probability, in the tensor's dtype
  bf16 = 3,  ///< the same, rounded to bfloat16
};

/// How the kept tiles are named.
enum class index : std::uint8_t {
  u32        = 1,  ///< four bytes a slot
  bitmap     = 2,  ///< one bit a tile
  elias_fano = 3,  ///< about 2 + log2(tiles / slots) bits a slot
};

/// What a tile's probability follows.
enum class norm : std::uint8_t { l1 = 1, l2 = 2 };

[[nodiscard]] BIRD_API char const* to_string(sampling value);
[[nodiscard]] BIRD_API char const* to_string(values value);
[[nodiscard]] BIRD_API char const* to_string(index value);
[[nodiscard]] BIRD_API char const* to_string(norm value);

inline constexpr std::uint32_t packet_magic   = 0x44524942U;  ///< "BIRD"
inline constexpr std::uint16_t packet_version = 1;

/// First 64 bytes of every packet, little-endian.
struct packet_header {
  std::uint32_t magic;
  std::uint16_t version;
  dtype type;          ///< of the tensors
  std::uint8_t flags;  ///< header_flag bits; the others are zero
  bird::sampling sampling;
  bird::values values;
  bird::index index;
  bird::norm norm;
  std::uint32_t segment_count;
  std::uint64_t element_count;  ///< of all segments
  std::uint64_t capacity;       ///< bytes that a packet of this list may take
  std::uint64_t slot_count;     ///< kept slots of all segments
  std::uint64_t seed;
  std::uint32_t step;
  std::uint32_t tensor_id;
  std::uint32_t tile;      ///< elements per tile; 0: a tile is a row of its segment
  std::uint32_t checksum;  ///< of header (with this field zero) and all sections
};
static_assert(sizeof(packet_header) == 64);

namespace header_flag {
inline constexpr std::uint8_t non_finite = 1;  ///< an Inf or NaN somewhere in the input
inline constexpr std::uint8_t known      = non_finite;
}  // namespace header_flag

/// One entry of the segment table that follows the header.
struct segment_entry {
  std::uint64_t count;  ///< elements
  std::uint32_t tile;   ///< elements per tile; 0 unless sampled
  segment_role role;
  std::uint8_t flags;       ///< header_flag bits of this segment
  std::uint16_t reserved;   ///< zero
  std::uint32_t slots;      ///< kept slots; of a companion: those of its sampled segment
  float scale;              ///< sign: norm that one slot carries; full: factor of a stored value
  std::uint64_t reserved2;  ///< zero
};
static_assert(sizeof(segment_entry) == 32);

/// A packet that has been checked: everything that it says of itself is true of its bytes.
struct packet_view {
  packet_header header;
  span<segment_entry const> segments;
  span<std::byte const> bytes;  ///< of the packet alone, without what follows it in the buffer
  std::uint64_t tile_count;     ///< of all sampled segments
  std::size_t index_offset;     ///< from the first byte of the packet
  std::size_t starts_offset;
  std::size_t values_offset;
};

/// Reads and checks a packet: header, segment table, section sizes, checksum, and that its index is
/// sorted and names tiles of the packet only. After this a decoder may trust it.
/// @param bytes 16-byte aligned; may be longer than the packet
/// @throws bad_packet naming the first field that is wrong, and its value
[[nodiscard]] BIRD_API packet_view parse_packet(span<std::byte const> bytes);

/// Bytes that the packet at the start of `bytes` occupies, from its header and segment table alone.
/// @throws bad_packet as parse_packet
[[nodiscard]] BIRD_API std::size_t packet_bytes(span<std::byte const> bytes);

}  // namespace bird
