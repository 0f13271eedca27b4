// The tile state of one thread and what each AMX instruction does to it. Start at execute().
#pragma once

#include <cstdint>

#include "amx_trap_decode.hpp"
#include "amx_trap_dot.hpp"

namespace amx_trap {

/// The 64 bytes that LDTILECFG reads.
struct TileConfig {
  std::uint8_t palette;  // 0: not configured
  std::uint8_t start_row;
  std::uint8_t reserved[14];
  std::uint16_t colsb[16];  // bytes in a row; there are eight tiles, the rest is reserved
  std::uint8_t rows[16];
};
static_assert(sizeof(TileConfig) == 64);

/// All zero is the initial state. What tiles hold outside of their configured shape is always zero, because every
/// instruction that writes a tile zeroes it.
struct TileState {
  TileConfig config;
  Tile tiles[8];
};

inline constexpr int kTiles = 8;

/// Why the processor would refuse: null exception if it would not.
struct Violation {
  const char* exception = nullptr;  // "#UD" or "#GP"
  const char* rule = nullptr;
  int tile = -1;  // that violates it, if it is one
  explicit operator bool() const { return exception != nullptr; }
};

/// The memory operand: base + displacement, and index << scale for the rows of tiles. For LDTILECFG and STTILECFG the
/// address includes the index.
struct Address {
  std::uint64_t start = 0;
  std::uint64_t stride = 0;
};

/// The effects of one instruction, or the violation and no effect.
Violation execute(const Instruction& instruction, const Address& address, DotFunction dot, TileState* state);

}  // namespace amx_trap
