// What the expression tests share: operands, the expected bits, and proof that the emulated backend ran.
//
// The expected value of every form is amx::gemm() on plain copies of the operands, bit for bit: the FP64 and FP32
// results do not depend on strides, blocking or threads. Each expected value is itself held to a reference that shares
// no code with the library (check_oracle()), so that a form cannot pass by agreeing with a wrong oracle.
#pragma once

#include <amx/emulated.hpp>
#include <amx/gemm.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/fp64_reference.hpp"
#include "support/same_bits.hpp"
#include "support/seed.hpp"

namespace expression_test {

using test_support::same_bits;

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

/// Tests `ab`, the oracle's a b: in FP64 it has the bits of the integer reference; in FP32, with the default 6
/// products, its error is at most (k + 40) 2^-24 (|A||B|)_ij, which the bound of docs/numerics.md, section 4, implies
/// for every k.
template <class T>
void check_oracle(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& ab) {
  if constexpr (std::is_same_v<T, double>) {
    EXPECT_TRUE(same_bits(ab, reference::product(a, b, amx::slices_for<double>(kCount<double>))));
  } else {
    const Matrix<double> x = a.template cast<double>(), y = b.template cast<double>();
    const Matrix<double> exact = x.lazyProduct(y), magnitude = x.cwiseAbs().lazyProduct(y.cwiseAbs());
    const double factor = std::ldexp(static_cast<double>(a.cols() + 40), -24);
    for (Eigen::Index j = 0; j < ab.cols(); ++j)
      for (Eigen::Index i = 0; i < ab.rows(); ++i) {
        const double error = std::fabs(static_cast<double>(ab(i, j)) - exact(i, j));
        if (!(error <= factor * magnitude(i, j))) ADD_FAILURE() << "(" << i << ", " << j << "): error " << error;
      }
  }
}

/// Tests `c`, the oracle's alpha ab + beta c0: two products and a sum, each rounded once, so off by at most
/// 2 u (1 + u) (|alpha ab| + |beta c0|); 3 u leaves room for the rounding of this test.
template <class T>
void check_update(const Matrix<T>& ab, T alpha, T beta, const Matrix<T>& c0, const Matrix<T>& c) {
  const long double u = std::numeric_limits<T>::epsilon() / 2;
  for (Eigen::Index j = 0; j < c.cols(); ++j)
    for (Eigen::Index i = 0; i < c.rows(); ++i) {
      const long double x = static_cast<long double>(alpha) * ab(i, j);
      const long double y = beta == T(0) ? 0 : static_cast<long double>(beta) * c0(i, j);
      if (!(std::fabs(c(i, j) - (x + y)) <= 3 * u * (std::fabs(x) + std::fabs(y))))
        ADD_FAILURE() << "update (" << i << ", " << j << "): " << c(i, j);
    }
}

/// alpha a b + beta c through amx::gemm().
template <class T, class A, class B>
Matrix<T> expected(const A& a_xpr, const B& b_xpr, T alpha = 1, T beta = 0, const Matrix<T>& c0 = {}) {
  const Matrix<T> a = a_xpr, b = b_xpr;
  const auto gemm = [&](T scale, T keep, Matrix<T> c) {
    amx::Options options;
    options.threads = 1;
    EXPECT_EQ(amx::Verdict::in_range,
              amx::gemm(a.rows(), b.cols(), a.cols(), scale, a.data(), 1, a.outerStride(), b.data(), 1, b.outerStride(),
                        keep, c.data(), 1, c.outerStride(), kCount<T>, options));
    return c;
  };
  const Matrix<T> ab = gemm(1, 0, Matrix<T>(a.rows(), b.cols()));
  check_oracle<T>(a, b, ab);
  if (alpha == T(1) && beta == T(0)) return ab;
  const Matrix<T> c = gemm(alpha, beta, beta == T(0) ? Matrix<T>(a.rows(), b.cols()) : c0);
  check_update<T>(ab, alpha, beta, c0, c);
  return c;
}

/// Fails unless this thread's latest product was emulated with this shape.
inline testing::AssertionResult ran(int products, Eigen::Index m, Eigen::Index n, Eigen::Index k) {
  const amx::Report r = amx::last_report();
  if (r.backend != "native" && r.backend != "none" && r.products == products && r.m == m && r.n == n && r.k == k)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "last product: " << r;
}

using Scalars = testing::Types<float, double>;

}  // namespace expression_test
