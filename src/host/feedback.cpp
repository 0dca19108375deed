/// Error feedback: what a packet leaves behind is added to the next gradient.
///
/// With a velocity it is momentum correction (Lin et al., "Deep gradient compression", ICLR 2018, 3.1
/// and 3.2): the momentum is built up before selection, and cleared where an element was sent.
#include "host/parallel.hpp"
#include "host/slot_cursor.hpp"
#include "host/slot_values.hpp"
#include "host/stages.hpp"
#include "packet_layout.cuh"

namespace bird::host {
namespace {

constexpr std::uint64_t part_elements = 64 * 1024;

template <class Body>
void for_parts(std::uint64_t count, Body const& body)
{
  parallel_for(rule::ceil_div(count, part_elements), count > parallel_elements, [&](std::uint64_t part) {
    body(part * part_elements, std::min((part + 1) * part_elements, count));
  });
}

}  // namespace

void accumulate(list_plan const& plan, feedback const& memory)
{
  for (std::size_t number = 0; number < plan.segments.size(); ++number) {
    segment_plan const& s = plan.segments[number];
    float* const residual = memory.residual[number];
    float* const velocity = memory.velocity.empty() ? nullptr : memory.velocity[number];
    dispatch(plan.type, [&](auto tag) {
      using T                 = typename decltype(tag)::type;
      T const* const gradient = static_cast<T const*>(s.data);
      for_parts(s.count, [&](std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t i = first; i < end; ++i) {
          float update = rule::widen(gradient[i]);
          if (velocity != nullptr) {
            update      = memory.momentum * velocity[i] + update;
            velocity[i] = update;
          }
          residual[i] += update;
        }
      });
    });
  }
}

void settle(packet_view const& packet, feedback const& memory)
{
  packet_map const map{packet};
  for (std::size_t number = 0; number < map.segments.size(); ++number) {
    packet_map::segment const& segment = map.segments[number];
    float* const residual              = memory.residual[number];
    float* const velocity              = memory.velocity.empty() ? nullptr : memory.velocity[number];
    std::uint64_t const count          = segment.entry.count;
    if (count == 0) {
      continue;
    }
    if (segment.entry.role == segment_role::dense) {  // velocity goes on: this is plain momentum
      dispatch(packet.header.type, [&](auto tag) {
        using Stored             = typename decltype(tag)::type;
        Stored const* const sent = reinterpret_cast<Stored const*>(segment.region);
        for (std::uint64_t i = 0; i < count; ++i) {
          residual[i] -= rule::widen(sent[i]);
        }
      });
      continue;
    }
    std::uint64_t const stride = segment.values.stride();
    std::uint64_t const end    = segment.first_tile + rule::tiles_of(count, stride);
    for (slot_cursor cursor{packet, segment.first_tile}; cursor.tile() < end; cursor.advance()) {
      std::uint64_t const begin = (cursor.tile() - segment.first_tile) * stride;
      auto const items          = static_cast<std::uint32_t>(std::min(stride, count - begin));
      segment.values.add(cursor.slot(), items, 0, items, -1.0F, residual + begin);
      if (velocity != nullptr) {
        std::fill(velocity + begin, velocity + begin + items, 0.0F);
      }
    }
  }
}

double sum_of_squares(list_plan const& plan)
{
  double total = 0;
  for (segment_plan const& s : plan.segments) {
    if (s.role != segment_role::sampled) {
      continue;
    }
    std::vector<double> parts(rule::ceil_div(s.count, part_elements));
    dispatch(plan.type, [&](auto tag) {
      using T                = typename decltype(tag)::type;
      T const* const element = static_cast<T const*>(s.data);
      for_parts(s.count, [&](std::uint64_t first, std::uint64_t end) {
        double lanes[8] = {};
        for (std::uint64_t i = first; i < end; ++i) {
          auto const x = static_cast<double>(rule::widen(element[i]));
          lanes[i % 8] += x * x;
        }
        for (double lane : lanes) {
          parts[first / part_elements] += lane;
        }
      });
    });
    for (double part : parts) {
      total += part;
    }
  }
  return total;
}

}  // namespace bird::host
