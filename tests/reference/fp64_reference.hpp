// The FP64 product by plain integer arithmetic, from the definition in docs/numerics.md, sections 2 and 3: digits, sums
// of products in 64-bit integers, one exact combination in 128 bits, one rounding. Nothing here comes from src/.
#pragma once

#include <Eigen/Core>

#include <cmath>
#include <cstdint>
#include <vector>

namespace reference {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

/// Smallest v with all |x| < 2^v; 0 if all are zero.
template <class Line>
int exponent_of(const Line& line) {
  const double max = line.cwiseAbs().maxCoeff();
  int exponent = 0;
  if (max != 0) std::frexp(max, &exponent);  // max = f 2^exponent with f in [1/2, 1)
  return exponent;
}

/// digits[p] of x on a line with exponent v.
inline std::vector<std::int64_t> digits_of(double x, int exponent, int slices) {
  std::vector<std::int64_t> digits;
  long double rest = std::ldexp(static_cast<long double>(x), 8 - exponent);  // 64 bits and a wide exponent: exact
  for (int p = 0; p < slices; ++p) {
    const long double digit = std::nearbyint(rest);  // to nearest even
    digits.push_back(static_cast<std::int64_t>(digit));
    rest = (rest - digit) * 512;
  }
  return digits;
}

/// value * 2^exponent as a double, rounded once to nearest even (no subnormal results).
inline double round_once(Int128 value, int exponent) {
  const bool negative = value < 0;
  UInt128 magnitude = negative ? -static_cast<UInt128>(value) : static_cast<UInt128>(value);
  int shift = 0;
  bool sticky = false;
  while (magnitude >> 55 != 0) {  // keep 53 bits, the half and a sticky bit
    sticky = sticky || (magnitude & 1) != 0;
    magnitude >>= 1;
    ++shift;
  }
  // Now at most 55 bits; fold the rest into the last one and let one conversion round.
  std::uint64_t kept = static_cast<std::uint64_t>(magnitude);
  if (sticky) kept |= 1;
  const double rounded = static_cast<double>(kept);  // 55 bits to 53: to nearest even
  return std::ldexp(negative ? -rounded : rounded, exponent + shift);
}

/// Digits of all rows of `lines`, [row][k][p] flattened.
struct DigitMatrix {
  DigitMatrix(const Eigen::MatrixXd& rows, int slice_count) : k(rows.cols()), slices(slice_count) {
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      exponents.push_back(exponent_of(rows.row(i)));
      for (Eigen::Index j = 0; j < k; ++j)
        for (const std::int64_t digit : digits_of(rows(i, j), exponents.back(), slices)) digits.push_back(digit);
    }
  }
  const std::int64_t* at(Eigen::Index row, Eigen::Index col) const { return digits.data() + (row * k + col) * slices; }
  Eigen::Index k;
  int slices;
  std::vector<int> exponents;
  std::vector<std::int64_t> digits;
};

/// The emulated product with d slices: exact sum of the kept digit products, rounded once per super-panel of 2^17.
inline Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, int slices) {
  const DigitMatrix x(a, slices), y(b.transpose(), slices);
  Eigen::MatrixXd c(a.rows(), b.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    for (Eigen::Index j = 0; j < b.cols(); ++j) {
      double total = 0;
      for (Eigen::Index begin = 0; begin < x.k; begin += 131072) {
        std::int64_t diagonal[8] = {};
        for (Eigen::Index k = begin; k < std::min<Eigen::Index>(begin + 131072, x.k); ++k) {
          const std::int64_t *p = x.at(i, k), *q = y.at(j, k);
          for (int l = 0; l < slices; ++l)
            for (int s = 0; s <= l; ++s) diagonal[l] += p[s] * q[l - s];
        }
        Int128 sum = 0;  // in units of 2^(-16 - 9 (slices - 1))
        for (int l = 0; l < slices; ++l) sum = sum * 512 + diagonal[l];
        const double rounded = round_once(sum, -16 - 9 * (slices - 1));
        total = begin == 0 ? rounded : total + rounded;
      }
      c(i, j) = std::ldexp(total, x.exponents[static_cast<std::size_t>(i)] + y.exponents[static_cast<std::size_t>(j)]);
    }
  return c;
}

/// alpha product + beta c, each operation rounded; c is not read if beta is 0, and a zero product is +0.
inline Eigen::MatrixXd gemm(double alpha, const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double beta,
                            const Eigen::MatrixXd& c0, int slices) {
  Eigen::MatrixXd c = product(a, b, slices);
  for (Eigen::Index i = 0; i < c.size(); ++i) {
    const volatile double scaled = alpha * c.data()[i];  // volatile: no fused operation
    c.data()[i] = beta == 0 ? scaled + 0.0 : scaled + beta * c0.data()[i];
  }
  return c;
}

}  // namespace reference
