/// A list of tensors laid out for the stages: who has which tiles, and how many slots at the most.
#pragma once

#include <string>
#include <vector>

#include "bird/compressor.hpp"

namespace bird {

/// One tensor of the list, laid out.
struct segment_plan {
  void const* data;
  segment_role role;
  std::uint32_t number;      ///< in the list; a companion draws nothing, so only sampled ones use it
  std::uint32_t parent;      ///< companion: number of the segment whose tiles it rides on
  std::uint64_t count;       ///< elements
  std::uint64_t tile;        ///< elements per tile; 0 unless sampled
  std::uint64_t tiles;       ///< 0 unless sampled
  std::uint64_t first_tile;  ///< of this segment among all tiles of the list
  std::uint64_t slots;       ///< K: the most that it may keep
};

/// A list of tensors, laid out; pointers are those of the caller.
struct list_plan {
  std::vector<segment_plan> segments;
  dtype type             = dtype::float32;  ///< of what the pointers address
  dtype wire             = dtype::float32;  ///< of the packet: the tensors' own, also when a residual is sent
  std::uint64_t elements = 0;
  std::uint64_t tiles    = 0;
  std::uint64_t slots    = 0;  ///< capacity
};

/// Checks the list and lays it out.
/// @throws invalid_argument naming the tensor, its field and the value
[[nodiscard]] list_plan plan_list(span<const_tensor_view const> tensors, compressor_options const& options);

/// The header of a packet of this list as far as it is known before a sample is drawn: all but flags,
/// slot_count and checksum, which are zero.
[[nodiscard]] packet_header plain_header(list_plan const& plan, compressor_options const& options,
                                         sample_key const& key, std::uint64_t capacity);

/// Bytes that no packet of this list exceeds.
[[nodiscard]] std::uint64_t packet_capacity_of(list_plan const& plan, compressor_options const& options);

/// "name[number]", as errors call an element of a list.
[[nodiscard]] std::string element_name(char const* name, std::size_t number);

/// @throws invalid_argument unless `data` may hold `count` elements of this type
void check_data(void const* data, std::uint64_t count, dtype type, std::string const& name);

/// @throws invalid_argument unless `address` is a multiple of `alignment`
void check_alignment(void const* address, std::uint64_t alignment, std::string const& name);

}  // namespace bird
