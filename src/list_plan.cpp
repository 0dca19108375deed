#include "list_plan.hpp"

#include "packet.hpp"
#include "packet_layout.cuh"

namespace bird {
namespace {

constexpr std::uint32_t no_parent = 0xFFFFFFFFU;

/// Tiles of one sampled segment.
segment_plan plan_sampled(const_tensor_view const& tensor, compressor_options const& options,
                          std::size_t number)
{
  segment_plan s{};
  s.tile = rule::segment_tile(options.tile, tensor.row, tensor.count);
  if (s.tile > 0xFFFFFFFFULL) {
    throw invalid_argument(element_name("tensors", number) + ": a tile of " + std::to_string(s.tile) +
                           " elements does not fit 32 bits; set its row or the option tile");
  }
  s.tiles = rule::tiles_of(tensor.count, s.tile);
  s.slots = rule::slots_of(options.ratio, s.tiles);
  return s;
}

/// Checks that a companion has one entry for each tile of its parent.
void check_companion(list_plan const& plan, std::size_t number, std::uint64_t count, std::uint32_t parent)
{
  if (parent == no_parent) {
    throw invalid_argument(element_name("tensors", number) +
                           ": a companion needs a sampled tensor before it");
  }
  segment_plan const& sampled = plan.segments[parent];
  if (count != sampled.tiles) {
    throw invalid_argument(element_name("tensors", number) +
                           ": a companion has one entry a tile, but its count is " + std::to_string(count) +
                           " and " + element_name("tensors", parent) + " has " +
                           std::to_string(sampled.tiles) + " tiles");
  }
}

void check_tensor(span<const_tensor_view const> tensors, std::size_t number)
{
  const_tensor_view const& tensor = tensors[number];
  (void)element_bytes(tensor.type);
  if (tensor.type != tensors[0].type) {
    throw invalid_argument(element_name("tensors", number) + ": dtype is " + to_string(tensor.type) +
                           ", but " + element_name("tensors", 0) + " is " + to_string(tensors[0].type) +
                           "; a list has one dtype");
  }
  if (tensor.count > rule::max_elements) {
    throw invalid_argument(element_name("tensors", number) + ": count " + std::to_string(tensor.count) +
                           " is beyond 2^56");
  }
}

}  // namespace

std::string element_name(char const* name, std::size_t number)
{
  return std::string{name} + "[" + std::to_string(number) + "]";
}

void check_alignment(void const* address, std::uint64_t alignment, std::string const& name)
{
  auto const value = reinterpret_cast<std::uintptr_t>(address);
  if (value % alignment != 0) {
    throw invalid_argument(name + ": address " + std::to_string(value) + " is not a multiple of " +
                           std::to_string(alignment));
  }
}

void check_data(void const* data, std::uint64_t count, dtype type, std::string const& name)
{
  if (count != 0 && data == nullptr) {
    throw invalid_argument(name + ": data is null, but count is " + std::to_string(count));
  }
  check_alignment(data, element_bytes(type), name + ".data");
}

list_plan plan_list(span<const_tensor_view const> tensors, compressor_options const& options)
{
  list_plan plan;
  plan.type            = tensors.empty() ? dtype::float32 : tensors[0].type;
  plan.wire            = plan.type;
  std::uint32_t parent = no_parent;
  for (std::size_t number = 0; number < tensors.size(); ++number) {
    const_tensor_view const& tensor = tensors[number];
    check_tensor(tensors, number);
    segment_plan s{};
    switch (tensor.role) {
      case segment_role::sampled:
        s      = plan_sampled(tensor, options, number);
        parent = static_cast<std::uint32_t>(number);
        break;
      case segment_role::companion:
        check_companion(plan, number, tensor.count, parent);
        s.parent = parent;
        break;
      case segment_role::dense:
        break;
      default:
        throw invalid_argument(element_name("tensors", number) + ": role " +
                               std::to_string(static_cast<int>(tensor.role)) + " is unknown");
    }
    s.data       = tensor.data;
    s.role       = tensor.role;
    s.number     = static_cast<std::uint32_t>(number);
    s.count      = tensor.count;
    s.first_tile = plan.tiles;
    plan.elements += s.count;
    plan.tiles += s.tiles;
    plan.slots += s.slots;
    plan.segments.push_back(s);
    if (plan.elements > rule::max_elements) {
      throw invalid_argument("tensors: " + std::to_string(plan.elements) + " elements are beyond 2^56");
    }
    if (plan.tiles > rule::max_tiles) {
      throw invalid_argument("tensors: " + std::to_string(plan.tiles) + " tiles are beyond " +
                             std::to_string(rule::max_tiles) + "; use larger tiles or split the list");
    }
  }
  return plan;
}

packet_header plain_header(list_plan const& plan, compressor_options const& options, sample_key const& key,
                           std::uint64_t capacity)
{
  packet_header header{};
  header.magic         = packet_magic;
  header.version       = packet_version;
  header.type          = plan.wire;
  header.sampling      = options.sampling;
  header.values        = options.values;
  header.index         = options.index;
  header.norm          = options.norm;
  header.segment_count = static_cast<std::uint32_t>(plan.segments.size());
  header.element_count = plan.elements;
  header.capacity      = capacity;
  header.seed          = key.seed;
  header.step          = key.step;
  header.tensor_id     = key.tensor_id;
  header.tile          = options.tile;
  return header;
}

/// The table of a packet whose segments are all full.
std::uint64_t packet_capacity_of(list_plan const& plan, compressor_options const& options)
{
  packet_header header = plain_header(plan, options, {}, 0);
  std::vector<segment_entry> entries;
  for (segment_plan const& s : plan.segments) {
    segment_entry entry{};
    entry.count = s.count;
    entry.tile  = static_cast<std::uint32_t>(s.tile);
    entry.role  = s.role;
    entry.slots =
      static_cast<std::uint32_t>(s.role == segment_role::companion ? plan.segments[s.parent].slots : s.slots);
    header.slot_count += s.slots;
    entries.push_back(entry);
  }
  return capacity_of(header, entries);
}

}  // namespace bird
