/// apply: adds weighted packets onto a list of tensors, in the order given.
///
/// A thread takes a stretch of a tensor and goes through it in windows that stay in cache; in each window it
/// adds every packet in turn. So an element sees the packets in their order whoever takes it. Sums
/// are made in float; a 16-bit tensor is widened for a window and rounded once.
#include <vector>

#include "host/parallel.hpp"
#include "host/slot_cursor.hpp"
#include "host/slot_values.hpp"
#include "host/stages.hpp"
#include "packet_layout.cuh"

namespace bird::host {
namespace {

constexpr std::uint64_t window_elements = 8 * 1024;  ///< 32 KiB of floats

/// A stretch of one segment as floats: the tensor itself, or a widened copy that is written back if it
/// changed.
template <class T>
class window {
 public:
  explicit window(T* tensor) : tensor_{tensor} {}
  void open(std::uint64_t first, std::uint64_t end)
  {
    first_ = first;
    sums_.resize(end - first);
    for (std::uint64_t i = first; i < end; ++i) {
      sums_[i - first] = rule::widen(tensor_[i]);
    }
    changed_ = false;
  }
  float* at(std::uint64_t element)
  {
    changed_ = true;
    return sums_.data() + (element - first_);
  }
  void close()
  {
    for (std::uint64_t i = 0; changed_ && i < sums_.size(); ++i) {
      tensor_[first_ + i] = rule::narrow_to<T>::from(sums_[i]);
    }
  }

 private:
  T* tensor_;
  std::uint64_t first_ = 0;
  bool changed_        = false;
  std::vector<float> sums_;
};

template <>
class window<float> {
 public:
  explicit window(float* tensor) : tensor_{tensor} {}
  void open(std::uint64_t, std::uint64_t) {}
  float* at(std::uint64_t element) { return tensor_ + element; }
  void close() {}

 private:
  float* tensor_;
};

/// The packets of one call, and one segment of each.
struct segment_stack {
  span<packet_map const> maps;
  span<float const> weights;
  std::size_t number;

  [[nodiscard]] packet_map::segment const& segment(std::size_t packet) const
  {
    return maps[packet].segments[number];
  }
};

/// The slots of one packet in order, with the tensor's tiles of the slots to come asked for ahead of time:
/// kept tiles lie apart, and no hardware prefetcher finds them.
class slot_walk_ahead {
 public:
  slot_walk_ahead(packet_view const& packet, packet_map::segment const& segment, std::uint64_t first_tile,
                  void const* tensor, std::uint64_t element)
    : at{packet, first_tile},
      ahead_{at},
      segment_{&segment},
      tensor_{static_cast<char const*>(tensor)},
      tile_bytes_{segment.values.stride() * element}
  {
  }

  slot_cursor at;

  void advance()
  {
    at.advance();
    // A tile of a line or less is mostly in the same line as the last one, or found by the hardware.
    while (tile_bytes_ > 64 && !ahead_.done() && ahead_.slot() < at.slot() + distance) {
      ahead_.advance();
      if (ahead_.tile() < segment_->first_tile + segment_->tiles) {
        ask_for(tensor_ + (ahead_.tile() - segment_->first_tile) * tile_bytes_);
      }
    }
  }

 private:
  static constexpr std::uint64_t distance = 4;     ///< slots
  static constexpr std::uint64_t farthest = 1024;  ///< bytes of a tile; the hardware follows from there on

  /// Inlined by force, since GCC 12 drops calls of functions that only prefetch.
  [[gnu::always_inline]] inline void ask_for(char const* tile) const
  {
    for (std::uint64_t line = 0; line < std::min(tile_bytes_, farthest); line += 64) {
      __builtin_prefetch(tile + line, 1);
    }
  }

  slot_cursor ahead_;
  packet_map::segment const* segment_;
  char const* tensor_;
  std::uint64_t tile_bytes_;
};

/// Adds the slots of one packet whose tiles meet [first, end) of the tensor's elements.
template <class T>
void add_slots(packet_map::segment const& segment, float weight, slot_walk_ahead& walk, std::uint64_t first,
               std::uint64_t end, window<T>& sums)
{
  std::uint64_t const tile      = segment.values.stride();
  std::uint64_t const last_tile = segment.first_tile + rule::ceil_div(end, tile);
  slot_cursor long_tile         = walk.at;
  bool crosses = false;  // a tile that goes on behind the window is met again in the next one
  for (; walk.at.tile() < last_tile; walk.advance()) {
    std::uint64_t const begin = (walk.at.tile() - segment.first_tile) * tile;
    auto const items          = static_cast<std::uint32_t>(std::min(tile, segment.entry.count - begin));
    std::uint64_t const from  = std::max(begin, first);
    std::uint64_t const to    = std::min(begin + items, end);
    segment.values.add(walk.at.slot(), items, static_cast<std::uint32_t>(from - begin),
                       static_cast<std::uint32_t>(to - from), weight, sums.at(from));
    if (begin + items > end && !crosses) {
      crosses   = true;
      long_tile = walk.at;
    }
  }
  if (crosses) {
    walk.at = long_tile;
  }
}

template <class T>
void apply_slots(segment_stack const& stack, T* out)
{
  packet_map::segment const& shape = stack.segment(0);
  std::uint64_t const windows      = rule::ceil_div(shape.entry.count, window_elements);
  parallel_ranges(
    windows, shape.entry.count > parallel_elements, [&](std::uint64_t begin, std::uint64_t end) {
      if (begin == end) {
        return;
      }
      std::vector<slot_walk_ahead> walks;
      for (std::size_t p = 0; p < stack.maps.size(); ++p) {
        packet_map::segment const& s = stack.segment(p);
        walks.emplace_back(stack.maps[p].packet, s,
                           s.first_tile + begin * window_elements / s.values.stride(), out, sizeof(T));
      }
      window<T> sums{out};
      for (std::uint64_t w = begin; w < end; ++w) {
        std::uint64_t const first = w * window_elements;
        std::uint64_t const stop  = std::min(first + window_elements, shape.entry.count);
        sums.open(first, stop);
        for (std::size_t p = 0; p < stack.maps.size(); ++p) {
          add_slots(stack.segment(p), stack.weights[p], walks[p], first, stop, sums);
        }
        sums.close();
      }
    });
}

template <class T>
void apply_dense(segment_stack const& stack, T* out)
{
  std::uint64_t const count = stack.segment(0).entry.count;
  parallel_for(rule::ceil_div(count, window_elements), count > parallel_elements, [&](std::uint64_t w) {
    window<T> sums{out};
    std::uint64_t const first = w * window_elements;
    std::uint64_t const end   = std::min(first + window_elements, count);
    sums.open(first, end);
    for (std::size_t p = 0; p < stack.maps.size(); ++p) {
      dispatch(stack.maps[p].packet.header.type, [&](auto tag) {
        using Stored               = typename decltype(tag)::type;
        Stored const* const values = reinterpret_cast<Stored const*>(stack.segment(p).region);
        float* const at            = sums.at(first);
        for (std::uint64_t i = first; i < end; ++i) {
          at[i - first] += stack.weights[p] * rule::widen(values[i]);
        }
      });
    }
    sums.close();
  });
}

}  // namespace

void apply(span<packet_view const> packets, span<float const> weights, span<tensor_view const> tensors)
{
  std::vector<packet_map> maps;
  for (packet_view const& packet : packets) {
    maps.emplace_back(packet);
  }
  for (std::size_t number = 0; number < tensors.size(); ++number) {
    segment_stack const stack{maps, weights, number};
    if (maps.empty() || stack.segment(0).entry.count == 0) {
      continue;
    }
    dispatch(tensors[number].type, [&](auto tag) {
      using T      = typename decltype(tag)::type;
      T* const out = static_cast<T*>(tensors[number].data);
      if (stack.segment(0).entry.role == segment_role::dense) {
        apply_dense(stack, out);
      } else {
        apply_slots(stack, out);
      }
      for (packet_map const& map : maps) {
        if ((map.segments[number].entry.flags & header_flag::non_finite) != 0) {
          out[0] = rule::narrow_to<T>::from(rule::float_of(rule::quiet_nan_bits));
        }
      }
    });
  }
}

}  // namespace bird::host
