// The range of the operands: every inequality of docs/numerics.md, section 5, on its limit and one step outside,
// through amx::gemm(); what the report says; and that a refused product leaves C alone.
#include "numerics/matrices.hpp"
#include "reference/fp32_reference.hpp"
#include "reference/fp64_reference.hpp"
#include "support/backends.hpp"

#include <amx/gemm.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

namespace {

using amx::OutOfRange;
using amx::Verdict;

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Runs a b; checks that C has changed if, and only if, the verdict is in_range.
template <class T>
amx::Report run(const Matrix<T>& a, const Matrix<T>& b, int products, OutOfRange out_of_range = OutOfRange::native) {
  Matrix<T> c = Matrix<T>::Constant(a.rows(), b.cols(), T(-99)), before = c;
  amx::Report report;
  amx::Options options;
  options.out_of_range = out_of_range;
  options.report = &report;
  const Verdict verdict = amx::gemm(a.rows(), b.cols(), a.cols(), T(1), a.data(), 1, a.rows(), b.data(), 1, b.rows(),
                                    T(0), c.data(), 1, c.rows(), products, options);
  EXPECT_EQ(verdict, report.verdict);
  const bool untouched = std::memcmp(c.data(), before.data(), static_cast<std::size_t>(c.size()) * sizeof(T)) == 0;
  EXPECT_EQ(verdict != Verdict::in_range, untouched);
  EXPECT_EQ(verdict != Verdict::in_range, report.backend == "none");
  EXPECT_EQ(verdict != Verdict::in_range, !report.reason.empty());
  if (verdict == Verdict::in_range) {
    if constexpr (sizeof(T) == 8)
      EXPECT_EQ(0, std::memcmp(c.data(), reference::product(a, b, amx::slices_for<T>(products)).data(),
                               static_cast<std::size_t>(c.size()) * sizeof(T)));
    else
      EXPECT_EQ(0, std::memcmp(c.data(), reference::product(a, b, products, reference::rule_of(report.backend)).data(),
                               static_cast<std::size_t>(c.size()) * sizeof(T)));
  }
  return report;
}

/// 4 x 5 of ones with `value` at (2, 3), times 5 x 3 of ones; and the other way round.
template <class T>
void expect_element(T value, Verdict verdict, OutOfRange out_of_range = OutOfRange::native) {
  SCOPED_TRACE(value);
  for (const T signed_value : {value, -value}) {
    Matrix<T> a = Matrix<T>::Ones(4, 5), b = Matrix<T>::Ones(5, 3);
    a(2, 3) = signed_value;
    amx::Report report = run<T>(a, b, 6, out_of_range);
    EXPECT_EQ(verdict, report.verdict);
    if (verdict != Verdict::in_range) {
      EXPECT_EQ('A', report.operand);
      EXPECT_EQ(2, report.row);
      EXPECT_EQ(3, report.col);
      EXPECT_TRUE(report.value == static_cast<double>(signed_value) || std::isnan(report.value));
    } else {
      EXPECT_EQ(0, report.operand);
      EXPECT_EQ(-1, report.row);
    }
    report = run<T>(Matrix<T>::Ones(3, 4), a, 6, out_of_range);
    EXPECT_EQ(verdict, report.verdict);
    if (verdict != Verdict::in_range) {
      EXPECT_EQ('B', report.operand);
      EXPECT_EQ(2, report.row);
      EXPECT_EQ(3, report.col);
    }
  }
}

TEST(Verdict, DoubleElements) {
  const double low = 0x1p-126, high = 0x1.fep127;
  expect_element(low, Verdict::in_range);
  expect_element(std::nextafter(low, 0), Verdict::too_small);
  expect_element(high, Verdict::in_range);
  expect_element(std::nextafter(high, kInfinity), Verdict::too_large);
  expect_element(5e-324, Verdict::too_small);
  expect_element(std::numeric_limits<double>::max(), Verdict::too_large);
  expect_element(0.0, Verdict::in_range);
  expect_element(kInfinity, Verdict::not_finite);
  expect_element(std::numeric_limits<double>::quiet_NaN(), Verdict::not_finite);
  for (const double value : {std::nextafter(low, 0), std::nextafter(high, kInfinity), 5e-324, 1e-60, 1e300})
    expect_element(value, Verdict::in_range, OutOfRange::rescale);
  expect_element(kInfinity, Verdict::not_finite, OutOfRange::rescale);
}

TEST(Verdict, FloatElements) {
  const float low = 0x1p-103f, high = 0x1.fep127f;
  const auto infinity = std::numeric_limits<float>::infinity();
  // With the other operand 2^24 (for small ones) or 2^-24, so that only the element itself is judged.
  const auto judged = [](float value, float other) {
    Matrix<float> a = Matrix<float>::Constant(2, 2, value), b = Matrix<float>::Constant(2, 2, other);
    return run<float>(a, b, 6).verdict;
  };
  EXPECT_EQ(Verdict::in_range, judged(low, 0x1p24f));
  EXPECT_EQ(Verdict::too_small, judged(std::nextafter(low, 0.0f), 0x1p24f));
  EXPECT_EQ(Verdict::too_small, judged(std::numeric_limits<float>::denorm_min(), 0x1p24f));
  EXPECT_EQ(Verdict::in_range, judged(high, 0x1p-24f));
  EXPECT_EQ(Verdict::too_large, judged(std::nextafter(high, infinity), 0x1p-24f));
  EXPECT_EQ(Verdict::in_range, judged(0.0f, 1.0f));
  EXPECT_EQ(Verdict::in_range, judged(0.0f, low));
  EXPECT_EQ(Verdict::not_finite, judged(infinity, 1.0f));
  EXPECT_EQ(Verdict::not_finite, judged(std::numeric_limits<float>::quiet_NaN(), 1.0f));
  expect_element(1e-35f, Verdict::too_small);
  expect_element(1e-35f, Verdict::too_small, OutOfRange::rescale);  // rescale is for double
}

TEST(Verdict, FloatProducts) {
  const auto report_of = [](Eigen::Index k, float a, float b) {
    return run<float>(Matrix<float>::Constant(2, k, a), Matrix<float>::Constant(k, 2, b), 9);
  };
  // Exponents sum to -80; the significands do not matter.
  EXPECT_EQ(Verdict::in_range, report_of(3, 0x1p-40f, 0x1p-40f).verdict);
  EXPECT_EQ(Verdict::in_range, report_of(3, 0x1.fffffep-100f, 0x1.fffffep20f).verdict);
  amx::Report report = report_of(3, 0x1.fffffep-41f, 0x1.fffffep-40f);
  EXPECT_EQ(Verdict::product_underflow, report.verdict);
  EXPECT_EQ(0, report.operand);
  EXPECT_EQ(-1, report.row);
  EXPECT_EQ(static_cast<double>(0x1.fffffep-41f) * static_cast<double>(0x1.fffffep-40f), report.value);
  // k max|a| max|b| = 2^126.
  EXPECT_EQ(Verdict::in_range, report_of(4, 0x1p60f, 0x1p64f).verdict);
  report = report_of(4, std::nextafter(0x1p60f, kInfinity > 0 ? 0x1p61f : 0), 0x1p64f);
  EXPECT_EQ(Verdict::product_overflow, report.verdict);
  EXPECT_LT(0x1p126, report.value);
  EXPECT_EQ(Verdict::product_overflow, report_of(5, 0x1p60f, 0x1p64f).verdict);
}

TEST(Verdict, RescaledProducts) {
  const auto verdict_of = [](Eigen::Index k, double a, double b, int products) {
    return run<double>(Matrix<double>::Constant(2, k, a), Matrix<double>::Constant(k, 2, b), products,
                       OutOfRange::rescale)
        .verdict;
  };
  // k max|a| max|b| = 2^1023. One product rounds operands up by most, and must still not overflow.
  for (const int products : {1, 3, 6, 21, 36}) {
    EXPECT_EQ(Verdict::in_range, verdict_of(4, 0x1p511, 0x1p510, products));
    EXPECT_EQ(Verdict::in_range, verdict_of(1, 0x1.fffffffffffffp511, 0x1p511, products));
  }
  EXPECT_EQ(Verdict::product_overflow, verdict_of(4, std::nextafter(0x1p511, kInfinity), 0x1p510, 21));
  EXPECT_EQ(Verdict::product_overflow, verdict_of(5, 0x1p511, 0x1p510, 21));
  EXPECT_EQ(Verdict::product_overflow, verdict_of(1, 1.7e308, 1.7e308, 21));
}

TEST(Verdict, PrecedenceAndFirstOffender) {
  Matrix<double> a = Matrix<double>::Ones(4, 5), b = Matrix<double>::Ones(5, 3);
  a(3, 0) = 1e-60;
  a(1, 4) = -1e-50;
  a(1, 2) = 1e-40;
  amx::Report report = run<double>(a, b, 6);
  EXPECT_EQ(Verdict::too_small, report.verdict);  // the first in row-major order, not the smallest
  EXPECT_EQ(1, report.row);
  EXPECT_EQ(2, report.col);
  EXPECT_EQ(1e-40, report.value);
  b(4, 1) = 1e50;
  report = run<double>(a, b, 6);
  EXPECT_EQ(Verdict::too_large, report.verdict);
  EXPECT_EQ('B', report.operand);
  EXPECT_EQ(4, report.row);
  EXPECT_EQ(1, report.col);
  a(0, 0) = 1e60;
  EXPECT_EQ('A', run<double>(a, b, 6).operand);
  b(0, 0) = std::nan("");
  report = run<double>(a, b, 6);
  EXPECT_EQ(Verdict::not_finite, report.verdict);
  EXPECT_EQ('B', report.operand);
  a(2, 2) = -kInfinity;
  EXPECT_EQ('A', run<double>(a, b, 6).operand);
}

TEST(Verdict, ErrorThrowsAndNames) {
  Matrix<double> a = Matrix<double>::Ones(4, 5), b = Matrix<double>::Ones(5, 3), c = b.topRows(4), before = c;
  b(4, 2) = -1e-60;
  amx::Options options;
  options.out_of_range = OutOfRange::error;
  try {
    (void)amx::gemm(4, 3, 5, 1.0, a.data(), 1, 4, b.data(), 1, 5, 0.0, c.data(), 1, 4, 10, options);
    FAIL();
  } catch (const std::domain_error& error) {
    EXPECT_STREQ(
        "amx: too_small: element (4, 2) of B is -1e-60; nonzero magnitudes must be at least 2^-126, the smallest "
        "normal BF16 value (OutOfRange::rescale lifts this)",
        error.what());
  }
  EXPECT_EQ(before, c);
  EXPECT_EQ(Verdict::too_small, amx::last_report().verdict);
}

TEST(Report, OneReadableLine) {
  Matrix<double> a = Matrix<double>::Ones(4, 5), b = Matrix<double>::Ones(5, 3);
  std::ostringstream text;
  text << std::hex << run<double>(a, b, 10);
  const std::string backend(amx::to_string(test_support::usable_backends().front()));
  EXPECT_EQ(0u,
            text.str().find("amx: 4 x 3 x 5 double, products 10, backend " + backend + ", in_range, threads 1, scan "))
      << text.str();
  a(3, 1) = 1e-60;
  text.str("");
  text << run<double>(a, b, 10);
  EXPECT_NE(std::string::npos, text.str().find("backend none, too_small (A(3, 1) = 1e-60): nonzero magnitudes"))
      << text.str();
  EXPECT_EQ(std::string::npos, text.str().find('\n'));
  for (const Verdict verdict : {Verdict::in_range, Verdict::too_small, Verdict::too_large, Verdict::not_finite,
                                Verdict::product_underflow, Verdict::product_overflow})
    EXPECT_NE("?", amx::to_string(verdict));
}

}  // namespace
