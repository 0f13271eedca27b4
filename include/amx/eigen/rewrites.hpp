// Forms around a tagged product that would lose the tag, make copies or not compile.
//
//   scalars:   s * (L * R), (L * R) * s, -(L * R)    become (s L) * R, whose scalar ends up in alpha
//   diagonal:  (L * R).diagonal(), .trace()          stay n dot products, as in Eigen: native, no temporary
//   transpose: (L * R).transpose(), .adjoint()       become R^T * L^T where Eigen does that for its own products (5.x)
#pragma once

#include <amx/eigen/product.hpp>

namespace amx {

// ---- Scalars ----
// These take a Product itself, so they are better matches than the operators of its base MatrixBase, and
// argument-dependent lookup finds them through the tag.

template <class S, class L, class R, std::enable_if_t<std::is_arithmetic_v<S> && detail::kProducts<L, R> != 0, int> = 0>
auto operator*(const S& scalar, const Eigen::Product<L, R, Eigen::DefaultProduct>& product) {
  return (static_cast<typename Eigen::internal::traits<L>::Scalar>(scalar) * product.lhs()) * product.rhs();
}
template <class L, class R, class S, std::enable_if_t<std::is_arithmetic_v<S> && detail::kProducts<L, R> != 0, int> = 0>
auto operator*(const Eigen::Product<L, R, Eigen::DefaultProduct>& product, const S& scalar) {
  return scalar * product;
}
template <class L, class R, std::enable_if_t<detail::kProducts<L, R> != 0, int> = 0>
auto operator-(const Eigen::Product<L, R, Eigen::DefaultProduct>& product) {
  return (-product.lhs()) * product.rhs();
}

namespace detail {

/// Eigen's own rule for scalar * (L * R), for code that reaches the operators of MatrixBase: redone with the tag kept.
template <class S, class X, int N, class R>
struct ScaledProduct {
  using Left = std::decay_t<decltype(std::declval<const S&>() * std::declval<const X&>())>;
  using type = Eigen::Product<Emulated<Left, N>, R, Eigen::DefaultProduct>;
  template <class Xpr>
  static type get(const Xpr& xpr) {
    const auto& product = xpr.rhs();
    return type(product.lhs().with(xpr.lhs().functor().m_other * product.lhs().nested()), product.rhs());
  }
};

/// The untagged product, evaluated coefficient by coefficient.
template <class L, class R>
struct LazyProduct {
  using type = Eigen::Product<typename Untagged<L>::type, typename Untagged<R>::type, Eigen::LazyProduct>;
  static type get(const Eigen::Product<L, R, Eigen::DefaultProduct>& product) {
    return type(Untagged<L>::get(product.lhs()), Untagged<R>::get(product.rhs()));
  }
};

/// evaluator<Diagonal<const Product<L, R>, Index>> for tagged factors.
template <class L, class R, int Index>
struct DiagonalEvaluator : Eigen::internal::evaluator<Eigen::Diagonal<const typename LazyProduct<L, R>::type, Index>> {
  using Lazy = Eigen::Diagonal<const typename LazyProduct<L, R>::type, Index>;
  using XprType = Eigen::Diagonal<const Eigen::Product<L, R, Eigen::DefaultProduct>, Index>;
  explicit DiagonalEvaluator(const XprType& xpr)
      : Eigen::internal::evaluator<Lazy>(Lazy(LazyProduct<L, R>::get(xpr.nestedExpression()), xpr.index())) {}
};

}  // namespace detail
}  // namespace amx

namespace Eigen {
namespace internal {

template <class S1, class S2, class Plain, class X, int N, class R>
struct evaluator<CwiseBinaryOp<scalar_product_op<S1, S2>, const CwiseNullaryOp<scalar_constant_op<S1>, Plain>,
                               const Product<amx::Emulated<X, N>, R, DefaultProduct>>>
    : evaluator<typename amx::detail::ScaledProduct<S1, X, N, R>::type> {
  typedef CwiseBinaryOp<scalar_product_op<S1, S2>, const CwiseNullaryOp<scalar_constant_op<S1>, Plain>,
                        const Product<amx::Emulated<X, N>, R, DefaultProduct>>
      XprType;
  explicit evaluator(const XprType& xpr)
      : evaluator<typename amx::detail::ScaledProduct<S1, X, N, R>::type>(
            amx::detail::ScaledProduct<S1, X, N, R>::get(xpr)) {}
};

template <class Dst, class S1, class S2, class Plain, class X, int N, class R, class Functor>
struct Assignment<Dst,
                  CwiseBinaryOp<scalar_product_op<S1, S2>, const CwiseNullaryOp<scalar_constant_op<S1>, Plain>,
                                const Product<amx::Emulated<X, N>, R, DefaultProduct>>,
                  Functor, Dense2Dense> {
  typedef CwiseBinaryOp<scalar_product_op<S1, S2>, const CwiseNullaryOp<scalar_constant_op<S1>, Plain>,
                        const Product<amx::Emulated<X, N>, R, DefaultProduct>>
      Source;
  static void run(Dst& dst, const Source& source, const Functor& functor) {
    call_assignment_no_alias(dst, amx::detail::ScaledProduct<S1, X, N, R>::get(source), functor);
  }
};

// ---- Diagonal ----

template <class X, int N, class R, int Index>
struct evaluator<Diagonal<const Product<amx::Emulated<X, N>, R, DefaultProduct>, Index>>
    : amx::detail::DiagonalEvaluator<amx::Emulated<X, N>, R, Index> {
  using amx::detail::DiagonalEvaluator<amx::Emulated<X, N>, R, Index>::DiagonalEvaluator;
};
template <class L, class X, int N, int Index>
struct evaluator<Diagonal<const Product<L, amx::Emulated<X, N>, DefaultProduct>, Index>>
    : amx::detail::DiagonalEvaluator<L, amx::Emulated<X, N>, Index> {
  using amx::detail::DiagonalEvaluator<L, amx::Emulated<X, N>, Index>::DiagonalEvaluator;
};
template <class X, int N, class Y, int M, int Index>
struct evaluator<Diagonal<const Product<amx::Emulated<X, N>, amx::Emulated<Y, M>, DefaultProduct>, Index>>
    : amx::detail::DiagonalEvaluator<amx::Emulated<X, N>, amx::Emulated<Y, M>, Index> {
  using amx::detail::DiagonalEvaluator<amx::Emulated<X, N>, amx::Emulated<Y, M>, Index>::DiagonalEvaluator;
};

}  // namespace internal
}  // namespace Eigen

// ---- Transpose ----

#if EIGEN_VERSION_AT_LEAST(4, 90, 0)

namespace amx::detail {

template <class L, class R, int Option>
struct TransposedProduct {
  using Derived = Eigen::Product<L, R, Option>;
  using TransposeType = Eigen::Product<std::decay_t<decltype(std::declval<const R&>().transpose())>,
                                       std::decay_t<decltype(std::declval<const L&>().transpose())>, Option>;
  using AdjointType = TransposeType;  // scalars are real
  static TransposeType run_transpose(const Derived& product) {
    return TransposeType(product.rhs().transpose(), product.lhs().transpose());
  }
  static AdjointType run_adjoint(const Derived& product) { return run_transpose(product); }
};

}  // namespace amx::detail

namespace Eigen {
namespace internal {

template <class X, int N, class R, int Option, int Kind>
struct product_transpose_helper<amx::Emulated<X, N>, R, Option, Kind>
    : amx::detail::TransposedProduct<amx::Emulated<X, N>, R, Option> {};
template <class L, class X, int N, int Option, int Kind>
struct product_transpose_helper<L, amx::Emulated<X, N>, Option, Kind>
    : amx::detail::TransposedProduct<L, amx::Emulated<X, N>, Option> {};
template <class X, int N, class Y, int M, int Option, int Kind>
struct product_transpose_helper<amx::Emulated<X, N>, amx::Emulated<Y, M>, Option, Kind>
    : amx::detail::TransposedProduct<amx::Emulated<X, N>, amx::Emulated<Y, M>, Option> {};

}  // namespace internal
}  // namespace Eigen

#endif
