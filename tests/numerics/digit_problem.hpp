// A double product as the driver takes it, for tests that choose the engine: operands scanned, C as the caller has it.
#pragma once

#include "driver.hpp"
#include "scan.hpp"

#include <amx/products.hpp>

#include <Eigen/Core>

#include <vector>

namespace numerics_test {

/// Refers to a, b and c, which must outlive it. All are column-major.
struct DigitProblem {
  DigitProblem(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, Eigen::MatrixXd& c, int products)
      : arguments{a.rows(), b.cols(), a.cols(), 1.0,      a.data(), 1,        a.rows(), b.data(),
                  1,        b.rows(), 0.0,      c.data(), 1,        c.rows(), products, amx::detail::Fill::full},
        a_exponents(static_cast<std::size_t>(a.rows())),
        b_exponents(static_cast<std::size_t>(b.cols())) {
    amx::detail::scan(amx::detail::a_lines(arguments, nullptr), a_exponents.data(), 1);
    amx::detail::scan(amx::detail::b_lines(arguments, nullptr), b_exponents.data(), 1);
  }

  amx::detail::Problem<double> on(const amx::detail::Engine<double>& engine) const {
    const int slices = amx::slices_for<double>(arguments.products);
    return {arguments, a_exponents.data(), b_exponents.data(), slices, amx::detail::digit_schedule(slices), engine};
  }

  amx::detail::GemmArguments<double> arguments;
  std::vector<int> a_exponents, b_exponents;
};

}  // namespace numerics_test
