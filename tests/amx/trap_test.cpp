// The instruction trap against values worked out by hand. On a machine with AMX the same checks run on the processor.
#include "support/amx_trap.hpp"

#include <gtest/gtest.h>

#include <immintrin.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <thread>

namespace {

using amx_trap::Kind;

void barrier() { asm volatile("" ::: "memory"); }  // the intrinsics do not say what memory they read

struct alignas(64) Config {
  std::uint8_t bytes[64] = {};
  Config() = default;
  /// Palette 1, all eight tiles of the same shape.
  Config(int rows, int row_bytes) {
    bytes[0] = 1;
    for (int t = 0; t < 8; ++t) set(t, rows, row_bytes);
  }
  void set(int tile, int rows, int row_bytes) {
    bytes[16 + 2 * tile] = static_cast<std::uint8_t>(row_bytes);
    bytes[48 + tile] = static_cast<std::uint8_t>(rows);
  }
  void load() const {
    barrier();
    _tile_loadconfig(bytes);
  }
};

std::uint16_t bf16(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

class Trap : public testing::Test {
 protected:
  void SetUp() override {
    state_ = amx_trap::install();
    ASSERT_NE(amx_trap::State::unsupported, state_);
    amx_trap::clear_fault();
    amx_trap::reset_counts();
  }
  void TearDown() override {
    _tile_release();
    EXPECT_EQ("", amx_trap::first_fault());
  }
  bool trapping() const { return state_ == amx_trap::State::trapping; }
  amx_trap::State state_;
};

TEST_F(Trap, ConfigurationIsStoredAndReleased) {
  Config in(16, 64), out;
  in.set(3, 5, 12);
  in.load();
  _tile_storeconfig(out.bytes);
  barrier();
  EXPECT_EQ(0, std::memcmp(in.bytes, out.bytes, 64));
  _tile_release();
  _tile_storeconfig(out.bytes);
  barrier();
  for (const std::uint8_t byte : out.bytes) EXPECT_EQ(0, byte);
}

TEST_F(Trap, LoadsAndStoresRowsWithStrides) {
  Config config(16, 64);
  config.set(1, 3, 8);
  config.load();
  std::uint8_t from[16 * 100], to[16 * 80];
  for (std::size_t i = 0; i < sizeof from; ++i) from[i] = static_cast<std::uint8_t>(i * 7 + 1);
  std::memset(to, 255, sizeof to);
  barrier();
  _tile_loadd(0, from, 100);
  _tile_stored(0, to, 80);
  for (int r = 0; r < 16; ++r) {
    EXPECT_EQ(0, std::memcmp(from + 100 * r, to + 80 * r, 64));
    for (int i = 64; i < 80; ++i) EXPECT_EQ(255, to[80 * r + i]);
  }
  // Three rows of eight bytes, backwards.
  std::memset(to, 255, sizeof to);
  barrier();
  _tile_loadd(1, from + 1000, -100);
  _tile_stored(1, to, 16);
  for (int r = 0; r < 3; ++r) {
    EXPECT_EQ(0, std::memcmp(from + 1000 - 100 * r, to + 16 * r, 8));
    EXPECT_EQ(255, to[16 * r + 8]);
  }
  EXPECT_EQ(255, to[48]);
  _tile_zero(1);
  _tile_stored(1, to, 16);
  EXPECT_EQ(0, to[0] | to[7] | to[39]);
  _tile_stream_loadd(1, from, 64);
  _tile_stored(1, to, 16);
  EXPECT_EQ(0, std::memcmp(from, to, 8));
}

// Scaled index, displacement, high registers: encodings that compilers do not pick for the simple calls above.
TEST_F(Trap, AddressingModes) {
  Config(4, 16).load();
  alignas(64) std::uint8_t from[512], to[64];
  for (std::size_t i = 0; i < sizeof from; ++i) from[i] = static_cast<std::uint8_t>(i);
  const auto stored = [&] {
    _tile_stored(2, to, 16);
    barrier();
    return to;
  };
  asm volatile("tileloadd 8(%0,%1,2), %%tmm2" ::"r"(from), "r"(16L) : "memory");
  for (int r = 0; r < 4; ++r) EXPECT_EQ(8 + 32 * r, stored()[16 * r]);
  asm volatile("movq %0, %%r13; movq %1, %%r12; tileloadd 256(%%r13,%%r12,4), %%tmm2" ::"r"(from), "r"(8L)
               : "memory", "r12", "r13");
  for (int r = 0; r < 4; ++r) EXPECT_EQ((256 + 32 * r) % 256, stored()[16 * r]);
  asm volatile("tileloadd (%0), %%tmm2" ::"r"(from + 5) : "memory");  // no index: all rows from one place
  for (int r = 0; r < 4; ++r) EXPECT_EQ(5, stored()[16 * r]);
  static Config fixed(2, 4);
  asm volatile("ldtilecfg %0" ::"m"(fixed));  // relative to the instruction pointer
  Config out;
  _tile_storeconfig(out.bytes);
  barrier();
  EXPECT_EQ(2, out.bytes[48]);
}

/// c (1 x 1) += sum of a_even[k] b_even[k] and a_odd[k] b_odd[k] over `pairs` pairs.
float one_element(float c, int pairs, const float* a_even, const float* b_even, const float* a_odd,
                  const float* b_odd) {
  Config config;
  config.bytes[0] = 1;
  config.set(0, 1, 4);
  config.set(1, 1, 4 * pairs);
  config.set(2, pairs, 4);
  config.load();
  alignas(64) std::uint16_t a[32] = {}, b[16][2] = {};
  for (int k = 0; k < pairs; ++k) {
    a[2 * k] = bf16(a_even[k]);
    a[2 * k + 1] = bf16(a_odd[k]);
    b[k][0] = bf16(b_even[k]);
    b[k][1] = bf16(b_odd[k]);
  }
  barrier();
  _tile_loadd(0, &c, 4);
  _tile_loadd(1, a, 64);
  _tile_loadd(2, b, 4);
  _tile_dpbf16ps(0, 1, 2);
  _tile_stored(0, &c, 4);
  return c;
}

TEST_F(Trap, MultipliesInTwoChainsFromZero) {
  const float ones[4] = {1, 1, 1, 1}, zeros[4] = {};
  const float small[4] = {1, 0x1p-24f, 0x1p-24f, 0x1p-24f};
  // From zero, 1 + 2^-24 is a tie and stays 1; three times. One chain with the accumulator first would differ.
  EXPECT_EQ(1.0f, one_element(0, 4, small, ones, zeros, zeros));
  // The odd chain sums the small ones by themselves: 3 * 2^-24, and 1 + 3 * 2^-24 rounds to 1 + 2^-22.
  const float odd[4] = {0x1p-24f, 0x1p-24f, 0x1p-24f, 0};
  EXPECT_EQ(1 + 0x1p-22f, one_element(0, 4, small, ones, odd, ones));
  // The accumulator comes last: 2^-24 + (1 + 0) is a tie, to even 1; with 2^-23 in it, 1 + 2^-23.
  EXPECT_EQ(1.0f, one_element(0x1p-24f, 1, ones, ones, zeros, zeros));
  EXPECT_EQ(1 + 0x1p-23f, one_element(0x1p-23f, 1, ones, ones, zeros, zeros));
  const float three[1] = {3}, minus_half[1] = {-0.5f}, two[1] = {2}, seven[1] = {7};
  EXPECT_EQ(10 - 1.5f + 14, one_element(10, 1, three, minus_half, two, seven));
}

TEST_F(Trap, FlushesSubnormals) {
  const float one[1] = {1}, zero[1] = {0}, tiny[1] = {0x1p-127f}, low[1] = {0x1p-100f}, lower[1] = {0x1p-30f};
  EXPECT_EQ(0.0f, one_element(0, 1, tiny, one, zero, zero));         // operand
  EXPECT_EQ(0.0f, one_element(0, 1, low, lower, zero, zero));        // product
  EXPECT_EQ(1.0f, one_element(0x1p-130f, 1, one, one, zero, zero));  // accumulator
  const float least[1] = {0x1p-126f}, near[1] = {-0x1.8p-126f};
  EXPECT_EQ(0.0f, one_element(0, 1, least, one, near, one));  // sum of the chains: -2^-127
  EXPECT_EQ(0x1p-126f, one_element(0, 1, least, one, zero, zero));
}

TEST_F(Trap, NotFinite) {
  const float one[1] = {1}, zero[1] = {0}, infinity[1] = {std::numeric_limits<float>::infinity()};
  EXPECT_EQ(infinity[0], one_element(0, 1, infinity, one, zero, zero));
  EXPECT_TRUE(std::isnan(one_element(0, 1, infinity, zero, zero, zero)));
}

TEST_F(Trap, FullTile) {
  Config(16, 64).load();
  alignas(64) std::uint16_t a[16][32], b[16][32];
  alignas(64) float c[16][16];
  for (int i = 0; i < 16; ++i)
    for (int k = 0; k < 32; ++k) {
      a[i][k] = bf16(static_cast<float>(i + k));
      b[k / 2][2 * i + k % 2] = bf16(static_cast<float>(3 * i - k));
    }
  barrier();
  _tile_zero(5);
  _tile_loadd(6, a, 64);
  _tile_loadd(7, b, 64);
  _tile_dpbf16ps(5, 6, 7);
  _tile_dpbf16ps(5, 6, 7);
  _tile_stored(5, c, 64);
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 16; ++n) {
      float sum = 0;
      for (int k = 0; k < 32; ++k) sum += static_cast<float>((m + k) * (3 * n - k));
      EXPECT_EQ(2 * sum, c[m][n]);  // integers: exact
    }
}

TEST_F(Trap, ThreadsHaveTilesOfTheirOwn) {
  Config(1, 4).load();
  const float mine = 1;
  float back = 0;
  barrier();
  _tile_loadd(0, &mine, 4);
  std::thread([] {
    Config out;
    _tile_storeconfig(out.bytes);
    barrier();
    EXPECT_EQ(0, out.bytes[0]);
    Config(1, 4).load();
    const float theirs = 2;
    barrier();
    _tile_loadd(0, &theirs, 4);
    _tile_release();
  }).join();
  _tile_stored(0, &back, 4);
  EXPECT_EQ(1, back);
}

// The following is about the trap itself; with AMX in the processor there is none.
TEST_F(Trap, CountsAndRecords) {
  if (!trapping()) GTEST_SKIP() << "the processor has AMX: instructions are not trapped";
  Config(1, 4).load();
  float x[2] = {1, 2};
  barrier();
  amx_trap::reset_counts();
  amx_trap::start_recording(3);
  _tile_zero(4);
  _tile_loadd(3, x, 4);
  _tile_stored(3, x + 1, 4);
  _tile_zero(4);  // no longer recorded
  const std::vector<amx_trap::Record> records = amx_trap::stop_recording();
  ASSERT_EQ(3u, records.size());
  EXPECT_EQ(Kind::tilezero, records[0].kind);
  EXPECT_EQ(4, records[0].tile);
  EXPECT_EQ(Kind::tileload, records[1].kind);
  EXPECT_EQ(reinterpret_cast<std::uint64_t>(x), records[1].address);
  EXPECT_EQ(Kind::tilestore, records[2].kind);
  const amx_trap::Counts counts = amx_trap::counts();
  EXPECT_EQ(2, counts[Kind::tilezero]);
  EXPECT_EQ(1, counts[Kind::tileload]);
  EXPECT_EQ(1, counts[Kind::tilestore]);
  EXPECT_EQ(0, counts[Kind::tdpbf16ps]);
}

TEST_F(Trap, FaultsAreRecorded) {
  if (!trapping()) GTEST_SKIP() << "the processor has AMX: faults are signals";
  const auto expect_fault = [](const std::string& text) {
    EXPECT_EQ(0u, amx_trap::first_fault().find(text)) << amx_trap::first_fault();
    amx_trap::clear_fault();
  };
  _tile_release();
  _tile_zero(0);
  expect_fault("TILEZERO: the tile is not configured");
  const auto load_changed = [](int byte, int value) {
    Config config(16, 64);
    config.bytes[byte] = static_cast<std::uint8_t>(value);
    config.load();
  };
  load_changed(0, 2);
  expect_fault("LDTILECFG: unknown palette");
  load_changed(5, 1);
  expect_fault("LDTILECFG: reserved byte");
  load_changed(48, 17);
  expect_fault("LDTILECFG: more than 16 rows");
  load_changed(16, 65);
  expect_fault("LDTILECFG: more than 16 rows or 64 bytes");
  load_changed(49, 0);
  expect_fault("LDTILECFG: rows without bytes");
  load_changed(60, 1);
  expect_fault("LDTILECFG: palette 1 has eight tiles");
  Config config(16, 64);
  config.set(2, 15, 64);
  config.load();
  _tile_dpbf16ps(0, 1, 2);
  expect_fault("TDPBF16PS: the shapes");
  config.set(2, 16, 62);
  config.load();
  _tile_dpbf16ps(0, 1, 2);
  expect_fault("TDPBF16PS: bytes a row");
  asm volatile(".byte 0xc4, 0xe2, 0x72, 0x5c, 0xc1");  // tdpbf16ps tmm0, tmm1, tmm1, which assemblers refuse
  expect_fault("TDPBF16PS: two operands are the same");
}

TEST(TrapDeathTest, OtherIllegalInstructionsStillKill) {
  amx_trap::install();
  EXPECT_EXIT(asm volatile("ud2"), testing::KilledBySignal(SIGILL), "");
}

}  // namespace
