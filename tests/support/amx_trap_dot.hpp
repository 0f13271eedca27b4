// The arithmetic of TDPBF16PS, twice: with AVX2 and FMA for speed, and in portable C++ to check that.
//
// By the SDM (volume 2, TDPBF16PS, Operation): for each row m and column n, one chain of fused multiply-adds over the
// even elements of the pairs and one over the odd ones, each from zero; dest += even + odd. Every operation rounds to
// nearest even with DAZ = FTZ = 1; MXCSR is neither consulted nor updated. (Intel's Intrinsics Guide writes one chain
// that adds both products to the destination in turn. It is older and rounds differently; the SDM is followed.)
#pragma once

#include <cstdint>

namespace amx_trap {

inline constexpr int kTileRows = 16;
inline constexpr int kTileRowBytes = 64;

struct Tile {
  alignas(64) std::uint8_t row[kTileRows][kTileRowBytes];
};

/// dest (rows x columns floats) += a (rows x pairs of BF16) * b (pairs x columns of BF16 pairs). What dest holds
/// outside of rows x columns becomes undefined.
struct DotShape {
  int rows, pairs, columns;
};
using DotFunction = void (*)(const DotShape& shape, const Tile& a, const Tile& b, Tile* dest);

/// Sums are formed in double and rounded once.
void dot_reference(const DotShape& shape, const Tile& a, const Tile& b, Tile* dest);
/// Same bits, except which NaN a NaN is (the SDM does not say). Needs has_avx2_fma().
void dot_avx2(const DotShape& shape, const Tile& a, const Tile& b, Tile* dest);
bool has_avx2_fma();

}  // namespace amx_trap
