/// power: x^gamma for 0 < x <= 1 by additions, multiplications and divisions alone.
///
/// The math libraries of host and device differ in the last bit of pow, and one bit can flip a tile in or
/// out. IEEE arithmetic cannot differ. Relative error below 1e-13 for gamma up to 16, which is far below the
/// 2^-32 that a probability is cut to.
#pragma once

#include "real.cuh"

namespace bird::rule {

/// log2(x) for a positive normal or sub-normal float widened to double.
BIRD_RULE double log2_of(double x)
{
  int exponent = 0;
  while (x < 0.70710678118654752440) {
    x *= 2;
    --exponent;
  }
  while (x > 1.41421356237309504880) {
    x *= 0.5;
    ++exponent;
  }
  // ln x = 2 artanh t = 2 (t + t^3/3 + t^5/5 + ...), |t| <= 0.172: the term t^23 is below 1e-17.
  double const t      = (x - 1) / (x + 1);
  double const square = t * t;
  double sum          = 0;
  for (int odd = 21; odd >= 1; odd -= 2) {
    sum = sum * square + 1.0 / odd;
  }
  return exponent + 2 * t * sum * 1.44269504088896340736;
}

/// 2^y for -1000 < y <= 0.
BIRD_RULE double exp2_of(double y)
{
  int const whole = static_cast<int>(y - 0.5);  // cut towards zero: to the nearest, for negative numbers
  double const z  = (y - whole) * 0.69314718055994530942;
  // e^z by its series, |z| <= 0.35: the term z^15/15! is below 1e-18.
  double sum = 1;
  for (int n = 14; n >= 1; --n) {
    sum = 1 + sum * z / n;
  }
  return sum * power_of_two(whole);
}

BIRD_RULE double power(double x, double gamma)
{
  double const y = gamma * log2_of(x);
  return y <= -1000 ? 0 : exp2_of(y);
}

}  // namespace bird::rule
