/// decompress: overwrites a list of tensors with what a packet carries.
///
/// One sweep: stretches between kept tiles are filled with zeros, kept tiles are added up in a small float
/// buffer and written once. Touching the output twice (clear, then scatter) would cost up to half the speed.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/decompress.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

#include "host/parallel.hpp"
#include "host/slot_cursor.hpp"
#include "host/slot_values.hpp"
#include "host/stages.hpp"
#include "packet_layout.cuh"

HWY_BEFORE_NAMESPACE();
namespace bird::host::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Zeros that go around the cache; `bytes` is a multiple of 64 and `out` aligned to 64.
void stream_zeros(std::uint8_t* out, std::size_t bytes)
{
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  hn::CappedTag<std::uint8_t, 64> const d;
  auto const zero         = hn::Zero(d);
  std::size_t const lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < bytes; i += lanes) {
    hn::Stream(zero, d, out + i);
  }
#else
  std::memset(out, 0, bytes);
#endif
}

/// out = 0 + value * scale, in which -0 becomes +0 as in any sum; around the cache where `out` is aligned for
/// it.
void assign(float const* values, float scale, std::uint64_t count, float* out,
            [[maybe_unused]] bool streaming)
{
  std::uint64_t i = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  hn::CappedTag<float, 16> const d;
  auto const scales         = hn::Set(d, scale);
  std::uint64_t const lanes = hn::Lanes(d);
  bool const around         = streaming && reinterpret_cast<std::uintptr_t>(out) % 64 == 0;
  for (; i + lanes <= count; i += lanes) {
    auto const value = hn::Add(hn::Zero(d), hn::Mul(hn::LoadU(d, values + i), scales));
    if (around) {
      hn::Stream(value, d, out + i);
    } else {
      hn::StoreU(value, d, out + i);
    }
  }
#endif
  for (; i < count; ++i) {
    out[i] = 0.0F + values[i] * scale;
  }
}

}  // namespace bird::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bird::host {
namespace {

HWY_EXPORT(stream_zeros);
HWY_EXPORT(assign);

/// Outputs beyond this many bytes leave the caches anyway, so their zeros need not pass through them.
constexpr std::uint64_t streaming_bytes = 4 * 1024 * 1024;
constexpr std::uint64_t short_gap       = 1024;  ///< bytes; below, memset wins over a non-temporal loop

/// Elements that are put together in cache before they are written: a few tiles of a fine sample, or a part
/// of one long tile.
constexpr std::uint64_t unit_elements = 256;

void fill_zeros(void* out, std::uint64_t bytes, bool streaming)
{
  auto* first = static_cast<std::uint8_t*>(out);
  if (!streaming || bytes < short_gap) {
    std::memset(first, 0, bytes);
    return;
  }
  std::uint64_t const head = (64 - reinterpret_cast<std::uintptr_t>(first) % 64) % 64;
  std::uint64_t const body = (bytes - head) / 64 * 64;
  std::memset(first, 0, head);
  HWY_DYNAMIC_DISPATCH(stream_zeros)(first + head, body);
  std::memset(first + head + body, 0, bytes - head - body);
}

template <class T>
void write_unit(float const* sums, std::uint64_t count, T* out)
{
  for (std::uint64_t i = 0; i < count; ++i) {
    out[i] = rule::narrow_to<T>::from(sums[i]);
  }
}
template <>
void write_unit<float>(float const* sums, std::uint64_t count, float* out)
{
  std::memcpy(out, sums, count * sizeof(float));
}

/// One thread's stretch of a sampled segment: tiles [first, end).
template <class T>
class tile_writer {
 public:
  tile_writer(packet_map::segment const& segment, T* out, bool streaming)
    : segment_{segment}, out_{out}, streaming_{streaming}
  {
  }

  void write(slot_cursor& cursor, std::uint64_t first, std::uint64_t end)
  {
    std::uint64_t const tile        = segment_.entry.tile;
    std::uint64_t const unit        = tile >= unit_elements ? 1 : unit_elements / tile;
    std::uint64_t const segment_end = segment_.first_tile + end;
    while (first < end) {
      std::uint64_t const next = cursor.tile() < segment_end ? cursor.tile() - segment_.first_tile : end;
      // Whole units up to the one that holds the next slot are zero.
      std::uint64_t const from = next == end ? end : next - (next - first) % unit;
      zeros(first * tile, std::min(from * tile, segment_.entry.count));
      if (from < end) {
        std::uint64_t const to = std::min(from + unit, end);
        kept(cursor, from, to);
        first = to;
      } else {
        first = end;
      }
    }
  }

 private:
  void zeros(std::uint64_t first, std::uint64_t end)
  {
    if (first < end) {
      fill_zeros(out_ + first, (end - first) * sizeof(T), streaming_);
    }
  }

  /// Tiles [first, end), at least one of which is kept: either several short ones, or one long one in pieces.
  void kept(slot_cursor& cursor, std::uint64_t first, std::uint64_t end)
  {
    std::uint64_t const tile  = segment_.entry.tile;
    std::uint64_t const begin = first * tile;
    std::uint64_t const stop  = std::min(end * tile, segment_.entry.count);
    if (tile < unit_elements) {
      float sums[unit_elements] = {};
      for (; cursor.tile() < segment_.first_tile + end; cursor.advance()) {
        std::uint64_t const at = (cursor.tile() - segment_.first_tile) * tile - begin;
        auto const items       = static_cast<std::uint32_t>(std::min(tile, stop - begin - at));
        segment_.values.add(cursor.slot(), items, 0, items, 1.0F, sums + at);
      }
      write_unit(sums, stop - begin, out_ + begin);
      return;
    }
    slot_cursor const start = cursor;
    auto const tile_items   = static_cast<std::uint32_t>(stop - begin);
    cursor.advance();
    if constexpr (std::is_same_v<T, float>) {
      float const* const values = segment_.values.floats(start.slot());
      if (values != nullptr &&
          cursor.tile() != start.tile()) {  // the usual case: one slot, which needs no sum
        HWY_DYNAMIC_DISPATCH(assign)(values, segment_.values.scale(), tile_items, out_ + begin, streaming_);
        return;
      }
    }
    for (std::uint32_t piece = 0; piece < tile_items; piece += unit_elements) {
      float sums[unit_elements] = {};
      std::uint32_t const items = std::min<std::uint32_t>(unit_elements, tile_items - piece);
      for (cursor = start; cursor.tile() == start.tile(); cursor.advance()) {
        segment_.values.add(cursor.slot(), tile_items, piece, items, 1.0F, sums);
      }
      write_unit(sums, items, out_ + begin + piece);
    }
  }

  packet_map::segment const& segment_;
  T* out_;
  bool streaming_;
};

template <class T>
void decompress_sampled(packet_map const& map, packet_map::segment const& segment, T* out)
{
  std::uint64_t const bytes = segment.entry.count * sizeof(T);
  parallel_ranges(segment.tiles, segment.entry.count > parallel_elements,
                  [&](std::uint64_t first, std::uint64_t end) {
                    if (first < end) {
                      slot_cursor cursor{map.packet, segment.first_tile + first};
                      tile_writer<T>{segment, out, bytes > streaming_bytes}.write(cursor, first, end);
                    }
                    hwy::FlushStream();
                  });
}

template <class T>
void decompress_companion(packet_map const& map, packet_map::segment const& segment, T* out)
{
  std::fill(out, out + segment.entry.count, T{});
  std::uint64_t const end = segment.first_tile + segment.entry.count;
  for (slot_cursor cursor{map.packet, segment.first_tile}; cursor.tile() < end;) {
    std::uint64_t const tile = cursor.tile();
    float sum                = 0;
    for (; cursor.tile() == tile; cursor.advance()) {
      segment.values.add(cursor.slot(), 1, 0, 1, 1.0F, &sum);
    }
    out[tile - segment.first_tile] = rule::narrow_to<T>::from(sum);
  }
}

template <class T>
void decompress_dense(packet_map const& map, packet_map::segment const& segment, T* out)
{
  dispatch(map.packet.header.type, [&](auto tag) {
    using Stored               = typename decltype(tag)::type;
    Stored const* const values = reinterpret_cast<Stored const*>(segment.region);
    parallel_for(rule::ceil_div(segment.entry.count, parallel_elements), true, [&](std::uint64_t part) {
      std::uint64_t const first = part * parallel_elements;
      std::uint64_t const end   = std::min(first + parallel_elements, segment.entry.count);
      for (std::uint64_t i = first; i < end; ++i) {
        out[i] = rule::narrow_to<T>::from(rule::widen(values[i]));
      }
    });
  });
}

}  // namespace

void decompress(packet_view const& packet, span<tensor_view const> tensors)
{
  packet_map const map{packet};
  for (std::size_t number = 0; number < map.segments.size(); ++number) {
    packet_map::segment const& segment = map.segments[number];
    if (segment.entry.count == 0) {
      continue;
    }
    dispatch(tensors[number].type, [&](auto tag) {
      using T      = typename decltype(tag)::type;
      T* const out = static_cast<T*>(tensors[number].data);
      switch (segment.entry.role) {
        case segment_role::sampled:
          decompress_sampled(map, segment, out);
          break;
        case segment_role::companion:
          decompress_companion(map, segment, out);
          break;
        case segment_role::dense:
          decompress_dense(map, segment, out);
          break;
      }
      if ((segment.entry.flags & header_flag::non_finite) != 0) {
        out[0] = rule::narrow_to<T>::from(rule::float_of(rule::quiet_nan_bits));
      }
    });
  }
}

}  // namespace bird::host
#endif  // HWY_ONCE
