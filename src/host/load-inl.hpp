/// Loads of every element type as vectors of float. Included once for each target of Highway, as its own -inl
/// headers are.
#if defined(BIRD_HOST_LOAD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef BIRD_HOST_LOAD_INL
#undef BIRD_HOST_LOAD_INL
#else
#define BIRD_HOST_LOAD_INL
#endif

#include <hwy/highway.h>

#include "real.cuh"

HWY_BEFORE_NAMESPACE();
namespace bird::host::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Vectors of unknown length (SVE, RVV) cannot be kept in arrays; there the rules themselves are run.
#undef BIRD_FIXED_VECTORS
#if !HWY_HAVE_SCALABLE && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
#define BIRD_FIXED_VECTORS 1
#else
#define BIRD_FIXED_VECTORS 0
#endif

#if BIRD_FIXED_VECTORS
template <class D>
HWY_INLINE hn::Vec<D> load(D d, float const* from)
{
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, rule::bfloat16 const* from)
{
  hn::Rebind<std::uint16_t, D> const d16;
  hn::RebindToUnsigned<D> const d32;
  auto const bits = hn::LoadU(d16, reinterpret_cast<std::uint16_t const*>(from));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, bits)));
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, rule::half16 const* from)
{
  hn::Rebind<hwy::float16_t, D> const d16;
  return hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<hwy::float16_t const*>(from)));
}
#endif  // BIRD_FIXED_VECTORS

}  // namespace bird::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
