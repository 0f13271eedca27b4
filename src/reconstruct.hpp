// From the sums of a micro-tile to elements of C: one rounding, the row and column exponents, alpha and beta.
//
// docs/numerics.md, section 3, proves that each of the sums is exact, so that round_sum() is the only rounding of the
// FP64 product.
#pragma once

#include "limits.hpp"

#include <cmath>
#include <cstring>

namespace amx::detail {

struct TwoTerms {
  double high, low;  // high = RN(high + low)
};

/// Exact sum of two doubles (Knuth, TAOCP vol. 2, 4.2.2, theorem B).
inline TwoTerms two_sum(double x, double y) {
  const double sum = x + y, y_part = sum - x;
  return {sum, (x - (sum - y_part)) + (y - y_part)};
}

/// x + y rounded to odd: the exact sum if it is a double, else the neighbour with an odd last bit.
inline double add_round_to_odd(double x, double y) {
  const TwoTerms sum = two_sum(x, y);
  std::int64_t bits;
  std::memcpy(&bits, &sum.high, sizeof bits);
  if (sum.low != 0 && (bits & 1) == 0) bits += (sum.low > 0) == (sum.high > 0) ? 1 : -1;
  double rounded;
  std::memcpy(&rounded, &bits, sizeof rounded);
  return rounded;
}

/// x + y + z rounded once (Boldo and Melquiond, IEEE Trans. Computers 57(4), 2008, algorithm Add3).
inline double add3(double x, double y, double z) {
  const TwoTerms inner = two_sum(y, z);
  const TwoTerms outer = two_sum(x, inner.high);
  return outer.high + add_round_to_odd(outer.low, inner.low);
}

/// The exact value of `sets` sums, `stride` apart, rounded once. set 0 is the one of the largest weights.
inline double round_sum(const double* sum, index_t stride, int sets) {
  return sets == 1 ? sum[0] : sets == 2 ? sum[0] + sum[stride] : add3(sum[0], sum[stride], sum[2 * stride]);
}

/// value * 2^exponent, rounded once if the result is subnormal.
inline double scale_by_power(double value, int exponent) {
  if (exponent < -1022 || exponent > 1023) return std::ldexp(value, exponent);
  const std::uint64_t bits = static_cast<std::uint64_t>(exponent + 1023) << 52;
  double power;
  std::memcpy(&power, &bits, sizeof power);
  return value * power;
}

/// alpha * value + beta * C; C is not read if beta == 0. Adding +0 makes a product of -0 the +0 of a sum that starts
/// from zero, as every BLAS computes it.
template <class T>
void update(T& c, T value, T alpha, T beta) {
  c = beta == T(0) ? alpha * value + T(0) : alpha * value + beta * c;
}

}  // namespace amx::detail
