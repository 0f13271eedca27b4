// Operands of the numerics tests: classes of matrices that stress one property each.
#pragma once

#include <Eigen/Core>

#include <cmath>

#include "support/seed.hpp"

namespace numerics_test {

inline double uniform(double low = -1, double high = 1) {
  return std::uniform_real_distribution<double>(low, high)(test_support::generator());
}

enum class Kind { uniform, wide_rows, scaled_lines, all_digits_large, sparse, cancelling };
inline constexpr Kind kKinds[] = {Kind::uniform,          Kind::wide_rows, Kind::scaled_lines,
                                  Kind::all_digits_large, Kind::sparse,    Kind::cancelling};

/// A number whose digits are +-256 or nearly, whatever the slice count: 1 - 2^-9 + 2^-18 - .. of as many terms as a
/// double holds, sometimes cut or with a small change.
inline double large_digits() {
  double x = 0;
  for (int p = 0; p < 6; ++p) x += std::ldexp(p % 2 == 0 ? 1.0 : -1.0, -9 * p);
  const double changed = x * (1 + std::ldexp(std::floor(uniform(0, 4)), -52));
  return uniform() < 0 ? -changed : changed;
}

inline Eigen::MatrixXd matrix(Kind kind, Eigen::Index rows, Eigen::Index cols) {
  Eigen::MatrixXd x = Eigen::MatrixXd::NullaryExpr(rows, cols, [] { return uniform(); });
  const auto power = [](double range) { return std::ldexp(1.0, static_cast<int>(uniform(-range, range))); };
  switch (kind) {
    case Kind::uniform: break;
    case Kind::wide_rows:
      for (double& value : x.reshaped()) value *= power(60);
      break;
    case Kind::scaled_lines:
      for (Eigen::Index i = 0; i < rows; ++i) x.row(i) *= power(50);
      for (Eigen::Index j = 0; j < cols; ++j) x.col(j) *= power(50);
      break;
    case Kind::all_digits_large:
      for (double& value : x.reshaped()) value = large_digits();
      break;
    case Kind::sparse:
      for (double& value : x.reshaped())
        if (uniform() < 0.5) value = uniform() < 0 ? -0.0 : 0.0;
      x.row(0).setZero();
      break;
    case Kind::cancelling:  // the second half of every row is nearly the negative of the first
      for (Eigen::Index j = cols / 2; j < cols; ++j) x.col(j) = -x.col(j - cols / 2) * (1 + std::ldexp(uniform(), -30));
      break;
  }
  return x;
}

inline constexpr int kDoubleProducts[] = {1, 3, 6, 10, 15, 21, 28, 36};
inline constexpr int kFloatProducts[] = {1, 3, 6, 9};

}  // namespace numerics_test
