// AMX instructions by the "Operation" and "Exceptions" sections of volume 2 of Intel's SDM. The helper functions
// write_row_and_zero() and zero_upper_rows() are those of its volume 1, chapter on Intel AMX.
//
// start_row is kept as the SDM says, although nothing here is ever interrupted between two rows: a configuration may be
// loaded with one.
#include "amx_trap_tiles.hpp"

#include <cstring>

namespace amx_trap {
namespace {

const std::uint8_t* memory_at(std::uint64_t address) {
  return reinterpret_cast<const std::uint8_t*>(address);  // NOLINT: an address of the interrupted program
}
std::uint8_t* writable_memory_at(std::uint64_t address) { return reinterpret_cast<std::uint8_t*>(address); }

bool any_nonzero(const void* bytes, std::size_t count) {
  const auto* at = static_cast<const std::uint8_t*>(bytes);
  for (std::size_t i = 0; i < count; ++i)
    if (at[i] != 0) return true;
  return false;
}

void write_row_and_zero(Tile* tile, int row, const void* data, std::size_t bytes) {
  std::memcpy(tile->row[row], data, bytes);
  std::memset(tile->row[row] + bytes, 0, kTileRowBytes - bytes);
}

void zero_upper_rows(Tile* tile, int first) {
  std::memset(tile->row[first], 0, static_cast<std::size_t>(kTileRows - first) * kTileRowBytes);
}

// ---- exceptions, SDM volume 2, 2.10 ---------------------------------------------------------------------------------

/// Class AMX-E1. Palette 0 resets all, whatever the other bytes are.
Violation check_config(const TileConfig& config) {
  if (config.palette > 1) return {"#GP", "the palette is unknown"};
  if (config.palette == 0) return {};
  if (any_nonzero(config.reserved, sizeof config.reserved)) return {"#GP", "reserved bytes 2 to 15 are not zero"};
  if (any_nonzero(config.colsb + kTiles, 16))
    return {"#GP", "bytes 32 to 47 (row bytes of tiles 8 to 15) are not zero"};
  if (any_nonzero(config.rows + kTiles, 8)) return {"#GP", "bytes 56 to 63 (rows of tiles 8 to 15) are not zero"};
  for (int t = 0; t < kTiles; ++t) {
    if (config.colsb[t] > kTileRowBytes) return {"#GP", "more than 64 bytes in a row", t};
    if (config.rows[t] > kTileRows) return {"#GP", "more than 16 rows", t};
    if ((config.rows[t] == 0) != (config.colsb[t] == 0)) return {"#GP", "one of rows and row bytes is zero", t};
  }
  return {};
}

Violation check_configured(const TileConfig& config, int tile) {
  if (config.palette == 0) return {"#UD", "tiles are not configured"};
  if (config.rows[tile] == 0) return {"#UD", "the tile is not part of the configuration", tile};
  return {};
}

Violation check_whole_elements(const TileConfig& config, int tile) {
  if (const Violation violation = check_configured(config, tile)) return violation;
  if (config.colsb[tile] % 4 != 0) return {"#UD", "the bytes of a row are no multiple of 4", tile};
  return {};
}

/// Class AMX-E3: loads and stores.
Violation check_move(const Instruction& instruction, const TileConfig& config) {
  if (!instruction.memory.has_sib) return {"#UD", "the memory operand has no SIB byte"};
  if (const Violation violation = check_whole_elements(config, instruction.dest)) return violation;
  if (config.start_row >= config.rows[instruction.dest])
    return {"#UD", "start_row is beyond the rows", instruction.dest};
  return {};
}

/// Class AMX-E4: products. The limits of the multiplier (CPUID leaf 1EH) are those of palette 1.
Violation check_product(const Instruction& instruction, const TileConfig& config) {
  const int dest = instruction.dest, src1 = instruction.src1, src2 = instruction.src2;
  if (dest == src1 || dest == src2 || src1 == src2) return {"#UD", "two operands are the same tile"};
  for (const int tile : {dest, src1, src2})
    if (const Violation violation = check_whole_elements(config, tile)) return violation;
  if (config.colsb[dest] != config.colsb[src2]) return {"#UD", "row bytes of destination and second source differ"};
  if (config.rows[dest] != config.rows[src1]) return {"#UD", "rows of destination and first source differ"};
  if (config.colsb[src1] != 4 * config.rows[src2])
    return {"#UD", "pairs of the first source are not rows of the second"};
  return {};
}

// ---- operations -----------------------------------------------------------------------------------------------------

Violation load_config(const Address& address, TileState* state) {
  TileConfig config;
  std::memcpy(&config, memory_at(address.start), sizeof config);
  if (const Violation violation = check_config(config)) return violation;
  std::memset(state, 0, sizeof *state);
  if (config.palette != 0) state->config = config;
  return {};
}

void load_tile(const Address& address, int tile, TileState* state) {
  const int rows = state->config.rows[tile];
  const std::size_t bytes = state->config.colsb[tile];
  Tile* const to = &state->tiles[tile];
  zero_upper_rows(to, state->config.start_row);
  for (int row = state->config.start_row; row < rows; ++row)
    write_row_and_zero(to, row, memory_at(address.start + static_cast<std::uint64_t>(row) * address.stride), bytes);
  state->config.start_row = 0;
}

void store_tile(const Address& address, int tile, TileState* state) {
  const int rows = state->config.rows[tile];
  const std::size_t bytes = state->config.colsb[tile];
  for (int row = state->config.start_row; row < rows; ++row)
    std::memcpy(writable_memory_at(address.start + static_cast<std::uint64_t>(row) * address.stride),
                state->tiles[tile].row[row], bytes);
  state->config.start_row = 0;
}

void multiply(const Instruction& instruction, DotFunction dot, TileState* state) {
  const int rows = state->config.rows[instruction.dest], row_bytes = state->config.colsb[instruction.dest];
  Tile* const dest = &state->tiles[instruction.dest];
  dot({rows, state->config.colsb[instruction.src1] / 4, row_bytes / 4}, state->tiles[instruction.src1],
      state->tiles[instruction.src2], dest);
  const auto bytes = static_cast<std::size_t>(row_bytes);
  for (int row = 0; row < rows; ++row) std::memset(dest->row[row] + bytes, 0, kTileRowBytes - bytes);
  if (rows < kTileRows) zero_upper_rows(dest, rows);
  state->config.start_row = 0;
}

}  // namespace

Violation execute(const Instruction& instruction, const Address& address, DotFunction dot, TileState* state) {
  Violation violation;
  switch (instruction.kind) {
    case Kind::kLdtilecfg: return load_config(address, state);
    case Kind::kSttilecfg:
      std::memcpy(writable_memory_at(address.start), &state->config, sizeof state->config);
      return {};
    case Kind::kTilerelease: std::memset(state, 0, sizeof *state); return {};
    case Kind::kTilezero:
      violation = check_configured(state->config, instruction.dest);
      if (violation) return violation;
      zero_upper_rows(&state->tiles[instruction.dest], 0);
      state->config.start_row = 0;
      return {};
    case Kind::kTileloadd:
    case Kind::kTileloaddt1:
      violation = check_move(instruction, state->config);
      if (!violation) load_tile(address, instruction.dest, state);
      return violation;
    case Kind::kTilestored:
      violation = check_move(instruction, state->config);
      if (!violation) store_tile(address, instruction.dest, state);
      return violation;
    case Kind::kTdpbf16ps:
      violation = check_product(instruction, state->config);
      if (!violation) multiply(instruction, dot, state);
      return violation;
  }
  return violation;
}

}  // namespace amx_trap
