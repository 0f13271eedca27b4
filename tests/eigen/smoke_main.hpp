// A short list of forms that other translation units compile under the macros of Eigen that change its products.
#pragma once

#include "expression_test.hpp"

namespace expression_test {

/// Emulated forms have the bits of amx::gemm(), and native ones those of Eigen, whatever the macros say.
template <class T>
void check_forms_under_macros() {
  const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> a = random<T>(20, 30), b = random<T>(30, 25),
                                                         d = random<T>(20, 25);
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> c, e;
  c.noalias() = amx::emulated(a) * b;
  EXPECT_TRUE(ran(kCount<T>, 20, 25, 30));
  EXPECT_TRUE(same_bits(c, expected<T>(a, b)));
  c = d + 2 * (amx::emulated(a.transpose()).transpose() * b);
  EXPECT_TRUE(same_bits(c, expected<T>(a, b, 2, 1, d)));
  c = a * amx::emulated(b) - d;
  EXPECT_TRUE(same_bits(c, Matrix<T>(expected<T>(a, b) - d)));
  Eigen::Matrix<T, Eigen::Dynamic, 1> x = random<T>(30, 1), y = amx::emulated(a) * x;
  EXPECT_TRUE(same_bits(y, expected<T>(a, x)));

  // A square product of one matrix with itself, into a triangle, emulated and native.
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> s = random<T>(24, 24), t = random<T>(24, 24), u = t;
  t.template triangularView<Eigen::Lower>() = amx::emulated(s) * s;
  u.template triangularView<Eigen::Lower>() = expected<T>(s, s);
  EXPECT_TRUE(same_bits(t, u));
  s(0, 0) = T(1e-37);
  s(1, 1) = std::numeric_limits<T>::denorm_min();
  t.template triangularView<Eigen::Lower>() = amx::emulated(s) * s;
  EXPECT_EQ("native", amx::last_report().backend);
  const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> whole = s * s;
  u.template triangularView<Eigen::Lower>() = whole;
  EXPECT_LE((t - u).norm(), 24 * Eigen::NumTraits<T>::epsilon() * whole.norm());

  c.noalias() = amx::emulated(s) * s;
  e.noalias() = s * s;
  EXPECT_EQ("native", amx::last_report().backend);
  EXPECT_TRUE(same_bits(c, e));
}

}  // namespace expression_test
