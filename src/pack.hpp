// Packing: a strided operand becomes panels of slices in the layout of panel.hpp. This is the plain loop, for any
// layout; it defines what the fast ones of kernels/operands.hpp compute.
#pragma once

#include "operand.hpp"

namespace amx::detail {

/// Packs lines [first, first + layout.lines) over k in [k_begin, k_end) to `panel`, which receives
/// ceil((k_end - k_begin) / kr) * layout.step_elements() elements. Lines and elements beyond the operand are zero, so
/// that kernels need no edge case. Thread-safe for distinct panels.
template <class T>
void pack_panel(const LineView<T>& source, const PanelLayout& layout, index_t first, index_t k_begin, index_t k_end,
                bf16* panel);

/// The same for several panels, as OperandKernels::pack.
template <class T>
void pack_panels(const PackJob<T>& job);

}  // namespace amx::detail
