// The tile state of a thread and what the AMX instructions do to it, after the pseudo-code of Intel's SDM, volume 2.
//
// Everything here may run in a signal handler: no allocation, no locks. A function returns null, or the reason for
// which the processor would fault; then nothing has changed.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace amx_trap {

struct Tiles {
  // As LDTILECFG reads it.
  struct Config {
    std::uint8_t palette, start_row, reserved[14];
    std::uint16_t row_bytes[16];
    std::uint8_t rows[16];
  };
  static_assert(sizeof(Config) == 64);

  Config config{};
  std::uint8_t data[8][16][64]{};

  const char* load_config(const void* memory) {
    Config wanted;
    std::memcpy(&wanted, memory, sizeof wanted);
    if (wanted.palette == 0) {
      release();
      return nullptr;
    }
    if (wanted.palette != 1) return "LDTILECFG: unknown palette";
    for (const std::uint8_t byte : wanted.reserved)
      if (byte != 0) return "LDTILECFG: reserved byte is not zero";
    for (int t = 0; t < 16; ++t) {
      const bool none = wanted.rows[t] == 0 && wanted.row_bytes[t] == 0;
      if (t >= 8 && !none) return "LDTILECFG: palette 1 has eight tiles";
      if (wanted.rows[t] > 16 || wanted.row_bytes[t] > 64) return "LDTILECFG: more than 16 rows or 64 bytes a row";
      if (!none && (wanted.rows[t] == 0 || wanted.row_bytes[t] == 0))
        return "LDTILECFG: rows without bytes, or bytes without rows";
    }
    config = wanted;
    std::memset(data, 0, sizeof data);
    return nullptr;
  }
  void store_config(void* memory) const { std::memcpy(memory, &config, sizeof config); }  // all zero if not configured
  void release() {
    std::memset(&config, 0, sizeof config);
    std::memset(data, 0, sizeof data);
  }
  bool usable(int tile) const { return config.palette == 1 && config.rows[tile] != 0; }

  const char* zero(int tile) {
    if (!usable(tile)) return "TILEZERO: the tile is not configured";
    std::memset(data[tile], 0, sizeof data[tile]);
    return nullptr;
  }
  const char* load(int tile, const std::uint8_t* base, std::int64_t stride) {
    if (!usable(tile)) return "TILELOADD: the tile is not configured";
    std::memset(data[tile], 0, sizeof data[tile]);  // rows and bytes beyond the configured ones
    for (int r = 0; r < config.rows[tile]; ++r) std::memcpy(data[tile][r], base + r * stride, config.row_bytes[tile]);
    return nullptr;
  }
  const char* store(int tile, std::uint8_t* base, std::int64_t stride) const {
    if (!usable(tile)) return "TILESTORED: the tile is not configured";
    for (int r = 0; r < config.rows[tile]; ++r) std::memcpy(base + r * stride, data[tile][r], config.row_bytes[tile]);
    return nullptr;
  }

  const char* multiply(int c, int a, int b) {
    if (c == a || c == b || a == b) return "TDPBF16PS: two operands are the same tile";
    if (!usable(c) || !usable(a) || !usable(b)) return "TDPBF16PS: a tile is not configured";
    if (config.row_bytes[a] % 4 != 0 || config.row_bytes[b] % 4 != 0 || config.row_bytes[c] % 4 != 0)
      return "TDPBF16PS: bytes a row are not a multiple of 4";
    if (config.rows[a] != config.rows[c] || config.row_bytes[b] != config.row_bytes[c] ||
        config.row_bytes[a] / 4 != config.rows[b])
      return "TDPBF16PS: the shapes of the tiles do not fit";
    const int pairs = config.rows[b], columns = config.row_bytes[c] / 4;
    for (int m = 0; m < config.rows[c]; ++m) {
      float sum[16], even[16] = {}, odd[16] = {};
      std::memcpy(sum, data[c][m], sizeof sum);
      for (int k = 0; k < pairs; ++k) {
        const float a_even = bf16(data[a][m] + 4 * k), a_odd = bf16(data[a][m] + 4 * k + 2);
        for (int n = 0; n < columns; ++n) {
          even[n] = flush(std::fma(a_even, bf16(data[b][k] + 4 * n), even[n]));
          odd[n] = flush(std::fma(a_odd, bf16(data[b][k] + 4 * n + 2), odd[n]));
        }
      }
      for (int n = 0; n < 16; ++n) sum[n] = n < columns ? flush(flush(sum[n]) + flush(even[n] + odd[n])) : 0;
      std::memcpy(data[c][m], sum, sizeof sum);
    }
    for (int m = config.rows[c]; m < 16; ++m) std::memset(data[c][m], 0, 64);
    return nullptr;
  }

 private:
  static float flush(float x) { return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x; }
  static float bf16(const std::uint8_t* at) {
    std::uint16_t half;
    std::memcpy(&half, at, sizeof half);
    const std::uint32_t bits = std::uint32_t{half} << 16;
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return flush(x);
  }
};

}  // namespace amx_trap
