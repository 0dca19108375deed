/// weights_of: norms to integer weights, by the vector.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/weights.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "host/weights.hpp"

HWY_BEFORE_NAMESPACE();
namespace bird::host::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void weights_of(rule::weight_scale scale, float const* norms, std::uint64_t count, std::uint64_t* weights)
{
  std::uint64_t i = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  hn::ScalableTag<std::uint64_t> const d64;
  hn::Rebind<std::uint32_t, decltype(d64)> const d32;
  hn::RebindToSigned<decltype(d64)> const signed64;
  auto const zero = hn::Zero(d64);
  auto const one  = hn::Set(d64, std::uint64_t{1});
  // More than 63 places would be undefined for a vector shift; the largest weight needs 16 to the left, and
  // to the right 24 already leave nothing.
  auto const most           = hn::Set(signed64, std::int64_t{32});
  auto const shift          = hn::Set(signed64, std::int64_t{scale.shift});
  auto const fraction       = hn::Set(d64, std::uint64_t{0x7FFFFF});
  auto const magnitude      = hn::Set(d32, std::uint32_t{0x7FFFFFFF});
  auto const hidden_bit     = hn::Set(d64, std::uint64_t{0x800000});
  std::uint64_t const lanes = hn::Lanes(d64);
  for (; i + lanes <= count; i += lanes) {
    auto const pattern  = hn::LoadU(d32, reinterpret_cast<std::uint32_t const*>(norms) + i);
    auto const bits     = hn::PromoteTo(d64, hn::And(pattern, magnitude));
    auto const field    = hn::ShiftRight<23>(bits);
    auto const normal   = hn::Ne(field, zero);
    auto const exponent = hn::IfThenElse(normal, field, one);
    auto const mantissa = hn::Or(hn::And(bits, fraction), hn::IfThenElseZero(normal, hidden_bit));
    auto const places   = hn::Add(hn::BitCast(signed64, exponent), shift);
    auto const right    = hn::Lt(places, hn::Zero(signed64));
    auto const distance = hn::BitCast(d64, hn::Min(hn::Abs(places), most));
    auto const left     = hn::IfThenElseZero(hn::Not(hn::RebindMask(d64, right)), distance);
    auto const down     = hn::IfThenElseZero(hn::RebindMask(d64, right), distance);
    auto const weight   = hn::Shr(hn::Shl(mantissa, left), down);
    auto const least    = hn::IfThenElseZero(hn::Ne(bits, zero), one);
    hn::StoreU(hn::Max(weight, least), d64, weights + i);
  }
#endif
  for (; i < count; ++i) {
    weights[i] = scale.weight(rule::magnitude(norms[i]));
  }
}

}  // namespace bird::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bird::host {

HWY_EXPORT(weights_of);

void weights_of(rule::weight_scale scale, float const* norms, std::uint64_t count, std::uint64_t* weights)
{
  HWY_DYNAMIC_DISPATCH(weights_of)(scale, norms, count, weights);
}

}  // namespace bird::host
#endif  // HWY_ONCE
