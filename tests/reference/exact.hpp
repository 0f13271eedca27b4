// Exact products in Boost's cpp_bin_float, and the error bounds of docs/numerics.md.
#pragma once

#include "fp32_reference.hpp"
#include "fp64_reference.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>

namespace reference {

// Products of doubles have 106 bits; 400 bits hold sums of terms whose exponents differ by up to 2^250.
using Exact =
    boost::multiprecision::number<boost::multiprecision::cpp_bin_float<400, boost::multiprecision::digit_base_2>,
                                  boost::multiprecision::et_off>;
using ExactMatrix = std::vector<Exact>;  // column-major

template <class T>
ExactMatrix exact_product(const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& a,
                          const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& b) {
  ExactMatrix c(static_cast<std::size_t>(a.rows() * b.cols()));
  for (Eigen::Index j = 0; j < b.cols(); ++j)
    for (Eigen::Index i = 0; i < a.rows(); ++i)
      for (Eigen::Index k = 0; k < a.cols(); ++k)
        c[static_cast<std::size_t>(j * a.rows() + i)] += Exact(a(i, k)) * Exact(b(k, j));
  return c;
}

/// Theorem 1 and section 3.3: k (d + 1) 2^(v + w - 9 d) + 2^-53 |c|.
inline double fp64_bound(Eigen::Index k, int v, int w, int slices, double c) {
  return std::ldexp(static_cast<double>(k) * (slices + 1), v + w - 9 * slices) + std::ldexp(std::fabs(c), -53);
}

/// Section 4: the factor of (|A||B|)_ij.
inline double fp32_bound(Eigen::Index k, int products, Rule rule) {
  const double u = std::ldexp(1.0, -24), t = std::ceil(static_cast<double>(k) / 256);
  const auto gamma = [u](double n) { return n * u / (1 - n * u); };
  const double dropped = products == 1   ? std::ldexp(1.0, -7) + std::ldexp(1.0, -16)
                         : products == 3 ? std::ldexp(1.0, -15) + std::ldexp(1.0, -34)
                         : products == 6 ? std::ldexp(1.0, -24) + std::ldexp(1.0, -34)
                                         : 0;
  const double small = products == 1   ? 0
                       : products == 3 ? std::ldexp(1.0, -7) + std::ldexp(1.0, -15)
                                       : std::ldexp(1.0, -7) + std::ldexp(1.0, -13);
  const double leading = (1 + std::ldexp(1.0, -8)) * (1 + std::ldexp(1.0, -8));
  if (rule == Rule::tile) return dropped + leading * gamma(t + 23) + small * gamma(t + 23 + 8 * (products - 1));
  return dropped + leading * gamma(t + 38) + small * gamma(t + 6 + 256 * (products - 1));
}

}  // namespace reference
