// The AMX backend: TDPBF16PS on the packed panels, FP64 digits (amx_digits.hpp) and FP32 residuals (amx_residuals.hpp).
//
// Compiled twice, by amx_bf16_avx2.cpp and amx_bf16_avx512.cpp, which differ in the vectors that drain the tiles.
#pragma once

#include "../kernel.hpp"
#include "amx_digits.hpp"
#include "amx_residuals.hpp"

namespace amx::detail {
namespace {

// ---- Tile state and block sizes ----

void enter(KernelState& state) {
  static_assert(sizeof state.bytes == sizeof(TileConfig));
  TileConfig found;
  tile_save_config(found);
  __builtin_memcpy(state.bytes, &found, sizeof found);
  tile_configure(full_tiles());
}

void leave(const KernelState& state) {
  TileConfig found;
  __builtin_memcpy(&found, state.bytes, sizeof found);
  if (found.palette == 0)
    _tile_release();
  else
    tile_configure(found);
}

// Blocks around 256 x 192 keep a block's panels of one chunk and its sums within 1 MiB of L2. The chunk (kc) is short,
// so that the A panel (16 rows, all slices) stays in L1.
constexpr BlockSizes kDigits[kMaxSlices] = {{16, 32, 32, 16, 16, 256, 192, 256}, {16, 32, 32, 16, 16, 256, 192, 256},
                                            {16, 32, 32, 16, 16, 256, 192, 256}, {16, 16, 32, 16, 16, 256, 192, 256},
                                            {16, 16, 32, 16, 16, 256, 192, 128}, {16, 16, 32, 16, 16, 256, 192, 128},
                                            {16, 16, 32, 16, 16, 192, 128, 128}, {16, 16, 32, 16, 16, 192, 128, 128}};
constexpr BlockSizes kResidualBlocks = {32, 32, 32, 16, 16, 256, 192, kResidualPanel};
constexpr BlockSizes kResiduals[3] = {kResidualBlocks, kResidualBlocks, kResidualBlocks};

constexpr Engine<double> digit_engine(const OperandKernels<double>& operands) {
  return {kDigits, run_digits, &operands, Encoding::floats, enter, leave};
}
constexpr Engine<float> residual_engine(const OperandKernels<float>& operands) {
  return {kResiduals, run_residuals, &operands, Encoding::floats, enter, leave};
}

}  // namespace
}  // namespace amx::detail
