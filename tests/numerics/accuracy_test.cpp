// Errors against exact products, on every backend: the bounds of docs/numerics.md on adversarial operands, and the
// published figures.
#include "matrices.hpp"
#include "reference/exact.hpp"
#include "support/backends.hpp"

#include <amx/gemm.hpp>
#include <amx/products.hpp>

#include <gtest/gtest.h>

using namespace numerics_test;
using Eigen::Index;

namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

template <class T>
Matrix<T> run(const Matrix<T>& a, const Matrix<T>& b, int products, amx::Backend backend = amx::Backend::automatic) {
  Matrix<T> c(a.rows(), b.cols());
  EXPECT_EQ(amx::Verdict::in_range, amx::gemm(a.rows(), b.cols(), a.cols(), T(1), a.data(), 1, a.rows(), b.data(), 1,
                                              b.rows(), T(0), c.data(), 1, c.rows(), products, {backend}));
  return c;
}

double magnitude(const reference::Exact& x) { return static_cast<double>(reference::Exact(abs(x))); }

TEST(Bounds, Fp64Theorem1) {
  for (const Kind kind : kKinds) {
    const Matrix<double> a = matrix(kind, 12, 90), b = matrix(kind, 90, 14);
    const reference::ExactMatrix exact = reference::exact_product(a, b);
    for (const int products : kDoubleProducts) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", products " << products);
      const Matrix<double> c = run(a, b, products);
      for (Index j = 0; j < 14; ++j)
        for (Index i = 0; i < 12; ++i) {
          const double bound =
              reference::fp64_bound(90, reference::exponent_of(a.row(i)), reference::exponent_of(b.col(j)),
                                    amx::slices_for<double>(products), c(i, j));
          const double error = magnitude(reference::Exact(c(i, j)) - exact[static_cast<std::size_t>(j * 12 + i)]);
          if (!(error <= bound)) ADD_FAILURE() << "(" << i << ", " << j << "): error " << error << ", bound " << bound;
        }
    }
  }
}

std::vector<std::pair<int, amx::Backend>> floats_on_all_backends() {
  std::vector<std::pair<int, amx::Backend>> all;
  for (const int products : kFloatProducts)
    for (const amx::Backend backend : test_support::usable_backends()) all.emplace_back(products, backend);
  return all;
}

TEST(Bounds, Fp32Componentwise) {
  for (const int exponents : {0, 10, 30}) {
    const auto draw = [&] {
      return static_cast<float>(std::ldexp(uniform() + 1e-3, static_cast<int>(uniform(-exponents, exponents))));
    };
    const Matrix<float> a = Matrix<float>::NullaryExpr(12, 700, draw), b = Matrix<float>::NullaryExpr(700, 14, draw);
    const reference::ExactMatrix exact = reference::exact_product(a, b);
    const Eigen::MatrixXd product_of_magnitudes = a.cast<double>().cwiseAbs() * b.cast<double>().cwiseAbs();
    for (const auto& [products, backend] : floats_on_all_backends()) {
      SCOPED_TRACE(testing::Message() << "exponents " << exponents << ", products " << products << ", "
                                      << to_string(backend));
      const Matrix<float> c = run(a, b, products, backend);
      const double factor = reference::fp32_bound(700, products, reference::rule_of(to_string(backend)));
      for (Index j = 0; j < 14; ++j)
        for (Index i = 0; i < 12; ++i) {
          const double bound = factor * product_of_magnitudes(i, j);
          const double error = magnitude(reference::Exact(c(i, j)) - exact[static_cast<std::size_t>(j * 12 + i)]);
          if (!(error <= bound)) ADD_FAILURE() << "(" << i << ", " << j << "): error " << error << ", bound " << bound;
        }
    }
  }
}

// Table 4 of arXiv 2609.04663: Frobenius error against native DGEMM, uniform [-1, 1], as measured with this split.
TEST(Published, Table4) {
  struct Row {
    int products;
    double error;
  };
  for (const Index n : {256, 512}) {
    const Matrix<double> a = matrix(Kind::uniform, n, n), b = matrix(Kind::uniform, n, n), native = a * b;
    for (const Row& row : {Row{6, 1.49e-8}, {10, 3.25e-11}, {15, 6.96e-14}}) {
      const double error = (run(a, b, row.products) - native).norm() / native.norm();
      if (!(std::fabs(error - row.error) <= 0.02 * row.error))
        ADD_FAILURE() << "n " << n << ", products " << row.products << ": " << error << ", published " << row.error;
    }
  }
}

/// Frobenius error against the product in long double, which is 2^-11 as far from exact as a double product.
template <class T>
double error_of(const Matrix<T>& c, const Matrix<T>& a, const Matrix<T>& b) {
  const Matrix<long double> exact = a.template cast<long double>() * b.template cast<long double>();
  return static_cast<double>((c.template cast<long double>() - exact).norm() / exact.norm());
}

TEST(Published, TwentyOneProductsBeatDgemm) {
  const Matrix<double> a = matrix(Kind::uniform, 256, 256), b = matrix(Kind::uniform, 256, 256);
  const double emulated = error_of<double>(run(a, b, 21), a, b), native = error_of<double>(a * b, a, b);
  if (!(emulated <= native)) ADD_FAILURE() << emulated << " against " << native;
  if (!(emulated <= 1.5e-16)) ADD_FAILURE() << emulated;  // rounding alone has 2^-53 / sqrt(3) to 2^-53
}

TEST(Published, SixFp32ProductsBeatSgemm) {
  for (const Index n : {256, 512}) {
    const Matrix<float> a = matrix(Kind::uniform, n, n).cast<float>(), b = matrix(Kind::uniform, n, n).cast<float>();
    const double native = error_of<float>(a * b, a, b);
    for (const amx::Backend backend : test_support::usable_backends()) {
      const double emulated = error_of<float>(run(a, b, 6, backend), a, b);
      if (!(emulated <= 0.35 * native))
        ADD_FAILURE() << "n " << n << ", " << to_string(backend) << ": " << emulated << " against " << native;
    }
  }
}

}  // namespace
