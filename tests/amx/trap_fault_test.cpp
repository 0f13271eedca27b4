// What the processor refuses with #UD or #GP is recorded with its reason, has no effect, and execution goes on behind
// it.
#include "support/amx_trap_testing.hpp"

namespace {

using trap_testing::Config;
using trap_testing::counted_bytes;
using trap_testing::memory_barrier;
using trap_testing::stored_config;

class TrapFault : public trap_testing::TrapOnlyTest {
 protected:
  void SetUp() override {
    TrapOnlyTest::SetUp();
    if (IsSkipped()) return;
    TRAP_LDTILECFG(&before_);
    amx_trap::reset_counts();
  }
  /// One fault, whose text contains each part; forgets it.
  void expect_fault(std::initializer_list<const char*> parts) {
    EXPECT_EQ(amx_trap::fault_count(), 1u);
    const std::string text = amx_trap::faults();
    for (const char* const part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
    EXPECT_EQ(amx_trap::counts().total(), 0u) << "a refused instruction is not executed";
    amx_trap::reset_faults();
  }
  void expect_refused(const Config& config, const char* rule) {
    TRAP_LDTILECFG(&config);
    expect_fault({"#GP in ldtilecfg", rule});
    const Config now = stored_config();
    EXPECT_EQ(std::memcmp(&now, &before_, 64), 0) << "the configuration stays";
    amx_trap::reset_counts();
  }
  template <class Instruction>
  void expect_refused_product(std::initializer_list<trap_testing::Shape> shapes, const char* rule,
                              Instruction instruction) {
    const Config config(shapes);
    TRAP_LDTILECFG(&config);
    amx_trap::reset_counts();
    instruction();
    expect_fault({"#UD in tdpbf16ps tmm", "at RIP 0x", rule});
  }

  const Config before_{{16, 64}, {16, 64}, {16, 64}};
  std::vector<std::uint8_t> memory_ = counted_bytes(1024);
};

TEST_F(TrapFault, Configurations) {
  Config config = before_;
  config.palette = 2;
  expect_refused(config, "palette");
  for (const int reserved : {0, 13}) {
    config = before_;
    config.reserved[reserved] = 1;
    expect_refused(config, "reserved bytes");
  }
  config = before_;
  config.colsb[8] = 64;
  expect_refused(config, "32 to 47");
  config = before_;
  config.rows[15] = 1;
  expect_refused(config, "56 to 63");
  expect_refused(Config{{16, 64}, {17, 64}}, "more than 16 rows (tmm1 has 17 rows of 64 bytes)");
  expect_refused(Config{{16, 68}}, "more than 64 bytes in a row (tmm0");
  expect_refused(Config{{0, 64}}, "one of rows and row bytes is zero (tmm0");
  expect_refused(Config{{16, 0}}, "one of rows and row bytes is zero (tmm0");
}

TEST_F(TrapFault, NotConfigured) {
  _tile_release();
  amx_trap::reset_counts();
  _tile_zero(3);
  expect_fault({"#UD in tilezero tmm3", "not configured"});
  TRAP_TILELOADD(0, memory_.data(), 64);
  expect_fault({"#UD in tileloadd tmm0", "stride 64", "not configured"});
  memory_barrier();
  _tile_stream_loadd(1, memory_.data(), 64);
  expect_fault({"#UD in tileloaddt1 tmm1", "not configured"});
  TRAP_TILESTORED(0, memory_.data(), 64);
  expect_fault({"#UD in tilestored tmm0", "not configured"});
  EXPECT_EQ(memory_, counted_bytes(1024)) << "nothing was stored";
  _tile_dpbf16ps(0, 1, 2);
  expect_fault({"#UD in tdpbf16ps tmm0, tmm1, tmm2", "not configured"});
}

TEST_F(TrapFault, TileOutsideOfTheConfiguration) {
  _tile_zero(3);
  expect_fault({"#UD in tilezero tmm3", "not part of the configuration"});
  _tile_dpbf16ps(0, 1, 7);
  expect_fault({"#UD in tdpbf16ps tmm0, tmm1, tmm7", "not part of the configuration (tmm7"});
}

TEST_F(TrapFault, RowsOfBrokenElements) {
  const Config config{{2, 6}};  // legal, and so is TILEZERO
  TRAP_LDTILECFG(&config);
  _tile_zero(0);
  amx_trap::reset_counts();
  TRAP_TILELOADD(0, memory_.data(), 64);
  expect_fault({"#UD in tileloadd tmm0", "multiple of 4 (tmm0 has 2 rows of 6 bytes)"});
  TRAP_TILESTORED(0, memory_.data(), 64);
  expect_fault({"#UD in tilestored tmm0", "multiple of 4"});
}

TEST_F(TrapFault, StartRowBeyondTheRows) {
  Config config{{2, 8}};
  config.start_row = 2;
  TRAP_LDTILECFG(&config);
  amx_trap::reset_counts();
  TRAP_TILELOADD(0, memory_.data(), 64);
  expect_fault({"#UD in tileloadd tmm0", "start_row"});
}

TEST_F(TrapFault, ProductsThatDoNotFit) {
  expect_refused_product({{8, 64}, {7, 64}, {16, 64}}, "rows of destination and first source differ (tmm0 has 8 rows",
                         [] { _tile_dpbf16ps(0, 1, 2); });
  expect_refused_product({{8, 64}, {8, 64}, {15, 64}}, "not rows of the second", [] { _tile_dpbf16ps(0, 1, 2); });
  expect_refused_product({{8, 32}, {8, 64}, {16, 64}}, "destination and second source differ",
                         [] { _tile_dpbf16ps(0, 1, 2); });
  expect_refused_product({{8, 62}, {8, 64}, {16, 62}}, "multiple of 4 (tmm0", [] { _tile_dpbf16ps(0, 1, 2); });
  // Assemblers refuse these: tmm0, tmm0, tmm1; tmm0, tmm1, tmm0; tmm0, tmm1, tmm1.
  expect_refused_product({{16, 64}, {16, 64}}, "same tile", [] { asm volatile(".byte 0xc4, 0xe2, 0x72, 0x5c, 0xc0"); });
  expect_refused_product({{16, 64}, {16, 64}}, "same tile", [] { asm volatile(".byte 0xc4, 0xe2, 0x7a, 0x5c, 0xc1"); });
  expect_refused_product({{16, 64}, {16, 64}}, "same tile", [] { asm volatile(".byte 0xc4, 0xe2, 0x72, 0x5c, 0xc1"); });
}

TEST_F(TrapFault, MemoryOperandWithoutSib) {
  // tileloadd (%rax), %tmm0 without SIB byte, and with a displacement behind it: no assembler writes these.
  asm volatile(".byte 0xc4, 0xe2, 0x7b, 0x4b, 0x00" ::"a"(memory_.data()));
  expect_fault({"#UD in tileloadd tmm0", "SIB"});
  asm volatile(".byte 0xc4, 0xe2, 0x7b, 0x4b, 0x40, 0x08" ::"a"(memory_.data()));
  expect_fault({"#UD in tileloadd tmm0", "SIB"});
  asm volatile(".byte 0xc4, 0xe2, 0x7a, 0x4b, 0x05, 0, 0, 0, 0" ::: "memory");
  expect_fault({"#UD in tilestored tmm0", "SIB"});
}

TEST_F(TrapFault, TheFirstIsToldAndTheOthersAreCounted) {
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  EXPECT_EQ(amx_trap::fault_count(), 3u);
  EXPECT_NE(amx_trap::faults().find("tilezero tmm4"), std::string::npos);
  EXPECT_NE(amx_trap::faults().find("; and 2 later faults"), std::string::npos);
  amx_trap::reset_faults();
  EXPECT_EQ(amx_trap::faults(), "");
}

}  // namespace
