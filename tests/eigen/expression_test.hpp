// What the expression tests share: operands, the expected bits, and proof that the emulated backend ran.
//
// The expected value of every form is amx::gemm() on plain copies of the operands, bit for bit: the FP64 and FP32
// results do not depend on strides, blocking or threads. That amx::gemm() itself is right is the business of
// tests/numerics.
#pragma once

#include <amx/emulated.hpp>
#include <amx/gemm.hpp>

#include <gtest/gtest.h>

#include <cstring>

#include "support/seed.hpp"

namespace expression_test {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
template <class T>
using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using RowVector = Eigen::Matrix<T, 1, Eigen::Dynamic>;

template <class T>
inline constexpr int kCount = amx::kDefaultProducts<T>;

/// Uniform in [-1, 1].
template <class T>
Matrix<T> random(Eigen::Index rows, Eigen::Index cols) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  return Matrix<T>::NullaryExpr(rows, cols, [&] { return static_cast<T>(uniform(test_support::generator())); });
}

/// alpha a b + beta c through amx::gemm().
template <class T, class A, class B>
Matrix<T> expected(const A& a_xpr, const B& b_xpr, T alpha = 1, T beta = 0, const Matrix<T>& c0 = {},
                   int products = kCount<T>) {
  const Matrix<T> a = a_xpr, b = b_xpr;
  Matrix<T> c = beta == T(0) ? Matrix<T>(a.rows(), b.cols()) : c0;
  amx::Options options;
  options.threads = 1;
  EXPECT_EQ(amx::Verdict::in_range,
            amx::gemm(a.rows(), b.cols(), a.cols(), alpha, a.data(), 1, a.outerStride(), b.data(), 1, b.outerStride(),
                      beta, c.data(), 1, c.outerStride(), products, options));
  return c;
}

/// Fails unless both hold the same bits.
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
        return testing::AssertionFailure() << "(" << i << ", " << j << "): " << x << " against " << y;
    }
  return testing::AssertionSuccess();
}

/// Fails unless this thread's latest product was emulated with this shape.
inline testing::AssertionResult ran(int products, Eigen::Index m, Eigen::Index n, Eigen::Index k) {
  const amx::Report r = amx::last_report();
  if (r.backend != "native" && r.backend != "none" && r.products == products && r.m == m && r.n == n && r.k == k)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "last product: " << r;
}

template <class T>
class ExpressionTest : public testing::Test {};
using Scalars = testing::Types<float, double>;

}  // namespace expression_test
