// FP32: the bits of amx::gemm() are those of the scalar model of the backend's rule, TDPBF16PS or VDPBF16PS, for every
// product count and shape.
#include "matrices.hpp"
#include "odd_engines.hpp"
#include "reference/fp32_reference.hpp"
#include "support/backends.hpp"
#include "support/same_bits.hpp"

#include <amx/gemm.hpp>

#include "driver.hpp"

#include <gtest/gtest.h>

#include <cfenv>

using namespace numerics_test;
using Eigen::Index;
using Eigen::MatrixXf;
using test_support::same_bits;

namespace {

MatrixXf run(const MatrixXf& a, const MatrixXf& b, int products, int threads, amx::Backend backend) {
  MatrixXf c = MatrixXf::Constant(a.rows(), b.cols(), std::nanf(""));
  amx::Options options;
  options.threads = threads;
  options.backend = backend;
  EXPECT_EQ(amx::Verdict::in_range, amx::gemm(a.rows(), b.cols(), a.cols(), 1.0f, a.data(), 1, a.rows(), b.data(), 1,
                                              b.rows(), 0.0f, c.data(), 1, c.rows(), products, options));
  return c;
}

/// The product on every backend that this machine runs has the bits of its model.
void expect_definition(const MatrixXf& a, const MatrixXf& b, int products, int threads = 1) {
  for (const reference::Rule rule : {reference::Rule::tile, reference::Rule::vector}) {
    MatrixXf expected;
    for (const amx::Backend backend : test_support::usable_backends()) {
      if (reference::rule_of(to_string(backend)) != rule) continue;
      if (expected.size() == 0) expected = reference::product(a, b, products, rule);
      EXPECT_TRUE(same_bits(run(a, b, products, threads, backend), expected)) << to_string(backend);
    }
  }
}

/// Exponents within the range of the FP32 path, signs and zeros as they come.
MatrixXf matrix(Index rows, Index cols, int exponents) {
  return MatrixXf::NullaryExpr(rows, cols, [=] {
    return static_cast<float>(
        uniform() < -0.9 ? 0.0 : std::ldexp(uniform(), static_cast<int>(uniform(-exponents, exponents))));
  });
}

// Values worked out by hand: ties of the leading slice, and a sum in which the order of the chains shows.
TEST(Fp32Reference, ByHand) {
  EXPECT_EQ(1.0f, reference::to_bf16(1.0f + 0x1p-8f));                // tie, to even
  EXPECT_EQ(1.0f + 0x1p-6f, reference::to_bf16(1.0f + 3 * 0x1p-8f));  // tie, to even
  EXPECT_EQ(1.0f + 0x1p-7f, reference::to_bf16(1.0f + 0x1p-8f + 0x1p-20f));
  float a_even[16] = {1.0f, 0x1p-24f, 0x1p-24f}, a_odd[16] = {0x1p-24f, 0x1p-24f}, b[16];
  for (float& x : b) x = 1.0f;
  // even: 1 + 2^-24 + 2^-24 is 1 (two ties); odd: 2^-23; their sum is representable.
  EXPECT_EQ(1.0f + 0x1p-23f, reference::tdpbf16ps(0, a_even, b, a_odd, b));
  a_even[0] = 0x1p-130f;  // a subnormal operand counts as zero
  EXPECT_EQ(0x1p-22f, reference::tdpbf16ps(0, a_even, b, a_odd, b));
  // The odd member first: 1 + 2^-24 is a tie, to 1, and 2^-24 then another; the other way round they would add up.
  EXPECT_EQ(1.0f, reference::vdpbf16ps(0, 0x1p-24f, 1, 1, 1));
  EXPECT_EQ(1.0f, reference::vdpbf16ps(1, 0x1p-24f, 1, 0x1p-24f, 1));
  EXPECT_EQ(1.0f + 0x1p-23f, reference::vdpbf16ps(0x1p-24f, 1, 1, 0x1p-24f, 1));
}

TEST(Fp32Bits, ShapesAroundEveryBlockEdge) {
  const Index sizes[] = {1, 2, 5, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 70};
  int turn = 0;
  for (const Index m : sizes)
    for (const Index n : sizes) {
      const Index k = sizes[(m * 7 + n * 5) % 14];
      const int products = kFloatProducts[turn++ % 4];
      SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << ", products " << products);
      const MatrixXf a = matrix(m, k, 20), b = matrix(k, n, 3);
      expect_definition(a, b, products, 1 + turn % 3);
    }
}

TEST(Fp32Bits, LongReductionsAndThreads) {
  for (const Index k : {255, 256, 257, 511, 513, 2048, 2049, 4500})
    for (const int products : kFloatProducts) {
      SCOPED_TRACE(testing::Message() << "k " << k << ", products " << products);
      const MatrixXf a = matrix(9, k, 8), b = matrix(k, 11, 8);
      expect_definition(a, b, products);
    }
  const MatrixXf a = matrix(140, 300, 8), b = matrix(300, 150, 8);
  for (const int threads : {1, 2, 3, 4}) expect_definition(a, b, 6, threads);
}

// On the edges of the range no slice, product or sum is subnormal or overflows, so the model's flushes do nothing and
// the portable engine, which has none, agrees.
TEST(Fp32Bits, EdgesOfTheRange) {
  const auto with_exponents = [](Index rows, Index cols, int low, int high) {
    return MatrixXf(MatrixXf::NullaryExpr(rows, cols, [=] {
      const double magnitude = std::ldexp(uniform(1, 2), static_cast<int>(uniform(low, high + 1)));
      return static_cast<float>(uniform() < 0 ? -magnitude : magnitude);
    }));
  };
  for (const auto& [a_low, a_high, b_low, b_high] : {std::array{-103, -100, 23, 30},
                                                     {-40, -39, -40, -39},
                                                     {-80, 10, 0, 100},
                                                     {-2, 100, -2, 17},
                                                     {120, 126, -103 + 23, -10}}) {
    const MatrixXf a = with_exponents(20, 60, a_low, a_high), b = with_exponents(60, 20, b_low, b_high);
    for (const int products : kFloatProducts) expect_definition(a, b, products);
  }
}

TEST(Fp32Bits, RoundingModeOfTheCallerDoesNotMatter) {
  const MatrixXf a = matrix(40, 300, 5), b = matrix(300, 100, 5);
  for (const amx::Backend backend : test_support::usable_backends()) {
    const MatrixXf expected = run(a, b, 6, 1, backend);
    std::fesetround(FE_UPWARD);
    const MatrixXf c = run(a, b, 6, 2, backend);
    EXPECT_EQ(FE_UPWARD, std::fegetround());
    std::fesetround(FE_TONEAREST);
    EXPECT_TRUE(same_bits(c, expected)) << to_string(backend);
  }
}

TEST(Fp32Bits, OddTileShapes) {
  const MatrixXf a = matrix(53, 600, 5), b = matrix(600, 61, 5);
  MatrixXf c(53, 61);
  for (const int products : kFloatProducts) {
    const amx::detail::GemmArguments<float> args{
        53, 61, 600, 1.0f, a.data(), 1, 53, b.data(), 1, 600, 0.0f, c.data(), 1, 53, products, amx::detail::Fill::full};
    for (const auto& [engine, backend] : residual_engines()) {
      const MatrixXf expected = reference::product(a, b, products, reference::rule_of(to_string(backend)));
      const amx::detail::Problem<float> problem{
          args, nullptr, nullptr, amx::slices_for<float>(products), amx::detail::residual_schedule(products), *engine};
      c.setConstant(std::nanf(""));
      amx::detail::gemm_plain(problem);
      EXPECT_TRUE(same_bits(c, expected));
      for (const amx::detail::SuperBlockSizes& sizes : {amx::detail::SuperBlockSizes{}, {1, 1, 256}, {40, 40, 512}}) {
        c.setConstant(std::nanf(""));
        amx::detail::gemm_blocked(problem, 3, sizes);
        EXPECT_TRUE(same_bits(c, expected));
      }
    }
  }
}

}  // namespace
