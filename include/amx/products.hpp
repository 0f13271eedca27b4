// Which numbers of BF16 component products exist for float and double, and how many slices each one needs.
//
// This is the one place that knows; the expression layer asserts on it at compile time, amx::gemm() at run time.
// docs/numerics.md derives the error of each count.
#pragma once

#include <type_traits>

namespace amx {

/// Products taken by amx::emulated(X) when no count is given: full accuracy of the format.
template <class T>
inline constexpr int kDefaultProducts = 0;
template <>
inline constexpr int kDefaultProducts<float> = 6;
template <>
inline constexpr int kDefaultProducts<double> = 21;

/// Number of BF16 slices per operand that `products` component products need, or 0 if the count is not supported.
///
/// double: d slices, products (i, j) with i + j < d, so d(d+1)/2 = 1, 3, 6, 10, 15, 21, 28, 36 for d = 1..8.
/// float:  1, 3, 6 (triangles of 1, 2, 3 slices) and 9 (all pairs of 3 slices).
template <class T>
constexpr int slices_for(int products) {
  static_assert(kDefaultProducts<T> != 0, "amx::slices_for: float or double");
  if constexpr (std::is_same_v<T, float>) {
    return products == 1 ? 1 : products == 3 ? 2 : products == 6 || products == 9 ? 3 : 0;
  } else {
    for (int d = 1; d <= 8; ++d)
      if (d * (d + 1) / 2 == products) return d;
    return 0;
  }
}

}  // namespace amx
