// Configuration, moves and addressing of the AMX instructions, against values worked out by hand. On a processor with
// AMX the same tests run on that. trap_product_test.cpp has the arithmetic, trap_fault_test.cpp what must be refused,
// trap_handler_test.cpp the bookkeeping and the signal handling.
#include <thread>

#include "support/amx_trap_testing.hpp"

namespace {

using trap_testing::Config;
using trap_testing::counted_bytes;
using trap_testing::memory_barrier;
using trap_testing::stored_config;
using trap_testing::TrapTest;

bool same(const Config& a, const Config& b) { return std::memcmp(&a, &b, 64) == 0; }

extern "C" {
__attribute__((used, aligned(64), visibility("hidden"))) std::uint8_t trap_test_config_bytes[64] = {
    1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,   // palette 1
    8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0,   // bytes in a row: tile 0 has 8, tile 7 has 64
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,   //
    1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,  0};  // rows: tile 0 has 1, tile 7 has 3
}

TEST_F(TrapTest, ConfigurationRoundTrip) {
  EXPECT_TRUE(same(stored_config(), Config())) << "64 zero bytes in the initial state";
  const Config config{{16, 64}, {3, 8}, {1, 4}, {16, 62}, {2, 2}, {5, 20}, {7, 28}, {16, 4}};
  TRAP_LDTILECFG(&config);
  EXPECT_TRUE(same(stored_config(), config));
  Config reset;  // palette 0: all other bytes are ignored
  std::memset(&reset.rows, 0xff, sizeof reset.rows);
  TRAP_LDTILECFG(&reset);
  EXPECT_TRUE(same(stored_config(), Config()));
  TRAP_LDTILECFG(&config);
  _tile_release();
  EXPECT_TRUE(same(stored_config(), Config()));
}

TEST_F(TrapTest, ConfigurationFromRipRelativeAddress) {
  asm volatile("ldtilecfg trap_test_config_bytes(%%rip)" ::: "memory");
  EXPECT_EQ(std::memcmp(&static_cast<const Config&>(stored_config()), trap_test_config_bytes, 64), 0);
}

TEST_F(TrapTest, ConfigurationZeroesAllTiles) {
  const Config config{{16, 64}};
  const auto from = counted_bytes(1024);
  std::vector<std::uint8_t> to(1024, 0xaa);
  TRAP_LDTILECFG(&config);
  TRAP_TILELOADD(0, from.data(), 64);
  TRAP_LDTILECFG(&config);
  TRAP_TILESTORED(0, to.data(), 64);
  EXPECT_EQ(to, std::vector<std::uint8_t>(1024, 0));
}

TEST_F(TrapTest, TileZero) {
  const Config config{{4, 16}, {4, 16}};
  const auto from = counted_bytes(64);
  std::vector<std::uint8_t> to(64, 0xaa);
  TRAP_LDTILECFG(&config);
  TRAP_TILELOADD(0, from.data(), 16);
  TRAP_TILELOADD(1, from.data(), 16);
  _tile_zero(1);
  TRAP_TILESTORED(1, to.data(), 16);
  EXPECT_EQ(to, std::vector<std::uint8_t>(64, 0));
  TRAP_TILESTORED(0, to.data(), 16);
  EXPECT_EQ(to, from);
}

TEST_F(TrapTest, EveryShapeMovesItsBytesAndNoOther) {
  const auto from = counted_bytes(16 * 64);
  for (int rows = 1; rows <= 16; ++rows)
    for (int row_bytes = 4; row_bytes <= 64; row_bytes += 4) {
      const Config config{{1, 4}, {1, 4}, {rows, row_bytes}};
      std::vector<std::uint8_t> to(16 * 64, 0xaa), expected(16 * 64, 0xaa);
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < row_bytes; ++c) {
          const auto at = static_cast<std::size_t>(64 * r + c);
          expected[at] = from[at];
        }
      TRAP_LDTILECFG(&config);
      TRAP_TILELOADD(2, from.data(), 64);
      TRAP_TILESTORED(2, to.data(), 64);
      ASSERT_EQ(to, expected) << rows << " rows of " << row_bytes;
    }
}

TEST_F(TrapTest, Strides) {
  const Config config{{4, 8}};
  const auto from = counted_bytes(2048);
  TRAP_LDTILECFG(&config);
  for (const int stride : {8, 64, 100, 333, 0, -8, -100}) {
    const std::uint8_t* const first = from.data() + 500;
    std::vector<std::uint8_t> to(32, 0xaa), expected(32);
    for (int r = 0; r < 4; ++r) std::memcpy(expected.data() + 8 * r, first + r * stride, 8);
    TRAP_TILELOADD(0, first, stride);
    TRAP_TILESTORED(0, to.data(), 8);
    EXPECT_EQ(to, expected) << "load, stride " << stride;
  }
  std::vector<std::uint8_t> upward(32), to(32, 0xaa);
  for (int r = 0; r < 4; ++r) std::memcpy(upward.data() + 8 * r, from.data() + 8 * (3 - r), 8);
  TRAP_TILELOADD(0, from.data(), 8);
  TRAP_TILESTORED(0, to.data() + 24, -8);
  EXPECT_EQ(to, upward) << "store, stride -8";
}

TEST_F(TrapTest, LoadWithHintIsALoad) {
  const Config config{{16, 64}};
  const auto from = counted_bytes(1024);
  std::vector<std::uint8_t> to(1024, 0xaa);
  TRAP_LDTILECFG(&config);
  memory_barrier();
  _tile_stream_loadd(0, from.data(), 64);
  TRAP_TILESTORED(0, to.data(), 64);
  EXPECT_EQ(to, from);
}

TEST_F(TrapTest, StartRowIsLoadedAndReset) {
  const Config config{{4, 8}};
  const auto from = counted_bytes(64);
  std::vector<std::uint8_t> to(32, 0xaa), expected(32, 0);
  std::memcpy(expected.data() + 16, from.data() + 16, 16);
  Config restart = config;
  restart.start_row = 2;
  TRAP_LDTILECFG(&restart);
  EXPECT_EQ(stored_config().start_row, 2);
  TRAP_TILELOADD(0, from.data(), 8);
  EXPECT_EQ(stored_config().start_row, 0);
  TRAP_TILESTORED(0, to.data(), 8);
  EXPECT_EQ(to, expected) << "rows 2 and 3 were loaded, from their places";
}

// ---- addressing: tile 0 is 2 rows of 8 bytes ------------------------------------------------------------------------

class TrapAddressing : public TrapTest {
 protected:
  void SetUp() override {
    TrapTest::SetUp();
    if (IsSkipped()) return;
    const Config config{{2, 8}};
    TRAP_LDTILECFG(&config);
  }
  /// Whether tile 0 holds 8 bytes each of from_ + first and from_ + second.
  testing::AssertionResult loaded(std::ptrdiff_t first, std::ptrdiff_t second) {
    std::vector<std::uint8_t> to(16, 0xaa), expected(16);
    std::memcpy(expected.data(), from_.data() + first, 8);
    std::memcpy(expected.data() + 8, from_.data() + second, 8);
    TRAP_TILESTORED(0, to.data(), 8);
    if (to == expected) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "other bytes";
  }
  std::vector<std::uint8_t> from_ = counted_bytes(1 << 14);
};

TEST_F(TrapAddressing, ScaleAndDisplacement) {
  const std::uint8_t* const base = from_.data() + 4096;
  const std::int64_t index = 24;
  asm volatile("tileloadd (%0,%1,1), %%tmm0" ::"r"(base), "r"(index) : "memory");
  EXPECT_TRUE(loaded(4096, 4096 + 24));
  asm volatile("tileloadd 8(%0,%1,2), %%tmm0" ::"r"(base), "r"(index) : "memory");
  EXPECT_TRUE(loaded(4104, 4104 + 48));
  asm volatile("tileloadd -128(%0,%1,4), %%tmm0" ::"r"(base), "r"(index) : "memory");
  EXPECT_TRUE(loaded(3968, 3968 + 96));
  asm volatile("tileloadd 0x1000(%0,%1,8), %%tmm0" ::"r"(base), "r"(index) : "memory");
  EXPECT_TRUE(loaded(8192, 8192 + 192));
  asm volatile("tileloadd -0x1000(%0,%1,8), %%tmm0" ::"r"(base + 4096), "r"(std::int64_t{-3}) : "memory");
  EXPECT_TRUE(loaded(4096, 4096 - 24));
}

TEST_F(TrapAddressing, NoIndexIsStrideZeroAndNoBaseIsAddressZero) {
  const std::uint8_t* const base = from_.data() + 512;
  asm volatile("tileloadd (%0), %%tmm0" ::"r"(base) : "memory");
  EXPECT_TRUE(loaded(512, 512));
  // With base zero by "no base" the address would have to be below 2^31; LDTILECFG adds its index to the address.
  Config config{{2, 8}}, to;
  asm volatile("ldtilecfg (,%0,1)" ::"r"(&config) : "memory");
  asm volatile("sttilecfg 0(,%0,2)" ::"r"(reinterpret_cast<std::uintptr_t>(&to) / 2) : "memory");
  EXPECT_EQ(std::memcmp(&to, &config, 64), 0);
}

#define LOAD_WITH(base_register, index_register)                                                              \
  do {                                                                                                        \
    asm volatile("mov %0, %%" base_register "\n\tmov %1, %%" index_register "\n\ttileloadd (%%" base_register \
                 ",%%" index_register ",1), %%tmm0" ::"m"(base_copy),                                         \
                 "m"(stride_copy)                                                                             \
                 : "memory", base_register, index_register);                                                  \
    EXPECT_TRUE(loaded(64, 96)) << base_register << " + " << index_register;                                  \
    _tile_zero(0);                                                                                            \
  } while (false)

TEST_F(TrapAddressing, EveryRegister) {
  static const std::uint8_t* base_copy;
  static std::int64_t stride_copy;
  base_copy = from_.data() + 64;
  stride_copy = 32;
  LOAD_WITH("rax", "rcx");
  LOAD_WITH("rcx", "rdx");
  LOAD_WITH("rdx", "rsi");
  LOAD_WITH("rsi", "rdi");
  LOAD_WITH("rdi", "r8");
  LOAD_WITH("r8", "r9");
  LOAD_WITH("r9", "r10");
  LOAD_WITH("r10", "r11");
  LOAD_WITH("r11", "r12");
  LOAD_WITH("r12", "r13");
  LOAD_WITH("r13", "r14");
  LOAD_WITH("r14", "r15");
  LOAD_WITH("r15", "rax");
}

TEST_F(TrapAddressing, RbxRbpAndRsp) {
  const std::uint8_t* const base = from_.data() + 64;
  const std::int64_t stride = 32;
  // Compilers do not let an asm claim rbx or rbp everywhere: saved by hand, below the red zone.
  asm volatile(
      "lea -128(%%rsp), %%rsp\n\tpush %%rbp\n\tmov %0, %%rbp\n\ttileloadd (%%rbp,%1,1), %%tmm0\n\tpop %%rbp\n\t"
      "lea 128(%%rsp), %%rsp" ::"a"(base),
      "c"(stride)
      : "memory");
  EXPECT_TRUE(loaded(64, 96));
  asm volatile(
      "lea -128(%%rsp), %%rsp\n\tpush %%rbx\n\tpush %%rbp\n\tmov %0, %%rbx\n\tmov %1, %%rbp\n\t"
      "tileloadd 32(%%rbx,%%rbp,1), %%tmm0\n\tpop %%rbp\n\tpop %%rbx\n\tlea 128(%%rsp), %%rsp" ::"a"(base),
      "c"(stride)
      : "memory");
  EXPECT_TRUE(loaded(96, 128));
  std::uint64_t first, second;
  std::memcpy(&first, base, 8);
  std::memcpy(&second, base + 32, 8);
  asm volatile(
      "lea -128(%%rsp), %%rsp\n\tpush %1\n\tpush %0\n\ttileloadd (%%rsp,%2,1), %%tmm0\n\t"
      "lea 144(%%rsp), %%rsp" ::"r"(first),
      "r"(second), "r"(std::int64_t{8})
      : "memory");
  EXPECT_TRUE(loaded(64, 96));
}

TEST_F(TrapTest, EachThreadHasItsOwnTiles) {
  const Config mine{{2, 8}};
  const auto from = counted_bytes(64);
  TRAP_LDTILECFG(&mine);
  TRAP_TILELOADD(0, from.data(), 8);
  std::thread([&from, this] {
    // Linux lets a thread inherit the configuration, though not the tiles, of the thread that starts it.
    if (!native()) {
      EXPECT_TRUE(same(stored_config(), Config()));
    }
    const Config other{{1, 4}, {2, 16}};
    TRAP_LDTILECFG(&other);
    TRAP_TILELOADD(0, from.data() + 48, 16);
    _tile_zero(1);
    EXPECT_TRUE(same(stored_config(), other));
    _tile_release();
  }).join();
  EXPECT_TRUE(same(stored_config(), mine));
  std::vector<std::uint8_t> to(16, 0xaa);
  TRAP_TILESTORED(0, to.data(), 8);
  EXPECT_EQ(std::memcmp(to.data(), from.data(), 16), 0);
}

}  // namespace
