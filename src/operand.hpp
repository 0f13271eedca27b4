// An operand as the pipeline reads it, and the two loops that read it: the range scan and packing.
//
// The plain loops of scan.cpp and pack.cpp define what they compute. Engines bring their own, compiled for their
// instruction set from kernels/operands.hpp; the tests compare the two.
#pragma once

#include "panel.hpp"

#include <type_traits>

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

/// Magnitudes as integers: for finite values the order of IEEE numbers of one sign is that of their integers, infinity
/// is above all finite values and NaN above infinity.
template <class T>
using Bits = std::conditional_t<std::is_same_v<T, double>, std::int64_t, std::int32_t>;

/// The largest integer: no magnitude less one has this value, so it stands for "none".
template <class T>
inline constexpr Bits<T> kNoMagnitude = static_cast<Bits<T>>(~(std::uint64_t{1} << 63) >> (64 - 8 * sizeof(T)));

/// Panel i holds lines [first + i * layout.lines, ..) of `source` over k in [k_begin, k_end), at panel + i * stride.
template <class T>
struct PackJob {
  const LineView<T>* source;
  const PanelLayout* layout;
  index_t first;
  index_t panels;
  index_t k_begin, k_end;
  bf16* panel;
  index_t stride;
};

template <class T>
struct OperandKernels {
  /// line_max[i] = largest magnitude of line first + i, for i in [0, count); returns the smallest nonzero one of all
  /// these lines less one, kNoMagnitude<T> if there is none.
  Bits<T> (*scan)(const LineView<T>& source, index_t first, index_t count, Bits<T>* line_max);
  /// As pack_panel() in pack.hpp, for each of `panels` consecutive panels.
  void (*pack)(const PackJob<T>& job);
};

}  // namespace amx::detail
