// Packing: a strided operand becomes panels of BF16 slices in the layout of panel.hpp.
#pragma once

#include "panel.hpp"

namespace amx::detail {

/// An operand seen as lines (rows of A, columns of B) of k elements.
template <class T>
struct LineView {
  const T* data;
  index_t lines, length;
  index_t line_stride, k_stride;
  const int* exponents;  // per line: magnitudes lie below 2^exponent; not used for float

  const T* line(index_t i) const { return data + i * line_stride; }
};

/// Packs lines [first, first + layout.lines) over k in [k_begin, k_end) to `panel`, which receives
/// ceil((k_end - k_begin) / kr) * layout.step_elements() elements. Lines and elements beyond the operand are zero, so
/// that kernels need no edge case. Thread-safe for distinct panels.
template <class T>
void pack_panel(const LineView<T>& source, const PanelLayout& layout, index_t first, index_t k_begin, index_t k_end,
                bf16* panel);

}  // namespace amx::detail
