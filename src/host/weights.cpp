/// Norms to integer weights, and sums and searches over them, by the vector.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/weights.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "host/weights.hpp"

HWY_BEFORE_NAMESPACE();
namespace bird::host::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#undef BIRD_VECTOR_WEIGHTS
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
#define BIRD_VECTOR_WEIGHTS 1
#else
#define BIRD_VECTOR_WEIGHTS 0
#endif

#if BIRD_VECTOR_WEIGHTS
/// A vector of weights from one of norms.
class weigher {
 public:
  using lanes64 = hn::ScalableTag<std::uint64_t>;
  using lanes32 = hn::Rebind<std::uint32_t, lanes64>;
  using vector  = hn::Vec<lanes64>;

  explicit weigher(rule::weight_scale scale) : shift_{scale.shift} {}

  HWY_INLINE vector operator()(float const* norms) const
  {
    lanes64 const d64;
    lanes32 const d32;
    hn::RebindToSigned<lanes64> const signed64;
    auto const zero     = hn::Zero(d64);
    auto const one      = hn::Set(d64, std::uint64_t{1});
    auto const pattern  = hn::LoadU(d32, reinterpret_cast<std::uint32_t const*>(norms));
    auto const bits     = hn::PromoteTo(d64, hn::And(pattern, hn::Set(d32, std::uint32_t{0x7FFFFFFF})));
    auto const field    = hn::ShiftRight<23>(bits);
    auto const normal   = hn::Ne(field, zero);
    auto const exponent = hn::IfThenElse(normal, field, one);
    auto const fraction = hn::And(bits, hn::Set(d64, std::uint64_t{0x7FFFFF}));
    auto const mantissa = hn::Or(fraction, hn::IfThenElseZero(normal, hn::Set(d64, std::uint64_t{0x800000})));
    auto const places   = hn::Add(hn::BitCast(signed64, exponent), hn::Set(signed64, std::int64_t{shift_}));
    auto const right    = hn::RebindMask(d64, hn::Lt(places, hn::Zero(signed64)));
    // More than 63 places would be undefined; the largest weight needs 16 to the left, and to the right 24
    // already leave nothing.
    auto const distance = hn::BitCast(d64, hn::Min(hn::Abs(places), hn::Set(signed64, std::int64_t{32})));
    auto const left     = hn::Shl(mantissa, hn::IfThenElseZero(hn::Not(right), distance));
    auto const weight   = hn::Shr(left, hn::IfThenElseZero(right, distance));
    return hn::Max(weight, hn::IfThenElseZero(hn::Ne(bits, zero), one));
  }

 private:
  std::int32_t shift_;
};
#endif

void weights_of(rule::weight_scale scale, float const* norms, std::uint64_t count, std::uint64_t* weights)
{
  std::uint64_t i = 0;
#if BIRD_VECTOR_WEIGHTS
  weigher const weigh{scale};
  weigher::lanes64 const d;
  std::uint64_t const lanes = hn::Lanes(d);
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(weigh(norms + i), d, weights + i);
  }
#endif
  for (; i < count; ++i) {
    weights[i] = scale.weight(rule::magnitude(norms[i]));
  }
}

weight_sum sum_weights(rule::weight_scale scale, float const* norms, std::uint64_t count)
{
  std::uint64_t i = 0;
  weight_sum total;
#if BIRD_VECTOR_WEIGHTS
  weigher const weigh{scale};
  weigher::lanes64 const d;
  std::uint64_t const lanes = hn::Lanes(d);
  auto sums                 = hn::Zero(d);
  auto zeros                = hn::Zero(d);
  for (; i + lanes <= count; i += lanes) {
    auto const weights = weigh(norms + i);
    sums               = hn::Add(sums, weights);
    zeros = hn::Add(zeros, hn::IfThenElseZero(hn::Eq(weights, hn::Zero(d)), hn::Set(d, std::uint64_t{1})));
  }
  total = {hn::GetLane(hn::SumOfLanes(d, sums)), i - hn::GetLane(hn::SumOfLanes(d, zeros))};
#endif
  for (; i < count; ++i) {
    std::uint64_t const weight = scale.weight(rule::magnitude(norms[i]));
    total.sum += weight;
    total.non_zero += weight != 0 ? 1 : 0;
  }
  return total;
}

std::uint32_t find_at_least(std::uint32_t least, float const* norms, std::uint32_t count,
                            std::uint32_t* numbers)
{
  std::uint32_t found = 0;
  std::uint32_t i     = 0;
#if BIRD_VECTOR_WEIGHTS
  hn::CappedTag<std::int32_t, 16> const d;  // patterns without sign compare alike as signed numbers
  auto const lanes      = static_cast<std::uint32_t>(hn::Lanes(d));
  auto const least_one  = hn::Set(d, static_cast<std::int32_t>(least));
  auto const magnitudes = hn::Set(d, std::int32_t{0x7FFFFFFF});
  for (; i + lanes <= count; i += lanes) {
    auto const bits  = hn::And(hn::LoadU(d, reinterpret_cast<std::int32_t const*>(norms + i)), magnitudes);
    auto const small = hn::Lt(bits, least_one);
    if (hn::AllTrue(d, small)) {
      continue;
    }
    std::uint8_t mask[8] = {};
    hn::StoreMaskBits(d, hn::Not(small), mask);
    for (std::uint32_t set = mask[0] | static_cast<std::uint32_t>(mask[1]) << 8; set != 0; set &= set - 1) {
      numbers[found++] = i + static_cast<std::uint32_t>(__builtin_ctz(set));
    }
  }
#endif
  for (; i < count; ++i) {
    if (rule::bits_of(rule::magnitude(norms[i])) >= least) {
      numbers[found++] = i;
    }
  }
  return found;
}

}  // namespace bird::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bird::host {

HWY_EXPORT(weights_of);
HWY_EXPORT(sum_weights);
HWY_EXPORT(find_at_least);

void weights_of(rule::weight_scale scale, float const* norms, std::uint64_t count, std::uint64_t* weights)
{
  HWY_DYNAMIC_DISPATCH(weights_of)(scale, norms, count, weights);
}

weight_sum sum_weights(rule::weight_scale scale, float const* norms, std::uint64_t count)
{
  return HWY_DYNAMIC_DISPATCH(sum_weights)(scale, norms, count);
}

std::uint32_t find_at_least(std::uint32_t least, float const* norms, std::uint32_t count,
                            std::uint32_t* numbers)
{
  return HWY_DYNAMIC_DISPATCH(find_at_least)(least, norms, count, numbers);
}

std::uint32_t least_norm_bits(rule::weight_scale scale, float largest, std::uint64_t weight)
{
  std::uint32_t below = 0;  // weighs less
  std::uint32_t least = rule::bits_of(largest) + 1;
  while (least - below > 1) {  // up to the largest, weights rise with their norms
    std::uint32_t const middle                                       = below + (least - below) / 2;
    (scale.weight(rule::float_of(middle)) >= weight ? least : below) = middle;
  }
  return least;
}

}  // namespace bird::host
#endif  // HWY_ONCE
