// The two splits. split.hpp states what they guarantee.
#include "split.hpp"

#include <cmath>
#include <cstring>

namespace amx::detail {
namespace {

std::uint32_t float_bits(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

float float_from_bits(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

}  // namespace

void split(const double* x, int count, int exponent, int slices, bf16* out) {
  // Two factors, because 2^(8 - exponent) itself overflows for a line of tiny numbers. Scaling up is exact. Scaling
  // down can only round what becomes subnormal, and of that all digits are zero.
  const int shift = kLeadBits - exponent;
  const double scale0 = std::ldexp(1.0, shift / 2), scale1 = std::ldexp(1.0, shift - shift / 2);
  // Adding and subtracting 1.5 * 2^52 rounds any |r| < 2^51 to the nearest integer, ties to even.
  constexpr double kRound = 0x1.8p52;
  double residual[kMaxRun];
  for (int i = 0; i < count; ++i) residual[i] = x[i] * scale0 * scale1;
  for (int p = 0; p < slices; ++p, out += count) {
    for (int i = 0; i < count; ++i) {
      const double digit = (residual[i] + kRound) - kRound;
      residual[i] = (residual[i] - digit) * double{1 << kDigitBits};            // exact: |r - digit| <= 1/2
      out[i] = static_cast<bf16>(float_bits(static_cast<float>(digit)) >> 16);  // an integer of at most 8 bits, or 256
    }
  }
}

void split(const float* x, int count, int /*exponent*/, int slices, bf16* out) {
  float residual[kMaxRun];
  for (int i = 0; i < count; ++i) residual[i] = x[i];
  for (int p = 0; p < slices; ++p, out += count) {
    for (int i = 0; i < count; ++i) {
      const std::uint32_t bits = float_bits(residual[i]);
      const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u;  // nearest even
      residual[i] -= float_from_bits(rounded);
      out[i] = static_cast<bf16>(rounded >> 16);
    }
  }
}

}  // namespace amx::detail
