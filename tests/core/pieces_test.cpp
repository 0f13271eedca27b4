// The parts of the pipeline one by one: splits, schedules, panel layout, limits, reconstruction, scan.
#include "driver.hpp"
#include "numerics/matrices.hpp"
#include "pack.hpp"
#include "reconstruct.hpp"
#include "reference/exact.hpp"
#include "reference/fp32_reference.hpp"
#include "scan.hpp"
#include "schedule.hpp"
#include "split.hpp"

#include <amx/products.hpp>

#include <gtest/gtest.h>

#include <set>

using namespace amx::detail;
using numerics_test::uniform;

namespace {

float value_of(bf16 x) {
  const std::uint32_t bits = std::uint32_t{x} << 16;
  float y;
  std::memcpy(&y, &bits, sizeof y);
  return y;
}

TEST(Split, DigitsAreTheDefinition) {
  for (int round = 0; round < 200; ++round) {
    double x[8];
    for (double& value : x) value = round % 2 ? numerics_test::large_digits() : std::ldexp(uniform(), -(round % 90));
    const int exponent = round % 3;  // magnitudes lie below 2^exponent
    for (double& value : x) value = std::ldexp(value, exponent) * (1 - 0x1p-53);
    bf16 digits[8 * 8];
    split(x, 8, exponent, 8, digits);
    for (int i = 0; i < 8; ++i) {
      const auto expected = reference::digits_of(x[i], exponent, 8);
      reference::Exact rest = x[i];
      for (int p = 0; p < 8; ++p) {
        const float digit = value_of(digits[p * 8 + i]);
        EXPECT_EQ(static_cast<float>(expected[static_cast<std::size_t>(p)]), digit);
        EXPECT_LE(std::fabs(digit), 256);
        rest -= reference::Exact(digit) * ldexp(reference::Exact(1), exponent - 8 - 9 * p);
        EXPECT_LE(abs(rest), ldexp(reference::Exact(1), exponent - 9 * (p + 1)));  // lemma 1(c)
      }
    }
  }
}

TEST(Split, DigitsOfExtremeLines) {
  const double x[] = {std::numeric_limits<double>::max(), -std::numeric_limits<double>::max(), 0x1p1023, 1.0, 5e-324};
  bf16 digits[5 * 6];
  split(x, 5, 1024, 6, digits);
  EXPECT_EQ(256, value_of(digits[0]));
  EXPECT_EQ(-256, value_of(digits[1]));
  EXPECT_EQ(128, value_of(digits[2]));
  for (int p = 0; p < 6; ++p) EXPECT_EQ(0, value_of(digits[p * 5 + 3])) << p;
  const double tiny[] = {5e-324, -5e-324, 0.0};
  split(tiny, 3, -1073, 2, digits);
  EXPECT_EQ(128, value_of(digits[0]));
  EXPECT_EQ(-128, value_of(digits[1]));
  EXPECT_EQ(0, value_of(digits[2]));
}

TEST(Split, ResidualsAreExact) {
  for (int round = 0; round < 20000; ++round) {
    const float x = static_cast<float>(std::ldexp(uniform(), static_cast<int>(uniform(-100, 126))));
    if (std::fabs(x) < 0x1p-103f) continue;
    bf16 slices[3];
    split(&x, 1, 0, 3, slices);
    const std::vector<float> expected = reference::slices_of(x, 3);
    double sum = 0;
    for (int p = 0; p < 3; ++p) {
      EXPECT_EQ(expected[static_cast<std::size_t>(p)], value_of(slices[p]));
      EXPECT_FALSE(std::fpclassify(value_of(slices[p])) == FP_SUBNORMAL);
      sum += static_cast<double>(value_of(slices[p]));
    }
    EXPECT_EQ(static_cast<double>(x), sum);  // lemma 3
  }
}

TEST(Schedule, HoldsEveryKeptPairOnce) {
  for (int slices = 1; slices <= kMaxSlices; ++slices) {
    const Schedule& schedule = digit_schedule(slices);
    EXPECT_EQ(slices, schedule.slices);
    EXPECT_EQ(slices, amx::slices_for<double>(schedule.products));
    std::set<std::pair<int, int>> pairs;
    for (int pass = 0; pass < schedule.pass_count; ++pass)
      for (int i = 0; i < schedule.passes[pass].count; ++i) {
        const SlicePair pair = schedule.passes[pass].pairs[i];
        EXPECT_LT(pair.a + pair.b, slices);
        EXPECT_TRUE(pairs.emplace(pair.a, pair.b).second);
      }
    EXPECT_EQ(schedule.products, static_cast<int>(pairs.size()));
  }
}

TEST(Schedule, ResidualOrderIsTheDefinition) {
  for (const int products : numerics_test::kFloatProducts) {
    const Schedule& schedule = residual_schedule(products);
    const std::vector<reference::Pairs> expected = reference::passes_of(products);
    EXPECT_EQ(products, schedule.products);
    ASSERT_EQ(static_cast<int>(expected.size()), schedule.pass_count);
    for (int pass = 0; pass < schedule.pass_count; ++pass) {
      const reference::Pairs& pairs = expected[static_cast<std::size_t>(pass)];
      ASSERT_EQ(static_cast<int>(pairs.size()), schedule.passes[pass].count);
      for (int i = 0; i < schedule.passes[pass].count; ++i) {
        EXPECT_EQ(pairs[static_cast<std::size_t>(i)].first, schedule.passes[pass].pairs[i].a);
        EXPECT_EQ(pairs[static_cast<std::size_t>(i)].second, schedule.passes[pass].pairs[i].b);
      }
    }
  }
}

TEST(Products, SupportedCounts) {
  for (int n = -1; n <= 100; ++n) {
    const std::set<int> doubles = {1, 3, 6, 10, 15, 21, 28, 36}, floats = {1, 3, 6, 9};
    EXPECT_EQ(doubles.count(n) != 0, amx::slices_for<double>(n) != 0) << n;
    EXPECT_EQ(floats.count(n) != 0, amx::slices_for<float>(n) != 0) << n;
  }
}

TEST(Limits, DrainCadenceKeepsAccumulatorsExact) {
  const int expected[] = {8, 4, 2, 2, 1, 1, 1, 1};
  for (int l = 0; l < kMaxSlices; ++l) {
    EXPECT_EQ(expected[l], drain_cadence(l, 32));
    for (const int kr : {2, 6, 10, 16, 32}) {
      const long steps = drain_cadence(l, kr);
      EXPECT_GE(steps, 1);
      EXPECT_LE((l + 1) * kr * steps * 256L * 256, 1L << 24);
    }
  }
}

// Each element of a panel at its place, worked out from the picture in panel.hpp.
TEST(Panel, TileLayout) {
  const PanelLayout a = a_layout(32, 16, 32, 3), b = b_layout(32, 16, 32, 3);
  EXPECT_EQ(0, a.line_offset(0));
  EXPECT_EQ(32, a.line_offset(1));
  EXPECT_EQ(512, a.line_offset(16));  // second tile
  EXPECT_EQ(0, a.k_offset(0));
  EXPECT_EQ(1, a.k_offset(16));
  EXPECT_EQ(2, a.k_offset(1));
  EXPECT_EQ(31, a.k_offset(31));
  EXPECT_EQ(2, b.line_offset(1));
  EXPECT_EQ(512, b.line_offset(16));
  EXPECT_EQ(32, b.k_offset(1));
  EXPECT_EQ(33, b.k_offset(17));
  EXPECT_EQ(1024, a.slice_elements());
  EXPECT_EQ(3 * 1024, a.step_elements());
  for (const PanelLayout& layout : {a, b, a_layout(6, 3, 10, 2), b_layout(6, 2, 10, 2)}) {
    std::set<index_t> places;
    for (int line = 0; line < layout.lines; ++line)
      for (int k = 0; k < layout.kr; ++k) {
        const index_t place = layout.line_offset(line) + layout.k_offset(k);
        EXPECT_GE(place, 0);
        EXPECT_LT(place, layout.slice_elements());
        EXPECT_TRUE(places.insert(place).second);
      }
  }
}

TEST(Panel, PackingPadsWithZeros) {
  const Eigen::MatrixXf x = Eigen::MatrixXf::Constant(5, 7, 1.5f);
  const PanelLayout layout = a_layout(6, 3, 4, 2);
  std::vector<bf16> panel(static_cast<std::size_t>(2 * layout.step_elements()), 0x7fc0);
  pack_panel<float>({x.data(), 5, 7, 1, 5, nullptr}, layout, 0, 0, 7, panel.data());
  for (int step = 0; step < 2; ++step)
    for (int p = 0; p < 2; ++p)
      for (int line = 0; line < 6; ++line)
        for (int k = 0; k < 4; ++k) {
          const index_t at = step * layout.step_elements() + p * layout.slice_elements() + layout.line_offset(line) +
                             layout.k_offset(k);
          const bool inside = line < 5 && 4 * step + k < 7 && p == 0;  // 1.5 is a BF16: its second slice is zero
          EXPECT_EQ(inside ? 1.5f : 0.0f, value_of(panel[static_cast<std::size_t>(at)]));
        }
}

TEST(Reconstruct, ThreeTermsRoundedOnce) {
  const auto check = [](double x, double y, double z) {
    const double expected = static_cast<double>(reference::Exact(x) + reference::Exact(y) + reference::Exact(z));
    EXPECT_EQ(expected, add3(x, y, z)) << x << " + " << y << " + " << z;
  };
  check(1, 0x1p-53, 0);          // tie, to even
  check(1, 0x1p-53, 0x1p-200);   // just above the tie
  check(1, 0x1p-53, -0x1p-200);  // just below
  check(1 + 0x1p-52, 0x1p-53, -0x1p-150);
  check(-1, -0x1p-53, -0x1p-107);
  check(0x1p60, -0x1p60, 0x1p-40);
  check(0, 0, 0);
  for (int round = 0; round < 200000; ++round) {
    const auto draw = [](int low, int high) {
      const double coarse = std::floor(uniform(-8, 8));  // few bits, so that ties happen
      return std::ldexp(uniform() < 0 ? coarse : uniform(), static_cast<int>(uniform(low, high)));
    };
    check(draw(-3, 3), draw(-60, -40), draw(-115, -95));
    check(draw(-3, 3), draw(-3, 3), draw(-60, 3));
  }
}

TEST(Reconstruct, ScaleAndUpdate) {
  EXPECT_EQ(0x1p-1074, scale_by_power(1, -1074));
  EXPECT_EQ(0x1p1023, scale_by_power(0x1p-40, 1063));
  EXPECT_EQ(1.5, scale_by_power(3, -1));
  double c = std::nan("");
  update(c, -0.0, 1.0, 0.0);
  EXPECT_EQ(0, c);
  EXPECT_FALSE(std::signbit(c));
}

TEST(Scan, FindsExponentsAndExtremes) {
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(130, 5);
  x(0, 1) = -1.0;
  x(1, 2) = 0.99;
  x(2, 0) = 5e-324;
  x(129, 4) = -1e300;
  std::vector<int> exponents(130, 99);
  for (const int threads : {1, 3}) {
    const ScanResult result = scan<double>({x.data(), 130, 5, 1, 130, nullptr}, exponents.data(), threads);
    EXPECT_TRUE(result.finite);
    EXPECT_EQ(1e300, result.max);
    EXPECT_EQ(5e-324, result.min_nonzero);
    EXPECT_EQ(1, exponents[0]);  // strictly below 2^v
    EXPECT_EQ(0, exponents[1]);
    EXPECT_EQ(-1073, exponents[2]);
    EXPECT_EQ(0, exponents[3]);
    EXPECT_EQ(997, exponents[129]);
  }
  x(70, 3) = std::nan("");
  EXPECT_FALSE(scan<double>({x.data(), 130, 5, 1, 130, nullptr}, exponents.data(), 1).finite);
  const ScanResult zeros = scan<float>({std::vector<float>(6, -0.0f).data(), 2, 3, 3, 1, nullptr}, nullptr, 1);
  EXPECT_EQ(0, zeros.max);
  EXPECT_EQ(std::numeric_limits<double>::infinity(), zeros.min_nonzero);
}

}  // namespace
