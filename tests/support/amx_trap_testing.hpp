// What the tests of the AMX trap share: a fixture and the instructions as macros. For files compiled with -mamx-tile
// and -mamx-bf16. Tile numbers are literals because they are part of the instruction.
#pragma once

#include <gtest/gtest.h>
#include <immintrin.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "amx_trap.hpp"
#include "amx_trap_tiles.hpp"

// gcc 12's intrinsics do not declare the memory they read.
#define TRAP_LDTILECFG(from) (trap_testing::memory_barrier(), _tile_loadconfig(from))
#define TRAP_TILELOADD(tile, from, stride) \
  do {                                     \
    trap_testing::memory_barrier();        \
    _tile_loadd(tile, from, stride);       \
  } while (false)
#define TRAP_STTILECFG(to) (_tile_storeconfig(to), trap_testing::memory_barrier())
#define TRAP_TILESTORED(tile, to, stride) \
  do {                                    \
    _tile_stored(tile, to, stride);       \
    trap_testing::memory_barrier();       \
  } while (false)

namespace trap_testing {

inline void memory_barrier() { asm volatile("" ::: "memory"); }

struct Shape {
  int rows, row_bytes;
};

struct alignas(64) Config : amx_trap::TileConfig {
  Config() { std::memset(static_cast<void*>(this), 0, sizeof *this); }
  /// Palette 1 with these shapes for tiles 0, 1, 2 ...
  Config(std::initializer_list<Shape> shapes) : Config() {
    palette = 1;
    int tile = 0;
    for (const Shape& shape : shapes) {
      rows[tile] = static_cast<std::uint8_t>(shape.rows);
      colsb[tile++] = static_cast<std::uint16_t>(shape.row_bytes);
    }
  }
};

inline Config stored_config() {
  Config config;
  std::memset(static_cast<void*>(&config), 0xaa, sizeof config);
  TRAP_STTILECFG(&config);
  return config;
}

inline std::vector<std::uint8_t> counted_bytes(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  return bytes;
}

/// Runs on real AMX where there is some; with the trap elsewhere.
class TrapTest : public testing::Test {
 protected:
  void SetUp() override {
    if (trap_.mode() == amx_trap::Mode::kUnsupported)
      GTEST_SKIP() << "AMX executes here in part: no AMX-BF16, or no permission for tile data";
    amx_trap::reset_faults();
    amx_trap::reset_counts();
    _tile_release();
  }
  void TearDown() override {
    if (trap_.mode() == amx_trap::Mode::kUnsupported) return;
    _tile_release();
    EXPECT_EQ(amx_trap::faults(), "");
  }
  bool native() const { return trap_.mode() == amx_trap::Mode::kNative; }

 private:
  amx_trap::Installed trap_;
};

/// Tests of what only the trap can tell.
class TrapOnlyTest : public TrapTest {
 protected:
  void SetUp() override {
    TrapTest::SetUp();
    if (native()) GTEST_SKIP() << "this processor executes AMX itself: there is no trap to ask";
  }
};

}  // namespace trap_testing
