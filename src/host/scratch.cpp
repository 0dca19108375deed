/// How the caller's scratch is divided. Every part starts at a multiple of 16 bytes.
#include <algorithm>

#include "host/stages.hpp"
#include "packet_layout.cuh"

namespace bird::host {
namespace {

/// Bytes of each part; 0 where the sampler has no use for it.
struct parts {
  std::uint64_t norms;
  std::uint64_t slots;
  std::uint64_t candidates;
  std::uint64_t survivors;
  std::uint64_t chunks;

  [[nodiscard]] std::uint64_t total() const { return norms + slots + candidates + survivors + chunks; }
};

std::uint64_t bytes_of(std::uint64_t count, std::uint64_t size)
{
  return rule::round_up(count * size, rule::section_alignment);
}

parts divide(list_plan const& plan, compressor_options const& options)
{
  std::uint64_t most_tiles = 0;
  std::uint64_t most_slots = 0;
  for (segment_plan const& s : plan.segments) {
    most_tiles = std::max(most_tiles, s.tiles);
    most_slots = std::max(most_slots, s.slots);
  }
  bool const uniform      = options.sampling == sampling::uniform;
  bool const stores_norms = !uniform && options.tile != 1;
  return {stores_norms ? bytes_of(plan.tiles, sizeof(float)) : 0, bytes_of(plan.slots, sizeof(slot)),
          uniform ? bytes_of(most_slots, sizeof(float)) : 0,
          options.sampling == sampling::bi_random ? bytes_of(most_tiles, sizeof(std::uint64_t)) : 0,
          bytes_of(2 * rule::ceil_div(most_tiles, sample_chunk_tiles), sizeof(std::uint64_t))};
}

}  // namespace

std::size_t scratch_bytes(list_plan const& plan, compressor_options const& options)
{
  return divide(plan, options).total();
}

scratch_view carve(list_plan const& plan, compressor_options const& options, std::byte* scratch)
{
  parts const sizes = divide(plan, options);
  auto const take   = [&scratch](std::uint64_t bytes) {
    std::byte* const first = bytes == 0 ? nullptr : scratch;
    scratch += bytes;
    return first;
  };
  scratch_view view{};
  view.norms           = reinterpret_cast<float*>(take(sizes.norms));
  view.slots           = reinterpret_cast<slot*>(take(sizes.slots));
  view.candidate_norms = reinterpret_cast<float*>(take(sizes.candidates));
  view.survivors       = reinterpret_cast<std::uint64_t*>(take(sizes.survivors));
  view.chunks          = reinterpret_cast<std::uint64_t*>(take(sizes.chunks));
  return view;
}

}  // namespace bird::host
