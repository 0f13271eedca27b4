// Layout of packed operand panels: the interface between packing (pack.cpp) and kernels.
//
// A line is a row of A or a column of B. A panel holds mr rows of A (or nr columns of B) over some k steps of kr
// elements, all slices, as a sequence of tiles:
//
//     panel:  [k step 0: [slice 0: tile 0, tile 1..] [slice 1: ..] ..] [k step 1: ..] ..
//
// A tile of A has tile_lines rows of kr elements; a tile of B has kr / 2 rows of 2 * tile_lines elements. Both pair
// element k with element k + kr/2 (the two products that one 32-bit lane of TDPBF16PS adds):
//
//     A, one row r:    k=0  k=h | k=1  k=h+1 | ..   | k=h-1  k=kr-1         h = kr / 2
//     B, row k:        c=0: k  k+h | c=1: k  k+h | .. | c=tile_lines-1: k  k+h
//
// Elements are 16 bits wide, BF16 or (digits only, where the engine wants it) integers; the type bf16 stands for both.
//
// In both pictures element k of a line is at   line offset + (k mod h) * pair_stride + (k >= h).
// A dot product does not mind the pairing as long as A and B agree; pairing k with k + h keeps packing free of
// shuffles.
#pragma once

#include "limits.hpp"

namespace amx::detail {

/// How a slice is stored. Digits are integers of at most 9 bits and a sign, so int16 holds them as well as BF16 does.
enum class Encoding { floats, integers };  // BF16, int16

struct PanelLayout {
  int lines;       // mr or nr
  int tile_lines;  // lines of one tile; divides `lines`
  int kr;          // even
  int slices;
  int line_stride;  // between the lines of a tile
  int pair_stride;  // between the pairs of a line
  Encoding encoding;

  index_t step_elements() const { return index_t{slices} * lines * kr; }
  /// Elements from one slice to the next within a k step.
  index_t slice_elements() const { return index_t{lines} * kr; }
  /// First element of a line within its slice of a k step.
  index_t line_offset(int line) const {
    return index_t{line / tile_lines} * tile_lines * kr + index_t{line % tile_lines} * line_stride;
  }
  index_t k_offset(int k) const { return k < kr / 2 ? k * pair_stride : (k - kr / 2) * pair_stride + 1; }
};

inline PanelLayout a_layout(int mr, int tile_rows, int kr, int slices, Encoding encoding = Encoding::floats) {
  return {mr, tile_rows, kr, slices, kr, 2, encoding};
}
inline PanelLayout b_layout(int nr, int tile_cols, int kr, int slices, Encoding encoding = Encoding::floats) {
  return {nr, tile_cols, kr, slices, 2, 2 * tile_cols, encoding};
}

}  // namespace amx::detail
