// Overloads that exist to be refused with a sentence instead of a page of templates.
#pragma once

#include <amx/eigen/tag.hpp>

namespace amx {
namespace detail {

template <class T>
inline constexpr bool kTagged = false;
template <class X, int N>
inline constexpr bool kTagged<Emulated<X, N>> = true;

template <class T>
void refuse_operand() {
  static_assert(!kTagged<T>, "amx::emulated: this operand is tagged already, one amx::emulated is enough");
  static_assert(
      kTagged<T>,
      "amx::emulated needs a dense matrix expression: evaluate triangular, selfadjoint, diagonal, permutation or "
      "sparse operands into a dense Matrix first; for an Array use .matrix()");
}

template <class T>
void refuse_factor() {
  static_assert(kAlwaysFalse<T>,
                "the other factor of an emulated product must be a dense matrix expression: evaluate it into a dense "
                "Matrix (for an Array use .matrix()), or drop amx::emulated, since products with triangular, "
                "selfadjoint, diagonal, permutation and sparse operands have faster algorithms of their own");
}

template <class T>
void refuse_sum() {
  static_assert(
      kAlwaysFalse<T>,
      "amx::emulated(X) marks a factor of a product and cannot be added: to multiply a sum tag the whole of it, "
      "amx::emulated<N>(X + Y) * Z");
}

}  // namespace detail

// Each returns a matrix, so that the sentence is the only error.

template <int N, class Derived>
Eigen::MatrixXd emulated(const Eigen::EigenBase<Derived>&) {
  detail::refuse_operand<Derived>();
  return {};
}
template <int N, class Derived>
Eigen::MatrixXd emulated(const Eigen::EigenBase<Derived>&, const Options&) {
  detail::refuse_operand<Derived>();
  return {};
}
template <class Derived>
Eigen::MatrixXd emulated(const Eigen::EigenBase<Derived>&) {
  detail::refuse_operand<Derived>();
  return {};
}
template <class Derived>
Eigen::MatrixXd emulated(const Eigen::EigenBase<Derived>&, const Options&) {
  detail::refuse_operand<Derived>();
  return {};
}

template <class X, int N, class R>
typename X::PlainObject operator*(const Emulated<X, N>&, const Eigen::EigenBase<R>&) {
  detail::refuse_factor<R>();
  return {};
}
template <class L, class X, int N>
typename X::PlainObject operator*(const Eigen::EigenBase<L>&, const Emulated<X, N>&) {
  detail::refuse_factor<L>();
  return {};
}

template <class X, int N, class T>
typename X::PlainObject operator+(const Emulated<X, N>&, const T&) {
  detail::refuse_sum<T>();
  return {};
}
template <class X, int N, class T>
typename X::PlainObject operator-(const Emulated<X, N>&, const T&) {
  detail::refuse_sum<T>();
  return {};
}
template <class T, class X, int N>
typename X::PlainObject operator+(const Eigen::MatrixBase<T>&, const Emulated<X, N>&) {
  detail::refuse_sum<T>();
  return {};
}
template <class T, class X, int N>
typename X::PlainObject operator-(const Eigen::MatrixBase<T>&, const Emulated<X, N>&) {
  detail::refuse_sum<T>();
  return {};
}

}  // namespace amx
