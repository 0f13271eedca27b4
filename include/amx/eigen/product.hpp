// The product: what Eigen calls when it evaluates Product<Emulated, R>, Product<L, Emulated> or both.
//
// One implementation serves every product kind (matrix, vector, outer, inner, small fixed sizes): it describes the
// operands to the library (dispatch.hpp), which computes or says that the native product has to run; that one is
// Eigen's own for the untagged factors, compiled here, with the user's flags.
#pragma once

#include <amx/detail/dispatch.hpp>
#include <amx/eigen/operand.hpp>

namespace amx::detail {

/// N of a tagged factor, 0 of others.
template <class T>
inline constexpr int kTaggedProducts = 0;
template <class X, int N>
inline constexpr int kTaggedProducts<Emulated<X, N>> = N;

template <class T>
const std::optional<Options>* options_of(const T&) {
  return nullptr;
}
template <class X, int N>
const std::optional<Options>* options_of(const Emulated<X, N>& tagged) {
  return &tagged.options();
}

/// Options of the left tag, else of the right, else the defaults; threads as Eigen has them.
template <class Lhs, class Rhs>
Options effective_options(const Lhs& lhs, const Rhs& rhs) {
  Options options;
  if (const std::optional<Options>* left = options_of(lhs); left && *left)
    options = **left;
  else if (const std::optional<Options>* right = options_of(rhs); right && *right)
    options = **right;
  else
    options = default_options();
  if (options.threads == 0) options.threads = Eigen::nbThreads();
  return options;
}

template <class Lhs, class Rhs>
inline constexpr int kProducts = kTaggedProducts<Lhs> != 0 ? kTaggedProducts<Lhs> : kTaggedProducts<Rhs>;

/// dst (the part `fill` of it) = alpha lhs rhs + beta dst, emulated, or by `native()`, which must do the same. `dst`
/// has direct access.
template <class Dst, class Lhs, class Rhs, class Native>
void run_product(Dst& dst, const Lhs& lhs, const Rhs& rhs, typename Dst::Scalar alpha, typename Dst::Scalar beta,
                 Fill fill, const Native& native) {
  using Scalar = typename Dst::Scalar;
  const Options options = effective_options(lhs, rhs);
  const Operand<typename Untagged<Lhs>::type> a(Untagged<Lhs>::get(lhs));
  const Operand<typename Untagged<Rhs>::type> b(Untagged<Rhs>::get(rhs));
  GemmArguments<Scalar> args;
  args.m = dst.rows();
  args.n = dst.cols();
  args.k = lhs.cols();
  args.alpha = alpha * a.factor() * b.factor();
  args.a = a.data();
  args.a_row_stride = a.row_stride();
  args.a_col_stride = a.col_stride();
  args.b = b.data();
  args.b_row_stride = b.row_stride();
  args.b_col_stride = b.col_stride();
  args.beta = beta;
  args.c = const_cast<Scalar*>(dst.data());
  args.c_row_stride = row_stride(dst);
  args.c_col_stride = col_stride(dst);
  args.products = kProducts<Lhs, Rhs>;
  args.fill = fill;
  Report report;
  if (emulate(args, options, report)) return;
  NativeRun run(report, options);
  native();
  run.finish();
}

template <class Lhs, class Rhs>
struct EmulatedProduct {
  using L = Untagged<Lhs>;
  using R = Untagged<Rhs>;
  using Product = Eigen::Product<Lhs, Rhs>;
  using Scalar = typename Product::Scalar;
  using Plain = typename Product::PlainObject;
  using Native = Eigen::internal::generic_product_impl<typename L::type, typename R::type>;

  template <class Dst>
  static void evalTo(Dst& dst, const Lhs& lhs, const Rhs& rhs) {
    if constexpr (kDirectAccess<Dst>)
      run_product(dst, lhs, rhs, Scalar(1), Scalar(0), Fill::full,
                  [&] { Native::evalTo(dst, L::get(lhs), R::get(rhs)); });
    else
      dst = evaluated(lhs, rhs);
  }

  template <class Dst>
  static void addTo(Dst& dst, const Lhs& lhs, const Rhs& rhs) {
    if constexpr (kDirectAccess<Dst>)
      run_product(dst, lhs, rhs, Scalar(1), Scalar(1), Fill::full,
                  [&] { Native::addTo(dst, L::get(lhs), R::get(rhs)); });
    else
      dst += evaluated(lhs, rhs);
  }

  template <class Dst>
  static void subTo(Dst& dst, const Lhs& lhs, const Rhs& rhs) {
    if constexpr (kDirectAccess<Dst>)
      run_product(dst, lhs, rhs, Scalar(-1), Scalar(1), Fill::full,
                  [&] { Native::subTo(dst, L::get(lhs), R::get(rhs)); });
    else
      dst -= evaluated(lhs, rhs);
  }

  template <class Dst>
  static void scaleAndAddTo(Dst& dst, const Lhs& lhs, const Rhs& rhs, const Scalar& alpha) {
    if constexpr (kDirectAccess<Dst>)  // not every native product has scaleAndAddTo, so that goes through an expression
      run_product(dst, lhs, rhs, alpha, Scalar(1), Fill::full,
                  [&] { dst.noalias() += (alpha * L::get(lhs)) * R::get(rhs); });
    else
      dst += alpha * evaluated(lhs, rhs);
  }

 private:
  /// For destinations without direct access, such as reverse() and indexed views.
  static Plain evaluated(const Lhs& lhs, const Rhs& rhs) {
    Plain result(lhs.rows(), rhs.cols());
    evalTo(result, lhs, rhs);
    return result;
  }
};

}  // namespace amx::detail

namespace Eigen {
namespace internal {

template <class L, class R, int Tag>
struct generic_product_impl<L, R, amx::detail::EmulatedShape, DenseShape, Tag> : amx::detail::EmulatedProduct<L, R> {};
template <class L, class R, int Tag>
struct generic_product_impl<L, R, DenseShape, amx::detail::EmulatedShape, Tag> : amx::detail::EmulatedProduct<L, R> {};
template <class L, class R, int Tag>
struct generic_product_impl<L, R, amx::detail::EmulatedShape, amx::detail::EmulatedShape, Tag>
    : amx::detail::EmulatedProduct<L, R> {};

}  // namespace internal
}  // namespace Eigen
