// FP64: the bits of amx::gemm() are those of the integer reference, for every backend, product count, shape, stride,
// thread count, rounding mode and blocking.
#include "digit_problem.hpp"
#include "matrices.hpp"
#include "odd_engines.hpp"
#include "reference/fp64_reference.hpp"
#include "support/backends.hpp"
#include "support/same_bits.hpp"

#include <amx/gemm.hpp>
#include <amx/products.hpp>

#include <gtest/gtest.h>

#include <cfenv>
#include <thread>

#ifdef _OPENMP
#include <omp.h>
#endif

using namespace numerics_test;
using Eigen::Index;
using Eigen::MatrixXd;
using test_support::same_bits;

namespace {

/// The product; fails unless every backend that this machine runs gives the same bits.
MatrixXd run(const MatrixXd& a, const MatrixXd& b, int products, int threads = 1) {
  MatrixXd first;
  for (const amx::Backend backend : test_support::usable_backends()) {
    MatrixXd c = MatrixXd::Constant(a.rows(), b.cols(), std::nan(""));
    amx::Options options;
    options.backend = backend;
    options.threads = threads;
    options.out_of_range = amx::OutOfRange::rescale;
    EXPECT_EQ(amx::Verdict::in_range, amx::gemm(a.rows(), b.cols(), a.cols(), 1.0, a.data(), 1, a.rows(), b.data(), 1,
                                                b.rows(), 0.0, c.data(), 1, c.rows(), products, options));
    EXPECT_EQ(to_string(backend), amx::last_report().backend);
    if (first.size() == 0) first = c;
    EXPECT_TRUE(same_bits(c, first)) << to_string(backend);
  }
  return first;
}

TEST(Fp64Reference, RoundsOnce) {
  using reference::round_once;
  const auto one = static_cast<reference::Int128>(1);
  EXPECT_EQ(3.0, round_once(3, 0));
  EXPECT_EQ(-0.75, round_once(-3, -2));
  EXPECT_EQ(0x1p53, round_once((one << 53) + 1, 0));                           // tie, to even
  EXPECT_EQ(0x1p53 + 4, round_once((one << 53) + 3, 0));                       // tie, to even
  EXPECT_EQ(0x1p100, round_once((one << 100) + (one << 47), 0));               // tie
  EXPECT_EQ(0x1p100 + 0x1p48, round_once((one << 100) + (one << 47) + 1, 0));  // just above
  EXPECT_EQ(-0x1p100 - 0x1p48, round_once(-(one << 100) - (one << 47) - 1, 0));
  EXPECT_EQ(0x1p101, round_once((one << 101) - 1, 0));
}

TEST(Fp64Bits, KindsAndProducts) {
  for (const Kind kind : kKinds)
    for (const int products : kDoubleProducts) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", products " << products);
      const int slices = amx::slices_for<double>(products);
      const MatrixXd a = matrix(kind, 19, 77), b = matrix(kind, 77, 21);
      EXPECT_TRUE(same_bits(run(a, b, products), reference::product(a, b, slices)));
      EXPECT_TRUE(same_bits(run(b.transpose(), a.transpose(), products), reference::product(a, b, slices).transpose()));
    }
}

TEST(Fp64Bits, ShapesAroundEveryBlockEdge) {
  const Index sizes[] = {1, 2, 3, 5, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 70};
  int turn = 0;
  for (const Index m : sizes)
    for (const Index n : sizes) {
      const Index k = sizes[(m * 7 + n * 5) % 16];
      const int products = kDoubleProducts[turn++ % 8];
      SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << ", products " << products);
      const MatrixXd a = matrix(Kind::wide_rows, m, k), b = matrix(Kind::uniform, k, n);
      EXPECT_TRUE(
          same_bits(run(a, b, products, 1 + turn % 4), reference::product(a, b, amx::slices_for<double>(products))));
    }
}

TEST(Fp64Bits, LongReductions) {
  for (const Index k : {255, 256, 257, 2047, 2048, 2049, 5000}) {
    const int products = kDoubleProducts[k % 8];
    SCOPED_TRACE(testing::Message() << "k " << k << ", products " << products);
    const MatrixXd a = matrix(Kind::all_digits_large, 3, k), b = matrix(Kind::all_digits_large, k, 5);
    EXPECT_TRUE(same_bits(run(a, b, products), reference::product(a, b, amx::slices_for<double>(products))));
  }
}

// At and beyond 2^17: the last length at which all sums are exact, with digits as large as they get and all of one
// sign, and the first at which there are several super-panels.
TEST(Fp64Bits, SuperPanels) {
  for (const auto& [k, products] :
       {std::pair<Index, int>{131072, 21}, {131072, 36}, {131073, 10}, {2 * 131072 + 5, 21}}) {
    SCOPED_TRACE(testing::Message() << "k " << k << ", products " << products);
    const double x = std::fabs(large_digits());
    MatrixXd a = MatrixXd::Constant(2, k, x), b = MatrixXd::Constant(k, 2, x);
    a.row(1) = matrix(Kind::all_digits_large, 1, k);
    b.col(1) = matrix(Kind::cancelling, 1, k).transpose();
    EXPECT_TRUE(same_bits(run(a, b, products), reference::product(a, b, amx::slices_for<double>(products))));
  }
}

TEST(Fp64Bits, ThreadsDoNotMatter) {
  const MatrixXd a = matrix(Kind::uniform, 200, 300), b = matrix(Kind::scaled_lines, 300, 190);
  for (const int products : {6, 21, 28}) {
    const MatrixXd one = run(a, b, products, 1);
    for (const int threads : {2, 3, 4, 64}) {
      EXPECT_TRUE(same_bits(run(a, b, products, threads), one));
#ifdef AMX_TEST_OPENMP
      EXPECT_EQ(std::min(threads, 12), amx::last_report().threads);  // portable, the last: 4 x 3 blocks of 64 x 64
#endif
    }
  }
}

TEST(Fp64Bits, InsideParallelRegionsAndOtherThreads) {
  const MatrixXd a = matrix(Kind::uniform, 70, 40), b = matrix(Kind::uniform, 40, 90);
  const MatrixXd expected = run(a, b, 15);
  std::vector<MatrixXd> results(8);
#ifdef _OPENMP
#pragma omp parallel for num_threads(4)
#endif
  for (int i = 0; i < 4; ++i) {
    results[static_cast<std::size_t>(i)] = run(a, b, 15, 4);
#ifdef _OPENMP
    EXPECT_EQ(1, amx::last_report().threads);
#endif
  }
  std::vector<std::thread> threads;
  for (std::size_t i = 4; i < 8; ++i) threads.emplace_back([&, i] { results[i] = run(a, b, 15, 2); });
  for (std::thread& thread : threads) thread.join();
  for (const MatrixXd& result : results) EXPECT_TRUE(same_bits(result, expected));
}

TEST(Fp64Bits, RoundingModeOfTheCallerDoesNotMatter) {
  const MatrixXd a = matrix(Kind::uniform, 40, 300), b = matrix(Kind::uniform, 300, 100),
                 c0 = matrix(Kind::uniform, 40, 100);
  for (const int products : {10, 36}) {
    const MatrixXd expected = run(a, b, products);
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      std::fesetround(mode);
      const MatrixXd c = run(a, b, products, 2);
      EXPECT_EQ(mode, std::fegetround());
      std::fesetround(FE_TONEAREST);
      EXPECT_TRUE(same_bits(c, expected));
    }
  }
}

TEST(Fp64Bits, AlphaBetaAndStrides) {
  const MatrixXd a = matrix(Kind::uniform, 33, 40), b = matrix(Kind::sparse, 40, 35),
                 c0 = matrix(Kind::uniform, 33, 35);
  const Eigen::Matrix<double, -1, -1, Eigen::RowMajor> ar = a, br = b;
  for (const double alpha : {1.0, -1.0, 0.7, -3e10})
    for (const double beta : {0.0, 1.0, -1.0, 0.3}) {
      const MatrixXd expected = reference::gemm(alpha, a, b, beta, c0, 6);
      for (const amx::Backend backend : test_support::usable_backends()) {
        const amx::Options options{backend};
        MatrixXd c = c0;
        EXPECT_EQ(amx::Verdict::in_range,
                  amx::gemm(33, 35, 40, alpha, a.data(), 1, 33, b.data(), 1, 40, beta, c.data(), 1, 33, 21, options));
        EXPECT_TRUE(same_bits(c, expected));
        MatrixXd wide = MatrixXd::Constant(70, 80, 5.0);  // C with strides 2 and 140
        for (Index j = 0; j < 35; ++j)
          for (Index i = 0; i < 33; ++i) wide(2 * i, 2 * j) = c0(i, j);
        EXPECT_EQ(amx::Verdict::in_range, amx::gemm(33, 35, 40, alpha, ar.data(), 40, 1, br.data(), 35, 1, beta,
                                                    wide.data(), 2, 140, 21, options));
        for (Index j = 0; j < 80; ++j)
          for (Index i = 0; i < 70; ++i) {
            const bool inside = i % 2 == 0 && j % 2 == 0 && i < 66 && j < 70;
            EXPECT_EQ(inside ? expected(i / 2, j / 2) : 5.0, wide(i, j));
          }
        MatrixXd rows = c0.transpose();  // C by rows
        EXPECT_EQ(amx::Verdict::in_range, amx::gemm(33, 35, 40, alpha, a.data(), 1, 33, b.data(), 1, 40, beta,
                                                    rows.data(), 35, 1, 21, options));
        EXPECT_TRUE(same_bits(rows.transpose(), expected));
      }
    }
  // Zero strides: one row of A and one element of B, repeated.
  MatrixXd c(33, 35);
  EXPECT_EQ(amx::Verdict::in_range,
            amx::gemm(33, 35, 40, 1.0, a.data(), 0, 33, b.data() + 50, 0, 0, 0.0, c.data(), 1, 33, 15));
  const MatrixXd repeated = a.row(0).replicate(33, 1), constant = MatrixXd::Constant(40, 35, b.data()[50]);
  EXPECT_TRUE(same_bits(c, reference::product(repeated, constant, 5)));
}

TEST(Fp64Bits, RescaleCoversAllFiniteNumbers) {
  for (const auto& [low, high] : {std::pair{-1074, -1000}, {-1074, -400}, {-300, 300}, {300, 505}}) {
    SCOPED_TRACE(low);
    const auto wide = [low = low, high = high](Index rows, Index cols) {
      return MatrixXd(MatrixXd::NullaryExpr(
          rows, cols, [=] { return std::ldexp(uniform(), static_cast<int>(uniform(low, high))); }));
    };
    const MatrixXd a = wide(20, 50), b = low < -400 ? wide(50, 20).cwiseInverse().eval() : wide(50, 20);
    if (!b.allFinite()) continue;
    for (const int products : {6, 21, 36})
      EXPECT_TRUE(same_bits(run(a, b, products), reference::product(a, b, amx::slices_for<double>(products))));
  }
  MatrixXd a = MatrixXd::Constant(2, 3, 1e300), b = MatrixXd::Constant(3, 2, 5e-324);
  EXPECT_TRUE(same_bits(run(a, b, 21), reference::product(a, b, 6)));
}

// ---- Internals: odd tile shapes, super-blocks, parts of C ----

TEST(Fp64Bits, OddTileShapesAndSuperBlocks) {
  for (const int products : kDoubleProducts) {
    const int slices = amx::slices_for<double>(products);
    const MatrixXd a = matrix(Kind::all_digits_large, 53, 300), b = matrix(Kind::wide_rows, 300, 61);
    const MatrixXd expected = reference::product(a, b, slices);
    MatrixXd c(53, 61);
    const DigitProblem digits(a, b, c, products);
    for (const amx::detail::Engine<double>* engine : digit_engines()) {
      const amx::detail::Problem<double> problem = digits.on(*engine);
      c.setConstant(std::nan(""));
      amx::detail::gemm_plain(problem);
      EXPECT_TRUE(same_bits(c, expected));
      for (const amx::detail::SuperBlockSizes& sizes :
           {amx::detail::SuperBlockSizes{}, {1, 1, 256}, {30, 20, 256}, {64, 32, 1024}}) {
        c.setConstant(std::nan(""));
        amx::detail::gemm_blocked(problem, 3, sizes);
        EXPECT_TRUE(same_bits(c, expected));
      }
    }
  }
}

TEST(Fp64Bits, LargerThanASuperBlock) {
  const MatrixXd a = matrix(Kind::uniform, 1100, 40), b = matrix(Kind::uniform, 40, 1050);
  const MatrixXd c = run(a, b, 6, 2);
  EXPECT_TRUE(same_bits(c, reference::product(a, b, 3)));
}

TEST(Fp64Bits, PartsOfC) {
  using amx::detail::Fill;
  const auto wanted = [](Fill fill, Index i, Index j) {
    return fill == Fill::full || (fill == Fill::lower && i >= j) || (fill == Fill::strictly_lower && i > j) ||
           (fill == Fill::upper && i <= j) || (fill == Fill::strictly_upper && i < j);
  };
  for (const Fill fill : {Fill::full, Fill::lower, Fill::strictly_lower, Fill::upper, Fill::strictly_upper})
    for (const auto& [m, n] : {std::pair<Index, Index>{100, 100}, {130, 40}, {40, 130}, {1, 1}}) {
      const MatrixXd a = matrix(Kind::uniform, m, 20), b = matrix(Kind::uniform, 20, n);
      const MatrixXd expected = reference::product(a, b, 3);
      for (const amx::detail::Engine<double>* engine : digit_engines()) {
        MatrixXd c = MatrixXd::Constant(m, n, std::nan(""));
        DigitProblem digits(a, b, c, 6);
        digits.arguments.fill = fill;
        amx::detail::gemm_blocked(digits.on(*engine), 2, {64, 64, 256});
        for (Index j = 0; j < n; ++j)
          for (Index i = 0; i < m; ++i)
            if (wanted(fill, i, j)) {
              EXPECT_EQ(expected(i, j), c(i, j));
            } else {
              EXPECT_TRUE(std::isnan(c(i, j)));
            }
      }
    }
}

}  // namespace
