// Bit-for-bit comparison of matrices.
#pragma once

#include <Eigen/Core>

#include <gtest/gtest.h>

#include <cstring>

namespace test_support {

/// Fails unless both have the same shape and hold the same bits; names the first element that differs.
template <class A, class B>
testing::AssertionResult same_bits(const A& a, const B& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols())
    return testing::AssertionFailure() << a.rows() << " x " << a.cols() << " against " << b.rows() << " x " << b.cols();
  for (Eigen::Index j = 0; j < a.cols(); ++j)
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      const auto x = a(i, j);
      const auto y = b(i, j);
      static_assert(sizeof x == sizeof y);
      if (std::memcmp(&x, &y, sizeof x) != 0)
        return testing::AssertionFailure()
               << a.rows() << " x " << a.cols() << ", element (" << i << ", " << j << "): " << testing::PrintToString(x)
               << " against " << testing::PrintToString(y) << ", difference " << x - y;
    }
  return testing::AssertionSuccess();
}

}  // namespace test_support
