// M.triangularView<Mode>() = (or +=, -=) a tagged product.
//
// Eigen sends these past generic_product_impl, to a selector that digs into the factors. Here they are one call that
// computes and writes the triangle only, without a temporary.
#pragma once

#include <amx/eigen/product.hpp>

namespace amx::detail {

template <int Mode>
constexpr Fill triangle() {
  constexpr bool kNoDiagonal = (Mode & Eigen::ZeroDiag) != 0;  // UnitDiag cannot be written to: Eigen asserts
  if constexpr ((Mode & Eigen::Lower) != 0)
    return kNoDiagonal ? Fill::strictly_lower : Fill::lower;
  else
    return kNoDiagonal ? Fill::strictly_upper : Fill::upper;
}

template <class Matrix, class Lhs, class Rhs, int Mode, bool IsOuter>
struct TriangularProduct {
  using Product = Eigen::Product<Lhs, Rhs, Eigen::DefaultProduct>;
  using Scalar = typename Matrix::Scalar;
  using L = Untagged<Lhs>;
  using R = Untagged<Rhs>;
  using NativeProduct = Eigen::Product<typename L::type, typename R::type, Eigen::DefaultProduct>;

  /// The triangle of mat = alpha product (+ mat if `add`).
  static void run(Matrix& mat, const Product& product, const Scalar& alpha, bool add) {
    if constexpr (kDirectAccess<Matrix>) {
      run_product(mat, product.lhs(), product.rhs(), alpha, add ? Scalar(1) : Scalar(0), triangle<Mode>(),
                  [&] { run_native(mat, product, alpha, add); });
    } else {
      const typename Product::PlainObject full = product;
      assign(mat, full, alpha, add);
    }
  }

 private:
  static void run_native(Matrix& mat, const Product& product, const Scalar& alpha, bool add) {
    const NativeProduct native(L::get(product.lhs()), R::get(product.rhs()));
#ifdef EIGEN_USE_BLAS
    // Eigen takes A * A for the symmetric A * A^T here and calls SYRK, which is wrong; the whole product is right.
    const typename Product::PlainObject full = native;
    assign(mat, full, alpha, add);
#else
    Eigen::general_product_to_triangular_selector<Matrix, NativeProduct, Mode, IsOuter>::run(mat, native, alpha, add);
#endif
  }

  template <class Full>
  static void assign(Matrix& mat, const Full& full, const Scalar& alpha, bool add) {
    if (add)
      mat.template triangularView<Mode>() += alpha * full;
    else
      mat.template triangularView<Mode>() = alpha * full;
  }
};

}  // namespace amx::detail

namespace Eigen {

// One for each value of the flag, because Eigen specialises on it alone.

template <class Matrix, class X, int N, class R, int Mode>
struct general_product_to_triangular_selector<Matrix, Product<amx::Emulated<X, N>, R, DefaultProduct>, Mode, false>
    : amx::detail::TriangularProduct<Matrix, amx::Emulated<X, N>, R, Mode, false> {};
template <class Matrix, class L, class X, int N, int Mode>
struct general_product_to_triangular_selector<Matrix, Product<L, amx::Emulated<X, N>, DefaultProduct>, Mode, false>
    : amx::detail::TriangularProduct<Matrix, L, amx::Emulated<X, N>, Mode, false> {};
template <class Matrix, class X, int N, class Y, int M, int Mode>
struct general_product_to_triangular_selector<Matrix, Product<amx::Emulated<X, N>, amx::Emulated<Y, M>, DefaultProduct>,
                                              Mode, false>
    : amx::detail::TriangularProduct<Matrix, amx::Emulated<X, N>, amx::Emulated<Y, M>, Mode, false> {};

template <class Matrix, class X, int N, class R, int Mode>
struct general_product_to_triangular_selector<Matrix, Product<amx::Emulated<X, N>, R, DefaultProduct>, Mode, true>
    : amx::detail::TriangularProduct<Matrix, amx::Emulated<X, N>, R, Mode, true> {};
template <class Matrix, class L, class X, int N, int Mode>
struct general_product_to_triangular_selector<Matrix, Product<L, amx::Emulated<X, N>, DefaultProduct>, Mode, true>
    : amx::detail::TriangularProduct<Matrix, L, amx::Emulated<X, N>, Mode, true> {};
template <class Matrix, class X, int N, class Y, int M, int Mode>
struct general_product_to_triangular_selector<Matrix, Product<amx::Emulated<X, N>, amx::Emulated<Y, M>, DefaultProduct>,
                                              Mode, true>
    : amx::detail::TriangularProduct<Matrix, amx::Emulated<X, N>, amx::Emulated<Y, M>, Mode, true> {};

}  // namespace Eigen
