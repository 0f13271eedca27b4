// Thin wrappers over the AMX intrinsics: tile numbers as template arguments, and the compiler barriers they need.
//
// gcc 12 pastes the tile number into the text of the instruction, so it has to be a literal; hence the lists. Its
// intrinsics do not declare the memory they read either: tile_memory_barrier() must stand between writes by the same
// function and the loads that read them, or the writes may be deleted.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace amx::detail {
namespace {

inline void tile_memory_barrier() { asm volatile("" ::: "memory"); }

constexpr int kTileBytes = 1024;  // 16 rows of 64 bytes, dense
constexpr int kTileStride = 64;

template <int Tile>
void tile_zero() {
  static_assert(Tile >= 0 && Tile < 8);
  if constexpr (Tile == 0) _tile_zero(0);
  if constexpr (Tile == 1) _tile_zero(1);
  if constexpr (Tile == 2) _tile_zero(2);
  if constexpr (Tile == 3) _tile_zero(3);
  if constexpr (Tile == 4) _tile_zero(4);
  if constexpr (Tile == 5) _tile_zero(5);
  if constexpr (Tile == 6) _tile_zero(6);
  if constexpr (Tile == 7) _tile_zero(7);
}

template <int Tile>
void tile_load(const void* from) {
  static_assert(Tile >= 4 && Tile < 8, "operands live in tiles 4 to 7");
  if constexpr (Tile == 4) _tile_loadd(4, from, kTileStride);
  if constexpr (Tile == 5) _tile_loadd(5, from, kTileStride);
  if constexpr (Tile == 6) _tile_loadd(6, from, kTileStride);
  if constexpr (Tile == 7) _tile_loadd(7, from, kTileStride);
}

template <int Tile>
void tile_store(void* to) {
  static_assert(Tile >= 0 && Tile < 6, "accumulators live in tiles 0 to 5");
  if constexpr (Tile == 0) _tile_stored(0, to, kTileStride);
  if constexpr (Tile == 1) _tile_stored(1, to, kTileStride);
  if constexpr (Tile == 2) _tile_stored(2, to, kTileStride);
  if constexpr (Tile == 3) _tile_stored(3, to, kTileStride);
  if constexpr (Tile == 4) _tile_stored(4, to, kTileStride);
  if constexpr (Tile == 5) _tile_stored(5, to, kTileStride);
}

/// tile C += tile A * tile B; A in tile 4 or 6, B in tile 5 or 7.
template <int C, int A, int B>
void tile_multiply() {
  static_assert(C >= 0 && C < 6 && (A == 4 || A == 6) && (B == 5 || B == 7) && C != A && C != B);
  // clang-format off
#define AMX_MULTIPLY(c, a, b) if constexpr (C == c && A == a && B == b) _tile_dpbf16ps(c, a, b);
  AMX_MULTIPLY(0, 4, 5) AMX_MULTIPLY(0, 4, 7) AMX_MULTIPLY(0, 6, 5) AMX_MULTIPLY(0, 6, 7)
  AMX_MULTIPLY(1, 4, 5) AMX_MULTIPLY(1, 4, 7) AMX_MULTIPLY(1, 6, 5) AMX_MULTIPLY(1, 6, 7)
  AMX_MULTIPLY(2, 4, 5) AMX_MULTIPLY(2, 4, 7) AMX_MULTIPLY(2, 6, 5) AMX_MULTIPLY(2, 6, 7)
  AMX_MULTIPLY(3, 4, 5) AMX_MULTIPLY(3, 4, 7) AMX_MULTIPLY(3, 6, 5) AMX_MULTIPLY(3, 6, 7)
  AMX_MULTIPLY(4, 6, 5) AMX_MULTIPLY(4, 6, 7)
  AMX_MULTIPLY(5, 6, 7)
#undef AMX_MULTIPLY
  // clang-format on
}

/// The 64 bytes of LDTILECFG and STTILECFG.
struct alignas(64) TileConfig {
  std::uint8_t palette = 0;  // 0: tiles are in their initial state
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

/// All eight tiles with 16 rows of 64 bytes.
inline TileConfig full_tiles() {
  TileConfig config;
  config.palette = 1;
  for (int i = 0; i < 8; ++i) {
    config.rows[i] = 16;
    config.row_bytes[i] = 64;
  }
  return config;
}

inline void tile_configure(const TileConfig& config) {
  tile_memory_barrier();
  _tile_loadconfig(&config);
}

inline void tile_save_config(TileConfig& config) {
  _tile_storeconfig(&config);
  tile_memory_barrier();
}

}  // namespace
}  // namespace amx::detail
