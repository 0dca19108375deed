#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/gather.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "dispatch.hpp"
#include "host/bits.hpp"
#include "host/gather.hpp"
#include "host/load-inl.hpp"
#include "real.cuh"

HWY_BEFORE_NAMESPACE();
namespace bird::host::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#undef BIRD_VECTOR_HALF
// Elsewhere Highway converts fp16 in software, whose rounding is not promised to be the rule's.
#if BIRD_FIXED_VECTORS && (HWY_TARGET <= HWY_AVX2 || HWY_TARGET == HWY_NEON)
#define BIRD_VECTOR_HALF 1
#else
#define BIRD_VECTOR_HALF 0
#endif

template <class T>
constexpr bool by_vector = BIRD_FIXED_VECTORS && (BIRD_VECTOR_HALF || !std::is_same_v<T, rule::half16>);

#if BIRD_FIXED_VECTORS
template <class T, class D>
HWY_INLINE hn::Vec<D> clamp(D d, hn::Vec<D> value)
{
  auto const limit = hn::Set(d, rule::largest<T>());
  return hn::Max(hn::Min(value, limit), hn::Neg(limit));
}

template <class D>
HWY_INLINE void store(D d, hn::Vec<D> value, float* to)
{
  hn::StoreU(value, d, to);
}
template <class D>
HWY_INLINE void store(D d, hn::Vec<D> value, rule::bfloat16* to)
{
  hn::RebindToUnsigned<D> const d32;
  hn::RebindToSigned<D> const signed32;
  hn::Rebind<std::uint16_t, D> const d16;
  auto const bits    = hn::BitCast(d32, clamp<rule::bfloat16>(d, value));
  auto const even    = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1U));
  auto const rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(even, hn::Set(d32, 0x7FFFU))));
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(signed32, rounded)), d16, reinterpret_cast<std::uint16_t*>(to));
}
template <class D>
HWY_INLINE void store(D d, hn::Vec<D> value, rule::half16* to)
{
  hn::Rebind<hwy::float16_t, D> const d16;
  hn::StoreU(hn::DemoteTo(d16, clamp<rule::half16>(d, value)), d16, reinterpret_cast<hwy::float16_t*>(to));
}
#endif  // BIRD_FIXED_VECTORS

/// Asks for the tile of a slot that comes up soon: kept tiles lie apart, and no hardware prefetcher finds
/// them.
template <class T>
HWY_INLINE void prefetch_tile(gather_work const& work, std::uint32_t i)
{
  constexpr std::uint64_t farthest = 1024;  // bytes; from there on the hardware follows by itself
  if (i < work.count) {
    auto const* const first =
      reinterpret_cast<char const*>(static_cast<T const*>(work.data) + work.tile(i) * work.stride);
    std::uint64_t const bytes = HWY_MIN(work.stride * sizeof(T), farthest);
    for (std::uint64_t at = 0; at < bytes; at += 64) {
      __builtin_prefetch(first + at);
    }
  }
}

/// Slots to look ahead: about 4 KiB, at least two tiles.
template <class T>
HWY_INLINE std::uint32_t look_ahead(gather_work const& work)
{
  return static_cast<std::uint32_t>(
    HWY_MAX(std::uint64_t{2}, 4096 / HWY_MAX(work.stride * sizeof(T), std::uint64_t{64})));
}

template <class T, class Stored>
HWY_INLINE void store_tail(T const* elements, std::uint32_t first, std::uint32_t items, std::uint64_t stride,
                           float factor, Stored* out)
{
  for (std::uint32_t i = first; i < items; ++i) {
    out[i] = rule::narrow_saturating<Stored>(rule::widen(elements[i]) * factor);
  }
  for (std::uint64_t i = items; i < stride; ++i) {
    out[i] = Stored{};
  }
}

template <std::size_t Lanes, class T, class Stored>
void gather_with(gather_work const& work, Stored* out)
{
  std::uint32_t const ahead = look_ahead<T>(work);
  for (std::uint32_t i = 0; i < work.count; ++i, out += work.stride) {
    prefetch_tile<T>(work, i + ahead);
    std::uint32_t const tile  = work.tile(i);
    std::uint32_t const items = work.items(tile);
    T const* const elements   = static_cast<T const*>(work.data) + tile * work.stride;
    float const factor        = work.slots[i].multiplier / work.scale;
    std::uint32_t done        = 0;
#if BIRD_FIXED_VECTORS
    if constexpr (Lanes > 1 && by_vector<T> && by_vector<Stored>) {
      hn::CappedTag<float, Lanes> const d;
      auto const factors            = hn::Set(d, factor);
      constexpr std::uint32_t lanes = hn::MaxLanes(hn::CappedTag<float, Lanes>{});
      for (; done + lanes <= items; done += lanes) {
        store(d, hn::Mul(load(d, elements + done), factors), out + done);
      }
    }
#endif
    store_tail(elements, done, items, work.stride, factor, out);
  }
}

template <class T, class Stored>
void gather_as(gather_work const& work, Stored* out)
{
  if (work.stride >= 16) {
    gather_with<16, T, Stored>(work, out);
  } else if (work.stride >= 8) {
    gather_with<8, T, Stored>(work, out);
  } else if (work.stride >= 4) {
    gather_with<4, T, Stored>(work, out);
  } else {
    gather_with<1, T, Stored>(work, out);
  }
}

/// Bits of the elements [first, items) of a tile, and zeros up to its stride.
template <class T>
HWY_INLINE void append_tail(gather_work const& work, rule::philox_key key, std::uint32_t tile,
                            T const* elements, std::uint32_t first, std::uint32_t items,
                            bit_appender<std::uint32_t>& bits)
{
  for (std::uint64_t at = first; at < work.stride; at += 32) {
    auto const width   = static_cast<std::uint32_t>(HWY_MIN(std::uint64_t{32}, work.stride - at));
    auto const end     = static_cast<std::uint32_t>(HWY_MIN(std::uint64_t{items}, at + width));
    std::uint32_t word = 0;
    for (auto i = static_cast<std::uint32_t>(at); i < end; ++i) {
      std::uint32_t const pattern = rule::bits_of(rule::widen(elements[i]));
      bool const zero             = (pattern & ~rule::sign_mask) == 0;
      std::uint32_t const bit     = zero ? rule::zero_sign_bit(key, work.segment, tile, i) : pattern >> 31;
      word |= bit << (i - at);
    }
    bits.append(word, width);
  }
}

template <std::size_t Lanes, class T>
void signs_with(gather_work const& work, rule::philox_key key, std::uint32_t* out)
{
  std::uint32_t const ahead = look_ahead<T>(work);
  bit_appender<std::uint32_t> bits{out};
  for (std::uint32_t i = 0; i < work.count; ++i) {
    prefetch_tile<T>(work, i + ahead);
    std::uint32_t const tile  = work.tile(i);
    std::uint32_t const items = work.items(tile);
    T const* const elements   = static_cast<T const*>(work.data) + tile * work.stride;
    std::uint32_t done        = 0;
#if BIRD_FIXED_VECTORS
    if constexpr (Lanes > 1 && by_vector<T>) {
      hn::CappedTag<float, Lanes> const d;
      auto const zero               = hn::Zero(d);
      constexpr std::uint32_t lanes = hn::MaxLanes(hn::CappedTag<float, Lanes>{});
      for (; done + lanes <= items; done += lanes) {
        auto const values = load(d, elements + done);
        if (!hn::AllFalse(d, hn::Eq(values, zero))) {
          break;  // its sign is drawn
        }
        std::uint8_t mask[8] = {};
        hn::StoreMaskBits(d, hn::Lt(values, zero), mask);
        bits.append(static_cast<std::uint32_t>(mask[0]) | static_cast<std::uint32_t>(mask[1]) << 8, lanes);
      }
    }
#endif
    append_tail(work, key, tile, elements, done, items, bits);
  }
}

template <class T>
void signs_of(gather_work const& work, rule::philox_key key, std::uint32_t* out)
{
  if (work.stride >= 16) {
    signs_with<16, T>(work, key, out);
  } else if (work.stride >= 8) {
    signs_with<8, T>(work, key, out);
  } else {
    signs_with<1, T>(work, key, out);
  }
}

void values_by_vector(gather_work const& work, dtype source, dtype wire, std::byte* out)
{
  dispatch(source, [&](auto tag) {
    dispatch(wire, [&](auto wire_tag) {
      using T      = typename decltype(tag)::type;
      using Stored = typename decltype(wire_tag)::type;
      gather_as<T>(work, reinterpret_cast<Stored*>(out));
    });
  });
}

void signs_by_vector(gather_work const& work, dtype source, rule::philox_key key, std::uint32_t* out)
{
  dispatch(source, [&](auto tag) { signs_of<typename decltype(tag)::type>(work, key, out); });
}

}  // namespace bird::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bird::host {

HWY_EXPORT(values_by_vector);
HWY_EXPORT(signs_by_vector);

void gather_values(gather_work const& work, dtype source, dtype wire, std::byte* out)
{
  HWY_DYNAMIC_DISPATCH(values_by_vector)(work, source, wire, out);
}

void gather_signs(gather_work const& work, dtype source, rule::philox_key key, std::uint32_t* out)
{
  HWY_DYNAMIC_DISPATCH(signs_by_vector)(work, source, key, out);
}

}  // namespace bird::host
#endif  // HWY_ONCE
