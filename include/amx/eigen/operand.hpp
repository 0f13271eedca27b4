// From an Eigen expression to pointer, strides and scalar factor.
//
// Eigen's blas_traits peel scalar factors, negation and transposition; what remains is read in place, whatever its
// strides, if it has direct access to memory, and evaluated once otherwise.
#pragma once

#include <amx/eigen/tag.hpp>

namespace amx::detail {

/// The expression behind a factor, tagged or not.
template <class T>
struct Untagged {
  using type = T;
  static const T& get(const T& factor) { return factor; }
};
template <class X, int N>
struct Untagged<Emulated<X, N>> {
  using type = X;
  static const X& get(const Emulated<X, N>& factor) { return factor.nested(); }
};

template <class T>
inline constexpr bool kDirectAccess = (static_cast<int>(Eigen::internal::traits<T>::Flags) &
                                       static_cast<int>(Eigen::DirectAccessBit)) != 0;

template <class T>
inline constexpr bool kRowMajor = (static_cast<int>(Eigen::internal::traits<T>::Flags) &
                                   static_cast<int>(Eigen::RowMajorBit)) != 0;

template <class T>
Eigen::Index row_stride(const T& x) {
  return kRowMajor<T> ? x.outerStride() : x.innerStride();
}
template <class T>
Eigen::Index col_stride(const T& x) {
  return kRowMajor<T> ? x.innerStride() : x.outerStride();
}

/// Keeps what it reads alive: by reference if it is read in place, else the evaluated copy.
template <class Xpr>
class Operand {
  using Blas = Eigen::internal::blas_traits<Xpr>;
  using Extracted = typename Eigen::internal::remove_all<typename Blas::ExtractType>::type;
  using Held =
      std::conditional_t<kDirectAccess<Extracted>, typename Blas::ExtractType, typename Extracted::PlainObject>;
  using Storage = std::decay_t<Held>;

 public:
  using Scalar = typename Xpr::Scalar;

  explicit Operand(const Xpr& xpr) : held_(Blas::extract(xpr)), factor_(Blas::extractScalarFactor(xpr)) {}
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;

  const Scalar* data() const { return held_.data(); }
  Eigen::Index row_stride() const { return detail::row_stride<Storage>(held_); }
  Eigen::Index col_stride() const { return detail::col_stride<Storage>(held_); }
  Scalar factor() const { return factor_; }

 private:
  const Held held_;
  const Scalar factor_;
};

}  // namespace amx::detail
