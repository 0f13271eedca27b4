// The compile-time checks of the expression layer and their sentences: what is supported, and what to write instead.
#pragma once

#include <amx/products.hpp>

#include <Eigen/Core>

#include <type_traits>

namespace amx::detail {

template <class>
inline constexpr bool kAlwaysFalse = false;

template <class T>
inline constexpr bool kSupportedScalar = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// slices_for() of a supported scalar; 1 for others, whose error has been given.
template <class T, int N>
constexpr int checked_slices() {
  if constexpr (kSupportedScalar<T>)
    return slices_for<T>(N);
  else
    return 1;
}

template <class T>
constexpr int default_products() {
  if constexpr (kSupportedScalar<T>)
    return kDefaultProducts<T>;
  else
    return 1;
}

template <class T, int N>
constexpr void check_scalar_and_products() {
  static_assert(
      kSupportedScalar<T>,
      "amx::emulated supports float and double only: use .cast<float>() or .cast<double>() on the operands, or "
      "drop amx::emulated for this product");
  static_assert(!std::is_same_v<T, double> || checked_slices<T, N>() != 0,
                "amx::emulated<N> of double: N must be 1, 3, 6, 10, 15, 21, 28 or 36");
  static_assert(!std::is_same_v<T, float> || checked_slices<T, N>() != 0,
                "amx::emulated<N> of float: N must be 1, 3, 6 or 9");
}

template <int N, int M>
constexpr void check_equal_products() {
  static_assert(N == M,
                "amx::emulated: both factors are tagged, with different numbers of products; tag one of them, or both "
                "with the same number");
}

template <class T>
void refuse_as_matrix() {
  static_assert(kAlwaysFalse<T>,
                "amx::emulated(X) is not a matrix, it marks a factor of a product: write C = amx::emulated<N>(X) * Y");
}

/// Eigen::Product<Lhs, Rhs>, named only after the scalars have been compared: a product of float and double is an error
/// deep inside Eigen otherwise.
template <class Lhs, class Rhs>
struct CheckedProduct {
  using L = Eigen::internal::traits<Lhs>;
  using R = Eigen::internal::traits<Rhs>;
  static constexpr bool kSame = std::is_same_v<typename L::Scalar, typename R::Scalar>;
  static_assert(kSame,
                "amx::emulated: the factors have different scalar types (float and double, say): use .cast<>() on one");
  static constexpr int kLeft = L::ColsAtCompileTime, kRight = R::RowsAtCompileTime;
  static_assert(kLeft == Eigen::Dynamic || kRight == Eigen::Dynamic || kLeft == kRight,
                "amx::emulated: invalid matrix product, the inner dimensions of the factors differ");
  using type = std::conditional_t<kSame, Eigen::Product<Lhs, std::conditional_t<kSame, Rhs, Lhs>>, void>;
};

}  // namespace amx::detail
