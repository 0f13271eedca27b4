// TDPBF16PS against values worked out by hand, on the trap or on real AMX; and the fast arithmetic of the trap against
// the reference that rounds in the open.
#include <cmath>
#include <limits>
#include <random>

#include "support/amx_trap_testing.hpp"

namespace {

using trap_testing::Config;
using trap_testing::memory_barrier;
using trap_testing::TrapTest;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

/// Of a number that is a BF16.
std::uint16_t bf16(float value) {
  EXPECT_EQ(bits_of(value) & 0xffffu, 0u) << value << " is no BF16";
  return static_cast<std::uint16_t>(bits_of(value) >> 16u);
}

struct Pair {
  float even, odd;
};

/// dest + a * b for one row, one column and up to 16 pairs.
float product(float dest, const std::vector<Pair>& a, const std::vector<Pair>& b) {
  const int pairs = static_cast<int>(a.size());
  const Config config{{1, 4}, {1, 4 * pairs}, {pairs, 4}};
  std::vector<std::uint16_t> a_bits, b_bits;
  for (const Pair& pair : a) a_bits.insert(a_bits.end(), {bf16(pair.even), bf16(pair.odd)});
  for (const Pair& pair : b) b_bits.insert(b_bits.end(), {bf16(pair.even), bf16(pair.odd)});
  TRAP_LDTILECFG(&config);
  TRAP_TILELOADD(0, &dest, 4);
  TRAP_TILELOADD(1, a_bits.data(), 64);
  TRAP_TILELOADD(2, b_bits.data(), 4);
  _tile_dpbf16ps(0, 1, 2);
  TRAP_TILESTORED(0, &dest, 4);
  return dest;
}

float sum(float dest, const std::vector<Pair>& terms) {
  return product(dest, terms, std::vector<Pair>(terms.size(), Pair{1, 1}));
}

TEST_F(TrapTest, ProductOfSmallIntegers) {
  // A is 3 x 4 (two pairs a row), B is 4 x 2; B's rows come in pairs: {B[2k][n], B[2k+1][n]}.
  const float a[3][4] = {{1, 2, 3, 4}, {-1, 0, 5, 7}, {2, -3, 0, 1}};
  const float b[4][2] = {{1, 10}, {2, 20}, {3, -1}, {4, 6}};
  std::uint16_t a_bits[3][4], b_bits[2][2][2];
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 4; ++k) a_bits[m][k] = bf16(a[m][k]);
  for (int k = 0; k < 4; ++k)
    for (int n = 0; n < 2; ++n) b_bits[k / 2][n][k % 2] = bf16(b[k][n]);
  float c[3][2] = {{1000, 2000}, {3000, 4000}, {5000, 6000}};
  const float expected[3][2] = {{1030, 2071}, {3042, 4027}, {5000, 5966}};
  const Config config{{3, 8}, {3, 8}, {2, 8}};
  TRAP_LDTILECFG(&config);
  TRAP_TILELOADD(0, c, 8);
  TRAP_TILELOADD(1, a_bits, 8);
  TRAP_TILELOADD(2, b_bits, 8);
  _tile_dpbf16ps(0, 1, 2);
  TRAP_TILESTORED(0, c, 8);
  for (int m = 0; m < 3; ++m)
    for (int n = 0; n < 2; ++n) EXPECT_EQ(c[m][n], expected[m][n]) << m << ' ' << n;
}

TEST_F(TrapTest, EveryShapeMultiplies) {
  std::uint16_t a[16][32], b[16][16][2];
  for (int m = 0; m < 16; ++m)
    for (int k = 0; k < 32; ++k) a[m][k] = bf16(static_cast<float>(m + 3 * k - 50));
  for (int k = 0; k < 32; ++k)
    for (int n = 0; n < 16; ++n) b[k / 2][n][k % 2] = bf16(static_cast<float>(5 * n - k));
  for (int rows = 1; rows <= 16; rows += 3)
    for (int pairs = 1; pairs <= 16; ++pairs)
      for (int columns = 1; columns <= 16; columns += 5) {
        const Config config{{rows, 4 * columns}, {rows, 4 * pairs}, {pairs, 4 * columns}};
        float c[16][16] = {};
        TRAP_LDTILECFG(&config);
        TRAP_TILELOADD(1, a, 64);
        TRAP_TILELOADD(2, b, 64);
        _tile_dpbf16ps(0, 1, 2);
        _tile_dpbf16ps(0, 1, 2);
        TRAP_TILESTORED(0, c, 64);
        for (int m = 0; m < 16; ++m)
          for (int n = 0; n < 16; ++n) {
            float expected = 0;
            for (int k = 0; k < 2 * pairs; ++k) expected += static_cast<float>((m + 3 * k - 50) * (5 * n - k));
            ASSERT_EQ(c[m][n], m < rows && n < columns ? 2 * expected : 0) << rows << ' ' << pairs << ' ' << columns;
          }
      }
}

TEST_F(TrapTest, EvenAndOddAreChainsOfTheirOwnFromZero) {
  // even: 2^24, a tie to 2^24, again; odd: 3; 2^24 + 3 is a tie to 2^24 + 4. One chain over all would give 2^24, the
  // exact sum is 2^24 + 5.
  const std::vector<Pair> terms = {{0x1p24f, 1}, {1, 1}, {1, 1}};
  EXPECT_EQ(sum(0, terms), 0x1p24f + 4);
  // The destination comes last: a chain that starts from it would be exact and give 5.
  EXPECT_EQ(sum(-0x1p24f, terms), 4);
  // The chains are added to each other first: (1 + 1) + 2^24, not (2^24 + 1) + 1.
  EXPECT_EQ(sum(0x1p24f, {{1, 1}}), 0x1p24f + 2);
}

TEST_F(TrapTest, ChainsAscendInK) {
  EXPECT_EQ(sum(0, {{0x1p24f, 0}, {1, 0}, {-0x1p24f, 0}}), 0);
  EXPECT_EQ(sum(0, {{0x1p24f, 0}, {-0x1p24f, 0}, {1, 0}}), 1);
  EXPECT_EQ(sum(0, {{0, 0x1p24f}, {0, 1}, {0, -0x1p24f}}), 0);
  EXPECT_EQ(sum(0, {{0, 0x1p24f}, {0, -0x1p24f}, {0, 1}}), 1);
}

TEST_F(TrapTest, RoundsToNearestEven) {
  EXPECT_EQ(sum(0, {{0x1p24f, 0}, {3, 0}}), 0x1p24f + 4);
  EXPECT_EQ(sum(0, {{-0x1p24f, 0}, {-3, 0}}), -0x1p24f - 4);
  EXPECT_EQ(sum(0, {{0x1p24f, 0}, {-0.5f, 0}}), 0x1p24f);
  EXPECT_EQ(sum(0, {{0x1p24f, 0}, {-0.75f, 0}}), 0x1p24f - 1);
  // The product has 16 significant bits and is not rounded before the sum: (1 + 2^-7)^2 = 1 + 2^-6 + 2^-14.
  EXPECT_EQ(product(0, {{0x1p24f, 0}, {1 + 0x1p-7f, 0}}, {{1, 0}, {1 + 0x1p-7f, 0}}), 0x1p24f + 2);
  EXPECT_EQ(product(0, {{0x1p9f, 0}, {1 + 0x1p-7f, 0}}, {{1, 0}, {1 + 0x1p-7f, 0}}), 513.01568603515625f);
}

TEST_F(TrapTest, MultiplyAddIsFused) {
  // 2^64 * 2^64 is beyond all floats, 2^128 - 2^127 is not.
  EXPECT_EQ(product(0, {{-0x1p127f, 0}, {0x1p64f, 0}}, {{1, 0}, {0x1p64f, 0}}), 0x1p127f);
  EXPECT_EQ(product(0, {{0x1p64f, 0}}, {{0x1p64f, 0}}), kInfinity);
  EXPECT_EQ(product(0, {{0, -0x1p64f}}, {{0, 0x1p64f}}), -kInfinity);
}

TEST_F(TrapTest, SubnormalsAreZero) {
  EXPECT_EQ(bits_of(product(0, {{0x1p-133f, 0}}, {{0x1p127f, 0}})), 0u) << "factor";
  EXPECT_EQ(bits_of(product(0x1p-127f, {{0, 0}}, {{0, 0}})), 0u) << "destination";
  EXPECT_EQ(bits_of(product(-0x1p-127f, {{0, 0}}, {{0, 0}})), 0u) << "-0 + 0";
  EXPECT_EQ(bits_of(product(0, {{0x1p-70f, 0}}, {{0x1p-60f, 0}})), 0u) << "product 2^-130";
  EXPECT_EQ(product(0, {{0x1p-70f, 0x1p-70f}}, {{0x1p-57f, 0x1p-57f}}), 0) << "each chain is flushed: 2 * 2^-127";
  EXPECT_EQ(product(0x1.8p-126f, {{-0x1p-60f, 0}}, {{0x1p-66f, 0}}), 0) << "sum 2^-127";
  EXPECT_EQ(product(0, {{0x1p-60f, 0}}, {{0x1p-66f, 0}}), 0x1p-126f) << "the smallest normal stays";
}

TEST_F(TrapTest, InfinitiesAndNaNs) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(sum(1, {{kInfinity, 1}}), kInfinity);
  EXPECT_EQ(sum(-kInfinity, {{1, 1}}), -kInfinity);
  EXPECT_TRUE(std::isnan(sum(0, {{kInfinity, -kInfinity}})));
  EXPECT_TRUE(std::isnan(sum(kInfinity, {{-kInfinity, 0}})));
  EXPECT_TRUE(std::isnan(sum(0, {{nan, 0}})));
  EXPECT_TRUE(std::isnan(sum(nan, {{0, 0}})));
  EXPECT_TRUE(std::isnan(product(0, {{kInfinity, 0}}, {{0, 0}})));
  EXPECT_TRUE(std::isnan(product(0, {{kInfinity, 0}}, {{0x1p-130f, 0}}))) << "a subnormal is zero here too";
}

TEST_F(TrapTest, MxcsrIsNeitherConsultedNorUpdated) {
  const unsigned before = _mm_getcsr();
  // Rounding up, no DAZ or FTZ, no exception masked, no flag set.
  _mm_setcsr(0x4000);
  const float inexact = sum(0, {{0x1p24f, 0}, {1, 0}, {1, 0}});
  const float invalid = sum(0, {{kInfinity, -kInfinity}});
  const float tiny = product(0, {{0x1p-70f, 0}}, {{0x1p-57f, 0}});
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(after, 0x4000u);
  EXPECT_EQ(inexact, 0x1p24f);
  EXPECT_TRUE(std::isnan(invalid));
  EXPECT_EQ(tiny, 0);
}

TEST_F(TrapTest, VectorRegistersSurvive) {
  alignas(64) std::uint8_t before[256], after[256];
  for (int i = 0; i < 256; ++i) before[i] = static_cast<std::uint8_t>(251 * i + 3);
  const Config config{{16, 64}, {16, 64}, {16, 64}};
  TRAP_LDTILECFG(&config);
  asm volatile(
      "movaps (%0), %%xmm0\n\tmovaps 16(%0), %%xmm1\n\tmovaps 32(%0), %%xmm2\n\tmovaps 48(%0), %%xmm3\n\t"
      "movaps 64(%0), %%xmm4\n\tmovaps 80(%0), %%xmm5\n\tmovaps 96(%0), %%xmm6\n\tmovaps 112(%0), %%xmm7\n\t"
      "movaps 128(%0), %%xmm8\n\tmovaps 144(%0), %%xmm9\n\tmovaps 160(%0), %%xmm10\n\tmovaps 176(%0), %%xmm11\n\t"
      "movaps 192(%0), %%xmm12\n\tmovaps 208(%0), %%xmm13\n\tmovaps 224(%0), %%xmm14\n\tmovaps 240(%0), %%xmm15\n\t"
      "tdpbf16ps %%tmm2, %%tmm1, %%tmm0\n\t"
      "movaps %%xmm0, (%1)\n\tmovaps %%xmm1, 16(%1)\n\tmovaps %%xmm2, 32(%1)\n\tmovaps %%xmm3, 48(%1)\n\t"
      "movaps %%xmm4, 64(%1)\n\tmovaps %%xmm5, 80(%1)\n\tmovaps %%xmm6, 96(%1)\n\tmovaps %%xmm7, 112(%1)\n\t"
      "movaps %%xmm8, 128(%1)\n\tmovaps %%xmm9, 144(%1)\n\tmovaps %%xmm10, 160(%1)\n\tmovaps %%xmm11, 176(%1)\n\t"
      "movaps %%xmm12, 192(%1)\n\tmovaps %%xmm13, 208(%1)\n\tmovaps %%xmm14, 224(%1)\n\tmovaps %%xmm15, 240(%1)" ::"r"(
          before),
      "r"(after)
      : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15");
  EXPECT_EQ(std::memcmp(before, after, 256), 0);
}

// ---- the trap's arithmetic ------------------------------------------------------------------------------------------

using amx_trap::DotShape;
using amx_trap::Tile;

float element(const Tile& tile, int row, int column) {
  float value;
  std::memcpy(&value, &tile.row[row][4 * column], 4);
  return value;
}

void set_element(Tile* tile, int row, int column, float value) { std::memcpy(&tile->row[row][4 * column], &value, 4); }

/// Exponents within `spread` of 1, subnormals and specials now and then.
std::uint16_t random_bf16(std::mt19937& random, unsigned spread, bool specials) {
  const unsigned exponent = 127 - spread / 2 + static_cast<unsigned>(random() % (spread + 1));
  std::uint32_t bits = static_cast<std::uint32_t>(random() & 0x807fu) | exponent << 7u;
  if (specials && random() % 16 == 0) bits &= 0x807fu;
  if (specials && random() % 2000 == 0) bits |= 0x7f80u;
  return static_cast<std::uint16_t>(bits);
}

void expect_same_products(unsigned spread, bool specials) {
  std::mt19937 random(spread + specials);
  for (int round = 0; round < 200; ++round) {
    Tile a, b, dest;
    for (Tile* tile : {&a, &b, &dest})
      for (auto& row : tile->row)
        for (int c = 0; c < 64; c += 2) {
          const std::uint16_t bits = random_bf16(random, spread, specials);
          std::memcpy(&row[c], &bits, 2);
        }
    const DotShape shape{1 + static_cast<int>(random() % 16), 1 + static_cast<int>(random() % 16),
                         1 + static_cast<int>(random() % 16)};
    Tile reference = dest, fast = dest;
    amx_trap::dot_reference(shape, a, b, &reference);
    amx_trap::dot_avx2(shape, a, b, &fast);
    for (int m = 0; m < shape.rows; ++m)
      for (int n = 0; n < shape.columns; ++n) {
        const float x = element(reference, m, n), y = element(fast, m, n);
        ASSERT_TRUE(bits_of(x) == bits_of(y) || (std::isnan(x) && std::isnan(y))) << x << ' ' << y;
      }
  }
}

TEST(TrapDot, FastArithmeticEqualsReference) {
  if (!amx_trap::has_avx2_fma()) return;  // the reference is what runs
  for (const unsigned spread : {2u, 20u, 60u, 120u, 200u, 250u}) {
    SCOPED_TRACE(spread);
    expect_same_products(spread, false);
    expect_same_products(spread, true);
  }
}

TEST(TrapDot, FlushesWhatIsTinyBeforeItIsRoundedToSubnormalPrecision) {
  // 2^-126 - 1.5 * 2^-151 rounds to 2^-126 - 2^-150 with 24 bits, which is tiny, and to 2^-126 with subnormal
  // precision.
  for (const auto dot : {amx_trap::dot_reference, amx_trap::dot_avx2}) {
    if (dot == amx_trap::dot_avx2 && !amx_trap::has_avx2_fma()) continue;
    Tile a{}, b{}, dest{};
    set_element(&a, 0, 0, 0x1p-63f);  // the odd element of the pair
    set_element(&b, 0, 0, 0x1p-63f);
    set_element(&a, 0, 1, -0x1.8p-75f);
    set_element(&b, 1, 0, 0x1p-76f);
    dot({1, 2, 1}, a, b, &dest);
    EXPECT_EQ(element(dest, 0, 0), 0);
    set_element(&a, 0, 1, -0x1p-75f);  // a tie to even: 2^-126 with either precision
    dot({1, 2, 1}, a, b, &dest);
    EXPECT_EQ(element(dest, 0, 0), 0x1p-126f);
  }
}

}  // namespace
