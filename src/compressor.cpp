/// The front of the codec: checks arguments by name, lays out the list, and calls the stages in order.
#include "bird/compressor.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "device/front.hpp"
#include "host/parallel.hpp"
#include "host/stages.hpp"
#include "list_plan.hpp"
#include "options.hpp"

namespace bird {
namespace {

constexpr std::uintptr_t buffer_alignment = 16;

[[noreturn]] void refuse(std::string const& what) { throw invalid_argument{what}; }

void require_buffer(span<std::byte const> buffer, std::size_t needed, char const* name)
{
  if (buffer.size() < needed) {
    refuse(std::string{name} + ": " + std::to_string(buffer.size()) + " bytes were given, " +
           std::to_string(needed) + " are needed");
  }
  if (needed != 0 && buffer.data() == nullptr) {
    refuse(std::string{name} + ": is null");
  }
  check_alignment(buffer.data(), buffer_alignment, name);
}

void check_feedback(compressor_options const& options, feedback const& memory, std::size_t tensor_count)
{
  if (!memory.active()) {
    if (!memory.velocity.empty()) {
      refuse("memory.velocity: given without memory.residual");
    }
    if (memory.momentum != 0.0F) {
      refuse("memory.momentum: " + std::to_string(memory.momentum) + " without memory.residual");
    }
    return;
  }
  if (options.sampling != sampling::top) {
    refuse("memory: a residual with sampling::" + std::string{to_string(options.sampling)} +
           " diverges, since a sampler is already unbiased; use sampling::top or no residual");
  }
  auto const check_list = [&](span<float* const> buffers, char const* name) {
    if (buffers.size() != tensor_count) {
      refuse(std::string{"memory."} + name + ": " + std::to_string(buffers.size()) + " buffers for " +
             std::to_string(tensor_count) + " tensors");
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      std::string const buffer = element_name((std::string{"memory."} + name).c_str(), i);
      if (buffers[i] == nullptr) {
        refuse(buffer + ": is null");
      }
      check_alignment(buffers[i], alignof(float), buffer);
    }
  };
  check_list(memory.residual, "residual");
  if (!memory.velocity.empty()) {
    check_list(memory.velocity, "velocity");
  } else if (memory.momentum != 0.0F) {
    refuse("memory.momentum: " + std::to_string(memory.momentum) + " without memory.velocity");
  }
  if (!(memory.momentum >= 0.0F && memory.momentum < 1.0F)) {
    refuse("memory.momentum: " + std::to_string(memory.momentum) + " is not in [0, 1)");
  }
}

bool any_non_finite(span<host::norm_summary const> summaries)
{
  for (host::norm_summary const& summary : summaries) {
    if (summary.non_finite) {
      return true;
    }
  }
  return false;
}

/// Relative variance of a sample; of `top`, which does not vary, the relative error.
double omega_of(list_plan const& plan, compressor_options const& options, host::noise_estimate noise)
{
  if (options.sampling == sampling::top) {
    double const total = host::sum_of_squares(plan);
    noise.error += total - noise.energy;
    noise.energy = total;
  }
  return noise.energy > 0 ? std::max(noise.error, 0.0) / noise.energy : 0;
}

/// The list as error feedback sees it: the residual takes the gradient's place.
list_plan with_residual(list_plan plan, feedback const& memory)
{
  plan.type = dtype::float32;
  for (std::size_t number = 0; number < plan.segments.size(); ++number) {
    plan.segments[number].data = memory.residual[number];
  }
  return plan;
}

/// Decoded tensors against those of a packet.
void check_outputs(packet_view const& packet, span<tensor_view const> tensors, std::string const& name)
{
  if (packet.segments.size() != tensors.size()) {
    refuse(name + ": has " + std::to_string(packet.segments.size()) + " segments, but " +
           std::to_string(tensors.size()) + " tensors were given");
  }
  for (std::size_t number = 0; number < tensors.size(); ++number) {
    if (packet.segments[number].count != tensors[number].count) {
      refuse(element_name("tensors", number) + ": count is " + std::to_string(tensors[number].count) +
             ", but segment " + std::to_string(number) + " of " + name + " has " +
             std::to_string(packet.segments[number].count));
    }
    check_data(tensors[number].data, tensors[number].count, tensors[number].type,
               element_name("tensors", number));
  }
}

/// Packets of one sum agree on how each tensor travels.
void check_roles(packet_view const& first, packet_view const& packet, std::size_t number)
{
  for (std::size_t segment = 0; segment < packet.segments.size(); ++segment) {
    segment_role const expected = first.segments[segment].role;
    segment_role const role     = packet.segments[segment].role;
    if (role != expected) {
      refuse(element_name("packets", number) + ": segment " + std::to_string(segment) + " is " +
             to_string(role) + ", but in packets[0] it is " + to_string(expected));
    }
  }
}

/// Enough for either backend.
std::size_t scratch_needed(list_plan const& plan, compressor_options const& options)
{
  return std::max(host::scratch_bytes(plan, options), device::compress_scratch_bytes(plan, options));
}

/// The list of a compress() call whose buffers have been checked, and the capacity of its packet.
struct checked_call {
  list_plan plan;
  std::uint64_t capacity;
};

checked_call check_call(span<const_tensor_view const> tensors, compressor_options const& options,
                        span<std::byte> packet, span<std::byte> scratch)
{
  checked_call call{plan_list(tensors, options), 0};
  call.capacity = packet_capacity_of(call.plan, options);
  require_buffer(packet, call.capacity, "packet");
  require_buffer(scratch, scratch_needed(call.plan, options), "scratch");
  for (std::size_t number = 0; number < tensors.size(); ++number) {
    check_data(tensors[number].data, tensors[number].count, tensors[number].type,
               element_name("tensors", number));
  }
  return call;
}

/// Buffers of one tensor.
void check_device_feedback(feedback const& memory, std::size_t number, int current)
{
  auto const check = [&](span<float* const> buffers, char const* name) {
    if (!buffers.empty()) {
      device::check_device_memory(buffers[number], element_name(name, number), current);
    }
  };
  check(memory.residual, "memory.residual");
  check(memory.velocity, "memory.velocity");
}

compress_report compress_on_device(span<const_tensor_view const> tensors, compressor_options const& options,
                                   sample_key const& key, std::uint32_t* step_counter, feedback const& memory,
                                   span<std::byte> packet, span<std::byte> scratch, stream_ref stream)
{
  checked_call const call = check_call(tensors, options, packet, scratch);
  check_feedback(options, memory, tensors.size());
  int const current = device::current_device();
  device::check_device_memory(packet.data(), "packet", current);
  device::check_device_memory(scratch.data(), "scratch", current);
  device::check_device_memory(step_counter, "step_counter", current);
  for (std::size_t number = 0; number < tensors.size(); ++number) {
    if (tensors[number].count != 0) {
      device::check_device_memory(tensors[number].data, element_name("tensors", number) + ".data", current);
      check_device_feedback(memory, number, current);
    }
  }
  device::compress(call.plan, options, key, step_counter, memory, call.capacity, packet.data(),
                   scratch.data(), stream);
  compress_report report;
  report.dense_bytes = call.plan.elements * element_bytes(call.plan.wire);
  report.tiles       = call.plan.tiles;
  return report;
}

/// Tensors that a device writes; what is in the packets is known there alone.
void check_device_outputs(span<tensor_view const> tensors, span<std::byte> scratch, int current)
{
  require_buffer(scratch, 1, "scratch");
  device::check_device_memory(scratch.data(), "scratch", current);
  for (std::size_t number = 0; number < tensors.size(); ++number) {
    std::string const name = element_name("tensors", number);
    check_data(tensors[number].data, tensors[number].count, tensors[number].type, name);
    if (tensors[number].count != 0) {
      device::check_device_memory(tensors[number].data, name + ".data", current);
    }
  }
}

void check_device_packet(span<std::byte const> packet, std::string const& name, int current)
{
  check_alignment(packet.data(), buffer_alignment, name);
  if (packet.data() == nullptr) {
    refuse(name + ": is null");
  }
  device::check_device_memory(packet.data(), name, current);
}

}  // namespace

compressor::compressor(compressor_options options) : options_{options} { validate(options_); }

std::size_t compressor::packet_capacity(span<const_tensor_view const> tensors) const
{
  host::default_arithmetic const settings;  // K is a rounded product
  return packet_capacity_of(plan_list(tensors, options_), options_);
}

std::size_t compressor::compress_scratch_bytes(span<const_tensor_view const> tensors) const
{
  host::default_arithmetic const settings;
  return scratch_needed(plan_list(tensors, options_), options_);
}

std::size_t compressor::decode_scratch_bytes(span<const_tensor_view const> tensors, std::size_t packets) const
{
  host::default_arithmetic const settings;
  return device::decode_scratch_bytes(plan_list(tensors, options_), options_, packets);
}

compress_report compressor::compress(span<const_tensor_view const> tensors, sample_key key,
                                     span<std::byte> packet, span<std::byte> scratch, stream_ref stream) const
{
  return compress(tensors, key, packet, scratch, feedback{}, stream);
}

compress_report compressor::compress(span<const_tensor_view const> tensors, sample_key key,
                                     span<std::byte> packet, span<std::byte> scratch, feedback memory,
                                     stream_ref stream) const
{
  auto const start = std::chrono::steady_clock::now();
  host::default_arithmetic const settings;
  if (!stream.is_host()) {
    return compress_on_device(tensors, options_, key, nullptr, memory, packet, scratch, stream);
  }
  checked_call call = check_call(tensors, options_, packet, scratch);
  check_feedback(options_, memory, tensors.size());

  list_plan& plan                   = call.plan;
  host::scratch_view const work     = host::carve(plan, options_, scratch.data());
  rule::philox_key const stream_key = rule::stream_key(key.seed, key.step, key.tensor_id);
  std::vector<host::norm_summary> summaries(plan.segments.size());
  std::vector<host::segment_sample> samples(plan.segments.size());

  bool refused =
    false;  // a gradient with an Inf or NaN must not enter the residual, which would keep it for ever
  if (memory.active()) {
    host::tile_norms(plan, options_.norm, nullptr, host::which_segments::all, summaries);
    refused = any_non_finite(summaries);
    if (!refused) {
      host::accumulate(plan, memory);
      plan = with_residual(std::move(plan), memory);
    }
  }
  if (!refused) {
    host::tile_norms(plan, options_.norm, work.norms,
                     options_.blind ? host::which_segments::not_sampled : host::which_segments::all,
                     summaries);
  }
  if (refused) {
    for (std::size_t number = 0; number < summaries.size(); ++number) {
      samples[number].non_finite = summaries[number].non_finite;
    }
  } else {
    host::sample(plan, options_, stream_key, summaries, work, samples);
  }

  host::noise_estimate noise;
  std::uint64_t const bytes =
    host::compact(plan, options_, key, stream_key, call.capacity, samples, work.slots, packet.data(), noise);
  packet_header written;
  std::memcpy(&written, packet.data(), sizeof written);

  compress_report report;
  report.dense_bytes  = plan.elements * element_bytes(plan.wire);
  report.packet_bytes = bytes;
  report.kept_slots   = written.slot_count;
  report.tiles        = plan.tiles;
  report.non_finite   = (written.flags & header_flag::non_finite) != 0;
  report.omega        = report.non_finite ? 0 : omega_of(plan, options_, noise);
  if (memory.active() && !refused) {
    host::settle(parse_packet({packet.data(), bytes}), memory);  // changes what omega is measured on
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

compress_report compressor::compress_replayable(span<const_tensor_view const> tensors, sample_key key,
                                                std::uint32_t* step_counter, span<std::byte> packet,
                                                span<std::byte> scratch, stream_ref stream) const
{
  host::default_arithmetic const settings;
  if (stream.is_host()) {
    refuse("stream: a replayable call needs a CUDA stream");
  }
  if (step_counter == nullptr) {
    refuse("step_counter: is null");
  }
  check_alignment(step_counter, sizeof *step_counter, "step_counter");
  return compress_on_device(tensors, options_, key, step_counter, feedback{}, packet, scratch, stream);
}

void decompress(span<std::byte const> packet, span<tensor_view const> tensors, span<std::byte> scratch,
                stream_ref stream)
{
  if (!stream.is_host()) {
    int const current = device::current_device();
    check_device_outputs(tensors, scratch, current);
    check_device_packet(packet, "packet", current);
    device::decompress(packet, tensors, scratch, stream);
    return;
  }
  packet_view const view = parse_packet(packet);
  check_outputs(view, tensors, "packet");
  host::default_arithmetic const settings;
  host::decompress(view, tensors);
}

void decompress(span<std::byte const> packet, span<tensor_view const> tensors, stream_ref stream)
{
  decompress(packet, tensors, {}, stream);
}

void apply(span<weighted_packet const> packets, span<tensor_view const> tensors, span<std::byte> scratch,
           stream_ref stream)
{
  if (!stream.is_host()) {
    int const current = device::current_device();
    check_device_outputs(tensors, scratch, current);
    for (std::size_t i = 0; i < packets.size(); ++i) {
      check_device_packet(packets[i].packet, element_name("packets", i), current);
    }
    device::apply(packets, tensors, scratch, stream);
    return;
  }
  std::vector<packet_view> views;
  std::vector<float> weights;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    views.push_back(parse_packet(packets[i].packet));
    check_outputs(views.back(), tensors, element_name("packets", i));
    check_roles(views.front(), views.back(), i);
    weights.push_back(packets[i].weight);
  }
  host::default_arithmetic const settings;
  host::apply(views, weights, tensors);
}

void apply(span<weighted_packet const> packets, span<tensor_view const> tensors, stream_ref stream)
{
  apply(packets, tensors, {}, stream);
}

void check_decoded(span<std::byte const> scratch, stream_ref stream)
{
  if (!stream.is_host()) {
    device::check_decoded(scratch, stream);
  }
}

}  // namespace bird
