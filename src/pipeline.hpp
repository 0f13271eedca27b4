// What the loops over a product share: layouts of the panels, the sums of a micro-tile and their way to C, parts of C.
// driver.cpp (the loop that defines the result) and blocked.cpp (the fast one) are its users.
#pragma once

#include "driver.hpp"
#include "reconstruct.hpp"

#include <algorithm>
#include <type_traits>

namespace amx::detail {

/// Scope in which a thread may run the kernel.
template <class T>
class KernelScope {
 public:
  explicit KernelScope(const Engine<T>& engine) : engine_(engine) {
    if (engine_.enter) engine_.enter(state_);
  }
  ~KernelScope() {
    if (engine_.leave) engine_.leave(state_);
  }
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;

 private:
  const Engine<T>& engine_;
  KernelState state_;
};

constexpr index_t ceil_div(index_t x, index_t y) { return (x + y - 1) / y; }

/// Narrows the columns [first, last) of row `row` to those that belong to the part of C that is computed.
inline void clip(Fill fill, index_t row, index_t& first, index_t& last) {
  switch (fill) {
    case Fill::full: break;
    case Fill::lower: last = std::min(last, row + 1); break;
    case Fill::strictly_lower: last = std::min(last, row); break;
    case Fill::upper: first = std::max(first, row); break;
    case Fill::strictly_upper: first = std::max(first, row + 1); break;
  }
}

/// The part of C^T that is computed.
inline Fill transposed(Fill fill) {
  switch (fill) {
    case Fill::full: return Fill::full;
    case Fill::lower: return Fill::upper;
    case Fill::strictly_lower: return Fill::strictly_upper;
    case Fill::upper: return Fill::lower;
    case Fill::strictly_upper: return Fill::strictly_lower;
  }
  return fill;
}

/// What both loops share: layouts, sources, the sums of a micro-tile and their way to C.
template <class T>
struct Pipeline {
  explicit Pipeline(const Problem<T>& given)
      : problem(given),
        args(given.arguments),
        blocks(given.engine.blocks(given.slices)),
        a_panel(a_layout(blocks.mr, blocks.tile_rows, blocks.kr, given.slices, given.engine.encoding)),
        b_panel(b_layout(blocks.nr, blocks.tile_cols, blocks.kr, given.slices, given.engine.encoding)),
        a(a_lines(args, given.a_exponents)),
        b(b_lines(args, given.b_exponents)),
        kernel_sets(std::is_same_v<T, double> ? accumulator_sets(given.slices) : 1),
        several_super_panels(std::is_same_v<T, double> && args.k > kSuperPanel) {}

  index_t tile_elements() const { return index_t{blocks.mr} * blocks.nr; }
  /// Sums of one micro-tile: those of the kernel, and the running sum of rounded super-panels if there are several.
  index_t sums_elements() const { return tile_elements() * (kernel_sets + several_super_panels); }
  index_t steps(index_t k_count) const { return ceil_div(k_count, blocks.kr); }

  /// End of the part of k from `k` on that is at most `length` long and lies within one super-panel.
  index_t k_end(index_t k, index_t length) const {
    const index_t super_end = std::is_same_v<T, double> ? (k / kSuperPanel + 1) * kSuperPanel : args.k;
    return std::min({k + length, super_end, args.k});
  }

  /// At the end of a super-panel (one of several): its sums, rounded, join the running sum.
  void close_super_panel([[maybe_unused]] T* sums) const {
    if constexpr (std::is_same_v<T, double>) {
      const index_t size = tile_elements();
      T* running = sums + kernel_sets * size;
      for (index_t i = 0; i < size; ++i) running[i] += round_sum(sums + i, size, kernel_sets);
      std::fill(sums, running, T(0));
    }
  }

  T value(const T* sum, [[maybe_unused]] index_t row, [[maybe_unused]] index_t col) const {
    if constexpr (std::is_same_v<T, double>) {
      const double rounded =
          several_super_panels ? sum[kernel_sets * tile_elements()] : round_sum(sum, tile_elements(), kernel_sets);
      return scale_by_power(rounded, problem.a_exponents[row] + problem.b_exponents[col]);
    } else {
      return *sum;
    }
  }

  /// Whether C has elements in rows [row0, row1) and columns [col0, col1).
  bool wanted(index_t row0, index_t row1, index_t col0, index_t col1) const {
    const index_t extreme_row = args.fill == Fill::upper || args.fill == Fill::strictly_upper ? row0 : row1 - 1;
    clip(args.fill, extreme_row, col0, col1);
    return col0 < col1;
  }

  /// The micro-tile with first element (row0, col0), from its sums to C, element by element.
  void store(const T* sums, index_t row0, index_t col0) const {
    const index_t rows = std::min<index_t>(blocks.mr, args.m - row0);
    for (index_t r = 0; r < rows; ++r) {
      const index_t row = row0 + r;
      index_t first = col0, last = std::min<index_t>(col0 + blocks.nr, args.n);
      clip(args.fill, row, first, last);
      for (index_t col = first; col < last; ++col)
        update(args.c[row * args.c_row_stride + col * args.c_col_stride],
               value(sums + r * blocks.nr + (col - col0), row, col), args.alpha, args.beta);
    }
  }

  const Problem<T>& problem;
  const GemmArguments<T>& args;
  const BlockSizes& blocks;
  PanelLayout a_panel, b_panel;
  LineView<T> a, b;
  int kernel_sets;
  bool several_super_panels;
};

}  // namespace amx::detail
