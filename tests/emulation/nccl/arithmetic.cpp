#include "arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace loopback {
namespace {

/// A floating point type of at most 16 bits.
struct small_float {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  ///< e4m3 has none, and one NaN
  bool saturates;
};

small_float shape_of(ncclDataType_t type)
{
  switch (type) {
    case ncclFloat16:
      return {5, 10, true, false};
    case ncclBfloat16:
      return {8, 7, true, false};
    case ncclFloat8e4m3:
      return {4, 3, false, true};
    default:
      return {5, 2, true, true};
  }
}

template <ncclDataType_t Type, class Storage>
struct small {
  Storage bits;
  using accumulator = float;
  static float load(small x) { return to_float(Type, x.bits); }
  static small store(float x) { return {static_cast<Storage>(from_float(Type, x))}; }
};

template <class T>
struct plain {
  T bits;
  using accumulator = T;
  static T load(plain x) { return x.bits; }
  static plain store(T x) { return {x}; }
};

template <class Body>
void with_type(ncclDataType_t type, Body const& body)
{
  switch (type) {
    case ncclInt8:
      return body(plain<std::int8_t>{});
    case ncclUint8:
      return body(plain<std::uint8_t>{});
    case ncclInt32:
      return body(plain<std::int32_t>{});
    case ncclUint32:
      return body(plain<std::uint32_t>{});
    case ncclInt64:
      return body(plain<std::int64_t>{});
    case ncclUint64:
      return body(plain<std::uint64_t>{});
    case ncclFloat16:
      return body(small<ncclFloat16, std::uint16_t>{});
    case ncclFloat32:
      return body(plain<float>{});
    case ncclFloat64:
      return body(plain<double>{});
    case ncclBfloat16:
      return body(small<ncclBfloat16, std::uint16_t>{});
    case ncclFloat8e4m3:
      return body(small<ncclFloat8e4m3, std::uint8_t>{});
    case ncclFloat8e5m2:
      return body(small<ncclFloat8e5m2, std::uint8_t>{});
    default:
      throw failure(ncclInvalidArgument, "no such type");
  }
}

template <class A>
A add(A a, A b)
{
  if constexpr (std::is_integral_v<A>) {  // wraps
    return static_cast<A>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class A>
A multiply(A a, A b)
{
  if constexpr (std::is_integral_v<A>) {
    return static_cast<A>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}

template <class A>
A greater(A a, A b)
{
  if constexpr (std::is_floating_point_v<A>) {
    return std::fmax(a, b);
  } else {
    return std::max(a, b);
  }
}

template <class A>
A smaller(A a, A b)
{
  if constexpr (std::is_floating_point_v<A>) {
    return std::fmin(a, b);
  } else {
    return std::min(a, b);
  }
}

/// Element i of a buffer of any alignment.
template <class T>
T at(void const* from, std::size_t i)
{
  T value;
  std::memcpy(&value, static_cast<char const*>(from) + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void put(void* to, std::size_t i, T value)
{
  std::memcpy(static_cast<char*>(to) + i * sizeof(T), &value, sizeof(T));
}

template <class T, class Combine>
void fold(void* to, std::vector<void const*> const& parts, std::size_t count, int divisor,
          Combine const& combine)
{
  using accumulator = typename T::accumulator;
  for (std::size_t i = 0; i < count; ++i) {
    accumulator sum = T::load(at<T>(parts[0], i));
    for (std::size_t part = 1; part < parts.size(); ++part) {
      sum = combine(sum, T::load(at<T>(parts[part], i)));
    }
    if constexpr (std::is_integral_v<accumulator>) {
      if (divisor > 1) {
        // In 64 bits: the number of ranks need not fit the type. Towards zero, as C divides.
        sum = std::is_signed_v<accumulator>
                ? static_cast<accumulator>(static_cast<std::int64_t>(sum) / divisor)
                : static_cast<accumulator>(static_cast<std::uint64_t>(sum) / static_cast<unsigned>(divisor));
      }
    }
    put(to, i, T::store(sum));
  }
}

}  // namespace

float to_float(ncclDataType_t type, unsigned bits)
{
  small_float const f     = shape_of(type);
  unsigned const mantissa = bits & ((1U << f.mantissa_bits) - 1);
  unsigned const exponent = (bits >> f.mantissa_bits) & ((1U << f.exponent_bits) - 1);
  unsigned const top      = (1U << f.exponent_bits) - 1;
  int const bias          = (1 << (f.exponent_bits - 1)) - 1;
  bool const negative     = ((bits >> (f.mantissa_bits + f.exponent_bits)) & 1U) != 0;
  float magnitude         = 0;
  if (exponent == top && f.has_infinity) {
    magnitude =
      mantissa == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == top && mantissa == (1U << f.mantissa_bits) - 1) {
    magnitude = std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(mantissa), 1 - bias - f.mantissa_bits);
  } else {
    magnitude = std::ldexp(static_cast<float>(mantissa + (1U << f.mantissa_bits)),
                           static_cast<int>(exponent) - bias - f.mantissa_bits);
  }
  return negative ? -magnitude : magnitude;
}

unsigned from_float(ncclDataType_t type, float value)
{
  small_float const f     = shape_of(type);
  int const bias          = (1 << (f.exponent_bits - 1)) - 1;
  unsigned const sign     = std::signbit(value) ? 1U << (f.mantissa_bits + f.exponent_bits) : 0;
  unsigned const all_ones = (1U << (f.mantissa_bits + f.exponent_bits)) - 1;
  unsigned const infinity = ((1U << f.exponent_bits) - 1) << f.mantissa_bits;
  unsigned const greatest = f.has_infinity ? infinity - 1 : all_ones - 1;
  unsigned const too_much = f.saturates ? greatest : infinity;
  if (std::isnan(value)) {
    return sign | (f.has_infinity ? infinity | (1U << (f.mantissa_bits - 1)) : all_ones);
  }
  if (std::isinf(value)) {
    return sign | too_much;
  }
  if (value == 0) {
    return sign;
  }
  int exponent = 0;
  std::frexp(value, &exponent);  // value = 0.1xxx * 2^exponent
  int const lowest  = 1 - bias;
  int const scale   = std::max(exponent - 1, lowest);
  double const unit = std::ldexp(1.0, scale - f.mantissa_bits);
  // In double the quotient is exact; rounding may carry into the exponent, which the sum below takes along.
  auto const mantissa = static_cast<unsigned>(std::nearbyint(std::fabs(static_cast<double>(value)) / unit));
  unsigned const bits = (static_cast<unsigned>(scale - lowest) << f.mantissa_bits) + mantissa;
  return sign | (bits > greatest ? too_much : bits);
}

void scale_into(void* to, void const* from, std::size_t count, operation const& op, int nranks)
{
  bool const floating = op.call.type >= ncclFloat16;
  bool const averages = op.reduces() && op.call.op == ncclAvg && floating;
  bool const scales   = op.reduces() && op.scale.from != scaling::source::none;
  if (!averages && !scales) {
    std::memcpy(to, from, count * op.element());
    return;
  }
  with_type(op.type(), [&](auto like) {
    using T           = decltype(like);
    using accumulator = typename T::accumulator;
    accumulator factor{};
    if (averages) {
      factor = T::load(T::store(static_cast<accumulator>(accumulator(1) / static_cast<accumulator>(nranks))));
    } else {
      factor = T::load(at<T>(
        op.scale.from == scaling::source::host ? static_cast<void const*>(op.scale.value) : op.scale.pointer,
        0));
    }
    for (std::size_t i = 0; i < count; ++i) {
      put(to, i, T::store(multiply(T::load(at<T>(from, i)), factor)));
    }
  });
}

void reduce_into(void* to, std::vector<void const*> const& parts, std::size_t count, operation const& op)
{
  with_type(op.type(), [&](auto like) {
    using T           = decltype(like);
    using A           = typename T::accumulator;
    int const divisor = op.call.op == ncclAvg ? static_cast<int>(parts.size()) : 1;
    switch (op.call.op) {
      case ncclProd:
        return fold<T>(to, parts, count, 1, multiply<A>);
      case ncclMax:
        return fold<T>(to, parts, count, 1, greater<A>);
      case ncclMin:
        return fold<T>(to, parts, count, 1, smaller<A>);
      default:
        return fold<T>(to, parts, count, divisor, add<A>);
    }
  });
}

}  // namespace loopback
