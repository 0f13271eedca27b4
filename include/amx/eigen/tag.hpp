// The tag: amx::emulated<N>(X) marks X as a factor of an emulated product, and the product operators that accept it.
//
// Emulated<X, N> is a view like Eigen's TriangularView: an EigenBase, not a MatrixBase, so that it cannot be mistaken
// for a matrix. Eigen::Product<Emulated<X, N>, R> is an ordinary dense expression whose evaluator finds the
// implementation of product.hpp through the evaluator shape given here. Everything that is not a product of dense real
// matrices is refused with a sentence (refusals.hpp).
#pragma once

#include <amx/eigen/checks.hpp>
#include <amx/options.hpp>
#include <amx/products.hpp>

#include <Eigen/Core>

#include <optional>
#include <type_traits>
#include <utility>

namespace amx {

template <class Xpr, int N>
class Emulated;

namespace detail {

/// Evaluator shape of Emulated: what makes Eigen look for generic_product_impl<.., EmulatedShape, ..>.
struct EmulatedShape {
  static const char* debugName() { return "amx::EmulatedShape"; }
};

}  // namespace detail
}  // namespace amx

namespace Eigen {
namespace internal {

template <class Xpr, int N>
struct traits<amx::Emulated<Xpr, N>> : traits<Xpr> {
  // Without NestByRefBit a Product stores the tag by value, so that `auto p = emulated<N>(A) * B` does not dangle.
  enum {
    Flags = traits<Xpr>::Flags & ~(NestByRefBit | LvalueBit | DirectAccessBit | LinearAccessBit | PacketAccessBit)
  };
};

template <class Xpr, int N>
struct evaluator_traits<amx::Emulated<Xpr, N>> {
  typedef IndexBased Kind;
  typedef amx::detail::EmulatedShape Shape;
};

}  // namespace internal
}  // namespace Eigen

namespace amx {

/// A dense matrix expression marked for emulation; made by emulated(). Holds matrices by reference and expressions by
/// value, exactly as Eigen's own expressions do.
template <class Xpr, int N>
class Emulated : public Eigen::EigenBase<Emulated<Xpr, N>> {
  using Nested = typename Eigen::internal::ref_selector<Xpr>::type;
  using Traits = Eigen::internal::traits<Emulated>;

 public:
  using Scalar = typename Traits::Scalar;
  using RealScalar = typename Eigen::NumTraits<Scalar>::Real;
  using StorageIndex = typename Traits::StorageIndex;
  enum {
    RowsAtCompileTime = Traits::RowsAtCompileTime,
    ColsAtCompileTime = Traits::ColsAtCompileTime,
    MaxRowsAtCompileTime = Traits::MaxRowsAtCompileTime,
    MaxColsAtCompileTime = Traits::MaxColsAtCompileTime,
    SizeAtCompileTime = Xpr::SizeAtCompileTime,
    MaxSizeAtCompileTime = Xpr::MaxSizeAtCompileTime,
    IsVectorAtCompileTime = Xpr::IsVectorAtCompileTime,
    Flags = Traits::Flags
  };

  Emulated(const Xpr& xpr, const std::optional<Options>& options) : xpr_(xpr), options_(options) {}

  Eigen::Index rows() const { return xpr_.rows(); }
  Eigen::Index cols() const { return xpr_.cols(); }
  const Xpr& nested() const { return xpr_; }
  /// Empty: amx::default_options() at the time of evaluation.
  const std::optional<Options>& options() const { return options_; }

  auto transpose() const { return with(xpr_.transpose()); }
  auto adjoint() const { return with(xpr_.transpose()); }  // scalars are real
  auto operator-() const { return with(-xpr_); }

  /// The same tag and options on another expression.
  template <class Other>
  auto with(const Other& other) const {
    return Emulated<std::decay_t<Other>, N>(other, options_);
  }

  // What Eigen calls for `C = emulated<N>(A)`, `C += ..` and conversions to a matrix.
  template <class Dst>
  void evalTo(Dst&) const {
    detail::refuse_as_matrix<Dst>();
  }
  template <class Dst>
  void addTo(Dst&) const {
    detail::refuse_as_matrix<Dst>();
  }
  template <class Dst>
  void subTo(Dst&) const {
    detail::refuse_as_matrix<Dst>();
  }

 private:
  Nested xpr_;
  std::optional<Options> options_;
};

/// Marks a dense expression of float or double: its product with another one is computed from N component products.
/// N: slices_for<Scalar>(N) != 0. Options: those given, else default_options() when the product is evaluated.
template <int N, class Derived>
Emulated<Derived, N> emulated(const Eigen::MatrixBase<Derived>& xpr) {
  detail::check_scalar_and_products<typename Derived::Scalar, N>();
  return Emulated<Derived, N>(xpr.derived(), std::nullopt);
}
template <int N, class Derived>
Emulated<Derived, N> emulated(const Eigen::MatrixBase<Derived>& xpr, const Options& options) {
  detail::check_scalar_and_products<typename Derived::Scalar, N>();
  return Emulated<Derived, N>(xpr.derived(), options);
}

/// With the default number of products: 6 for float, 21 for double.
template <class Derived>
auto emulated(const Eigen::MatrixBase<Derived>& xpr) {
  return emulated<detail::default_products<typename Derived::Scalar>()>(xpr);
}
template <class Derived>
auto emulated(const Eigen::MatrixBase<Derived>& xpr, const Options& options) {
  return emulated<detail::default_products<typename Derived::Scalar>()>(xpr, options);
}

// The products. Like those of MatrixBase they are const, which some of Eigen's rules match on.

template <class X, int N, class R>
const typename detail::CheckedProduct<Emulated<X, N>, R>::type operator*(const Emulated<X, N>& lhs,
                                                                         const Eigen::MatrixBase<R>& rhs) {
  return {lhs, rhs.derived()};
}
template <class L, class X, int N>
const typename detail::CheckedProduct<L, Emulated<X, N>>::type operator*(const Eigen::MatrixBase<L>& lhs,
                                                                         const Emulated<X, N>& rhs) {
  return {lhs.derived(), rhs};
}
/// Both factors tagged: the counts must agree; options of the left factor win.
template <class X, int N, class Y, int M>
const typename detail::CheckedProduct<Emulated<X, N>, Emulated<Y, M>>::type operator*(const Emulated<X, N>& lhs,
                                                                                      const Emulated<Y, M>& rhs) {
  detail::check_equal_products<N, M>();
  return {lhs, rhs};
}

// A scalar stays outside of the matrix and ends up in alpha.

template <class S, class X, int N, std::enable_if_t<std::is_arithmetic_v<S>, int> = 0>
auto operator*(const S& scalar, const Emulated<X, N>& tagged) {
  return tagged.with(static_cast<typename X::Scalar>(scalar) * tagged.nested());
}
template <class S, class X, int N, std::enable_if_t<std::is_arithmetic_v<S>, int> = 0>
auto operator*(const Emulated<X, N>& tagged, const S& scalar) {
  return scalar * tagged;
}
/// A quotient is not a multiple in floating point, so the matrix is divided as written, once, and no alpha made of it.
template <class S, class X, int N, std::enable_if_t<std::is_arithmetic_v<S>, int> = 0>
auto operator/(const Emulated<X, N>& tagged, const S& scalar) {
  return tagged.with(tagged.nested() / static_cast<typename X::Scalar>(scalar));
}

}  // namespace amx
