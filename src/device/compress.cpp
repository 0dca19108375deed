/// compress on the device: the list and the scratch laid out for the two kernels.
#include <algorithm>
#include <vector>

#include "compress.hpp"
#include "device/front.hpp"
#include "device/scratch_cursor.hpp"
#include "launch.hpp"
#include "packet_layout.cuh"

namespace bird::device {
namespace {

/// The list as kernels see it, and the pieces that its work is cut into.
struct device_list {
  std::vector<segment> segments;
  std::uint64_t items   = 0;
  std::uint64_t chunks  = 0;
  std::uint64_t batches = 0;
  std::uint64_t draws   = 0;  ///< uniform: candidates
  std::uint32_t sampled = 0;
  bool stores_norms     = false;
  bool companions       = false;
};

std::uint64_t items_of(segment_plan const& s, compressor_options const& options, bool stores_norms)
{
  if (s.role == segment_role::sampled && options.blind) {
    return 0;
  }
  return s.role == segment_role::sampled && stores_norms
           ? rule::ceil_div(s.tiles, item_tiles(static_cast<std::uint32_t>(s.tile)))
           : rule::ceil_div(s.count, item_elements);
}

/// Pieces are numbered by 32 bits.
std::uint32_t piece(std::uint64_t number)
{
  if (number > 0xFFFFFFFFULL) {
    throw invalid_argument("tensors: the list has more work than 2^32 pieces; split it");
  }
  return static_cast<std::uint32_t>(number);
}

device_list list_of(list_plan const& plan, compressor_options const& options)
{
  device_list list;
  bool const uniform = options.sampling == sampling::uniform;
  list.stores_norms  = !uniform && options.tile != 1;
  for (segment_plan const& s : plan.segments) {
    bool const sampled = s.role == segment_role::sampled;
    segment one{};
    one.data  = s.data;
    one.count = s.count;
    one.tile  = static_cast<std::uint32_t>(s.tile);
    one.tiles = static_cast<std::uint32_t>(s.tiles);
    one.slots =
      static_cast<std::uint32_t>(s.role == segment_role::companion ? plan.segments[s.parent].slots : s.slots);
    one.parent      = s.parent;
    one.number      = s.number;
    one.role        = s.role;
    one.first_tile  = static_cast<std::uint32_t>(s.first_tile);
    one.first_item  = piece(list.items);
    one.first_chunk = piece(list.chunks);
    one.first_batch = piece(list.batches);
    one.first_draw  = static_cast<std::uint32_t>(list.draws);
    one.histogram   = list.sampled;
    std::uint64_t const stored =
      s.role == segment_role::dense ? s.count : one.slots * rule::slot_elements(s.role, one.tile);
    list.items += items_of(s, options, list.stores_norms);
    list.batches += rule::ceil_div(stored, batch_elements);
    if (sampled) {
      list.chunks += uniform ? rule::ceil_div(s.slots, chunk_draws) : rule::ceil_div(s.tiles, chunk_tiles);
      list.draws += uniform ? s.slots : 0;
      ++list.sampled;
    }
    list.companions = list.companions || s.role == segment_role::companion;
    list.segments.push_back(one);
  }
  (void)piece(list.items);
  (void)piece(list.chunks);
  (void)piece(list.batches);
  return list;
}

std::uint64_t histogram_bytes(compressor_options const& options)
{
  switch (options.sampling) {
    case sampling::systematic:
      return options.values == values::sign ? 0 : rule::weight_bins * sizeof(rule::weight_bin_sum);
    case sampling::bi_random:
    case sampling::top:
      return select_bins * sizeof(std::uint32_t);
    case sampling::uniform:
      return 0;
  }
  return 0;
}

/// The same list cut into items of plain elements, of which nothing but an Inf or NaN is asked.
struct element_list {
  explicit element_list(device_list const& list) : segments{list.segments}
  {
    for (segment& one : segments) {
      one.first_item = piece(items);
      items += rule::ceil_div(one.count, item_elements);
    }
    (void)piece(items);
  }
  std::vector<segment> segments;
  std::uint64_t items = 0;
};

/// Parts of the scratch, in order; control and histograms stand first, since they are cleared together.
/// Error feedback goes with top alone, so only top has room for it.
struct scratch_parts {
  scratch_parts(device_list const& list, list_plan const& plan, compressor_options const& options,
                std::byte* scratch)
  {
    std::uint64_t const fed = options.sampling == sampling::top ? list.segments.size() : 0;
    scratch_cursor cursor{scratch};
    control      = cursor.take<compress_control>(1);
    histograms   = cursor.take<std::byte>(list.sampled * histogram_bytes(options));
    cleared      = cursor.taken();
    segments     = cursor.take<segment>(list.segments.size());
    states       = cursor.take<segment_state>(list.segments.size());
    chunk_states = cursor.take<chunk_state>(list.chunks);
    summaries    = cursor.take<std::uint32_t>(list.items);
    norms        = cursor.take<float>(list.stores_norms ? plan.tiles : list.draws);
    slots        = cursor.take<slot>(plan.slots);
    gradients    = cursor.take<segment>(fed);
    buffers      = cursor.take<feedback_buffers>(fed);
    seen         = cursor.take<std::uint32_t>(fed == 0 ? 0 : element_list{list}.items);
    bytes        = cursor.taken();
  }

  compress_control* control;
  std::byte* histograms;
  std::uint64_t cleared;
  segment* segments;
  segment_state* states;
  chunk_state* chunk_states;
  std::uint32_t* summaries;
  float* norms;
  slot* slots;
  segment* gradients;
  feedback_buffers* buffers;
  std::uint32_t* seen;
  std::uint64_t bytes;
};

norm_work norms_of(device_list const& list, scratch_parts const& parts, compressor_options const& options)
{
  norm_work norms{};
  norms.list          = parts.segments;
  norms.segment_count = static_cast<std::uint32_t>(list.segments.size());
  norms.items         = static_cast<std::uint32_t>(list.items);
  norms.kind          = options.norm;
  norms.norms         = list.stores_norms ? parts.norms : nullptr;
  norms.summaries     = parts.summaries;
  return norms;
}

/// What the residuals take from the gradients; `list` stands for the residuals afterwards.
gradient_summaries feed(device_list& list, list_plan const& plan, feedback const& memory,
                        scratch_parts const& parts, stream_ref stream)
{
  element_list const gradients{list};
  norm_work look{};
  look.list          = parts.gradients;
  look.segment_count = static_cast<std::uint32_t>(gradients.segments.size());
  look.items         = static_cast<std::uint32_t>(gradients.items);
  look.summaries     = parts.seen;
  tile_norms(plan.type, look, gradients.segments, stream.get());

  std::vector<feedback_buffers> buffers;
  for (std::size_t i = 0; i < list.segments.size(); ++i) {
    buffers.push_back(
      {list.segments[i].data, memory.residual[i], memory.velocity.empty() ? nullptr : memory.velocity[i]});
    list.segments[i].data = memory.residual[i];
  }
  gradient_summaries const seen{parts.gradients, parts.seen, look.items};
  accumulate(plan.type, seen, look.segment_count, memory.momentum, buffers, parts.buffers, stream.get());
  return seen;
}

}  // namespace

std::size_t compress_scratch_bytes(list_plan const& plan, compressor_options const& options)
{
  return scratch_parts{list_of(plan, options), plan, options, nullptr}.bytes;
}

void compress(list_plan const& plan, compressor_options const& options, sample_key const& key,
              std::uint32_t* step_counter, feedback const& memory, std::uint64_t capacity, std::byte* packet,
              std::byte* scratch, stream_ref stream)
{
  device_list list = list_of(plan, options);
  scratch_parts const parts{list, plan, options, scratch};

  compress_work work{};
  if (memory.active()) {
    work.gradients = feed(list, plan, memory, parts, stream);
    work.buffers   = parts.buffers;
  }
  norm_work norms     = norms_of(list, parts, options);
  norms.cleared       = reinterpret_cast<std::uint32_t*>(scratch);
  norms.cleared_words = static_cast<std::uint32_t>(parts.cleared / sizeof(std::uint32_t));

  work.header            = plain_header(plan, options, key, capacity);
  work.list              = parts.segments;
  work.items             = norms.items;
  work.chunks            = static_cast<std::uint32_t>(list.chunks);
  work.batches           = static_cast<std::uint32_t>(list.batches);
  work.tiles             = static_cast<std::uint32_t>(plan.tiles);
  work.scales_companions = list.companions && options.values != values::sign;
  work.gamma             = options.gamma;
  work.step_counter      = step_counter;
  work.summaries         = parts.summaries;
  work.norms             = parts.norms;
  work.control           = parts.control;
  work.states            = parts.states;
  work.chunk_states      = parts.chunk_states;
  work.histograms        = parts.histograms;
  work.slots             = parts.slots;
  work.packet            = packet;

  tile_norms(memory.active() ? dtype::float32 : plan.type, norms, list.segments, stream.get());
  sample_and_compact(work, stream.get());
  if (memory.active()) {
    settle(work, stream.get());
  }
}

}  // namespace bird::device
