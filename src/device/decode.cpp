#include "decode.hpp"

#include <string>
#include <vector>

#include "device/front.hpp"
#include "device/scratch_cursor.hpp"
#include "launch.hpp"
#include "packet_layout.cuh"

namespace bird::device {
namespace {

/// Parts of the scratch, in order; what follows them is for the packets' indices.
struct decode_parts {
  decode_parts(std::size_t packets, std::size_t tensors, std::byte* scratch)
  {
    scratch_cursor cursor{scratch};
    control = cursor.take<decode_control>(1);
    states  = cursor.take<packet_state>(packets);
    layouts = cursor.take<segment_layout>(packets * tensors);
    outputs = cursor.take<output>(tensors > most_by_value ? tensors : 0);
    bytes   = cursor.taken();
  }

  decode_control* control;
  packet_state* states;
  segment_layout* layouts;
  output* outputs;
  std::uint64_t bytes;
};

std::vector<output> outputs_of(span<tensor_view const> tensors, std::uint64_t& windows)
{
  std::vector<output> outputs;
  windows = 0;
  for (tensor_view const& tensor : tensors) {
    outputs.push_back({tensor.data, tensor.count, static_cast<std::uint32_t>(windows), tensor.type});
    windows += rule::ceil_div(tensor.count, window_elements);
    if (windows > 0xFFFFFFFFULL) {
      throw invalid_argument("tensors: the list has more than 2^32 windows of " +
                             std::to_string(window_elements) + " elements; split it");
    }
  }
  return outputs;
}

char const* describe(decode_failure why)
{
  switch (why) {
    case decode_failure::none:
      return "nothing";
    case decode_failure::order:
      return "the tiles of its slots do not ascend";
    case decode_failure::tile:
      return "a slot names a tile outside its segment";
    case decode_failure::index:
      return "its index has another number of slots than its header";
    case decode_failure::checksum:
      return "its checksum is not that of its bytes";
    case decode_failure::scratch:
      return "it needs more scratch than was given (compressor::decode_scratch_bytes)";
    case decode_failure::length:
      return "it is longer than its buffer";
    case decode_failure::table:
      return "its segment table does not fit the tensors";
    case decode_failure::segments:
      return "its number of segments is not that of the tensors";
    case decode_failure::header:
      return "its header is not that of a packet of this version";
  }
  return "unknown";
}

void enqueue(decode_mode mode, span<weighted_packet const> packets, span<tensor_view const> tensors,
             span<std::byte> scratch, stream_ref stream)
{
  if (packets.size() > most_packets) {
    throw invalid_argument("packets: " + std::to_string(packets.size()) + " are more than the " +
                           std::to_string(most_packets) + " of one call");
  }
  decode_parts const parts{packets.size(), tensors.size(), scratch.data()};
  if (scratch.size() < parts.bytes) {
    throw invalid_argument("scratch: " + std::to_string(scratch.size()) + " bytes were given, at least " +
                           std::to_string(parts.bytes) + " are needed");
  }
  if (packets.empty() || tensors.empty()) {  // nothing can fail
    check(cudaMemsetAsync(parts.control, 0, sizeof *parts.control, stream.get()), "cudaMemsetAsync");
    return;
  }
  std::uint64_t windows             = 0;
  std::vector<output> const outputs = outputs_of(tensors, windows);
  decode_work work{};
  work.packet_count = static_cast<std::uint32_t>(packets.size());
  work.output_count = static_cast<std::uint32_t>(outputs.size());
  work.windows      = static_cast<std::uint32_t>(windows);
  work.area_bytes   = (scratch.size() - parts.bytes) / packets.size() / 16 * 16;
  work.control      = parts.control;
  work.packets      = parts.states;
  work.layouts      = parts.layouts;
  work.areas        = scratch.data() + parts.bytes;
  work.outputs      = parts.outputs;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    work.inputs[i] = {packets[i].packet.data(), packets[i].packet.size(), packets[i].weight};
  }
  decode(mode, work, outputs, stream.get());
}

}  // namespace

std::size_t decode_scratch_bytes(list_plan const& plan, compressor_options const& options,
                                 std::size_t packets)
{
  std::uint64_t const area =
    rule::round_up(index_area{options.sampling, options.index, plan.tiles, plan.slots}.bytes(), 16) +
    // Fewer slots may have longer upper parts.
    rule::round_up(4 * rule::ceil_div(rule::ceil_div(2 * plan.tiles, 64), index_words), 16);
  return decode_parts{packets, plan.segments.size(), nullptr}.bytes + packets * area;
}

void decompress(span<std::byte const> packet, span<tensor_view const> tensors, span<std::byte> scratch,
                stream_ref stream)
{
  weighted_packet const one{packet, 1.0F};
  enqueue(decode_mode::overwrite, {&one, 1}, tensors, scratch, stream);
}

void apply(span<weighted_packet const> packets, span<tensor_view const> tensors, span<std::byte> scratch,
           stream_ref stream)
{
  enqueue(decode_mode::accumulate, packets, tensors, scratch, stream);
}

void check_decoded(span<std::byte const> scratch, stream_ref stream)
{
  std::uint32_t failure = 0;
  check(cudaMemcpyAsync(&failure, scratch.data(), sizeof failure, cudaMemcpyDeviceToHost, stream.get()),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
  if (failure != 0) {
    throw bad_packet("packets[" + std::to_string(0xFFFFU - (failure >> 8)) +
                     "]: " + describe(static_cast<decode_failure>(failure & 0xFFU)));
  }
}

}  // namespace bird::device
