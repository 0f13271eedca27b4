// The inequalities of the verdict, each in one place. Where no element is NaN or infinite, all comparisons are exact.
#include "verdict.hpp"

#include <cmath>
#include <type_traits>

namespace amx::detail {
namespace {

template <class T>
bool offends(Verdict verdict, double x) {
  const double magnitude = std::fabs(x);
  switch (verdict) {
    case Verdict::not_finite: return !std::isfinite(x);
    case Verdict::too_large: return magnitude > Range<T>::kMax;
    case Verdict::too_small: return magnitude != 0 && magnitude < Range<T>::kMin;
    default: return false;
  }
}

/// k a b > 2^1023 without overflow on the way: mantissas and exponents apart.
bool exceeds_rescale_limit(double a, double b, index_t k) {
  int a_exponent, b_exponent;
  const double mantissa = std::frexp(a, &a_exponent) * std::frexp(b, &b_exponent) * static_cast<double>(k);
  return mantissa > std::ldexp(1.0, kRescaleMaxExponent - a_exponent - b_exponent);
}

}  // namespace

template <class T>
Finding judge(const ScanResult& a, const ScanResult& b, index_t k, bool rescale) {
  if (!a.finite) return {Verdict::not_finite, 'A', 0};
  if (!b.finite) return {Verdict::not_finite, 'B', 0};
  const auto largest = [&] { return static_cast<double>(k) * a.max * b.max; };
  if (std::is_same_v<T, double> && rescale) {
    if (exceeds_rescale_limit(a.max, b.max, k)) return {Verdict::product_overflow, 0, largest()};
    return {};
  }
  for (const Verdict verdict : {Verdict::too_large, Verdict::too_small}) {
    if (offends<T>(verdict, verdict == Verdict::too_large ? a.max : a.min_nonzero)) return {verdict, 'A', 0};
    if (offends<T>(verdict, verdict == Verdict::too_large ? b.max : b.min_nonzero)) return {verdict, 'B', 0};
  }
  if constexpr (std::is_same_v<T, float>) {
    if (a.max == 0 || b.max == 0) return {};
    if (std::ilogb(a.min_nonzero) + std::ilogb(b.min_nonzero) < Range<float>::kMinProductExponent)
      return {Verdict::product_underflow, 0, a.min_nonzero * b.min_nonzero};
    if (largest() > Range<float>::kMaxProduct) return {Verdict::product_overflow, 0, largest()};
  }
  return {};
}

template <class T>
Location locate(Verdict verdict, const T* data, index_t rows, index_t cols, index_t row_stride, index_t col_stride) {
  for (index_t row = 0; row < rows; ++row)
    for (index_t col = 0; col < cols; ++col) {
      const double value = static_cast<double>(data[row * row_stride + col * col_stride]);
      if (offends<T>(verdict, value)) return {row, col, value};
    }
  return {-1, -1, 0};
}

template Finding judge<float>(const ScanResult&, const ScanResult&, index_t, bool);
template Finding judge<double>(const ScanResult&, const ScanResult&, index_t, bool);
template Location locate(Verdict, const float*, index_t, index_t, index_t, index_t);
template Location locate(Verdict, const double*, index_t, index_t, index_t, index_t);

}  // namespace amx::detail
