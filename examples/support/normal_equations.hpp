// The normal equations A^T A x = A^T b through emulated products, and the exact values to compare with.
#pragma once

#include <amx/emulated.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <vector>

namespace examples {

struct LeastSquaresProblem {
  Eigen::MatrixXd a;
  Eigen::VectorXd b;
};

/// A levelling-like survey problem made from a seed: observed differences between neighbouring points, columns of
/// graded scale, and a right-hand side with a small inconsistent part.
LeastSquaresProblem make_problem(Eigen::Index rows, Eigen::Index cols, unsigned seed);

/// A^T A in double-double arithmetic: high + low, about 32 digits.
struct ExactGram {
  Eigen::MatrixXd high, low;
  /// Relative Frobenius error of g.
  double error_of(const Eigen::MatrixXd& g) const;
};
ExactGram exact_gram(const Eigen::MatrixXd& a);

struct Solution {
  int products;                   // 0: native
  amx::Report gram_report;        // of A^T A
  amx::Report right_hand_report;  // of A^T b
  double gram_error;              // relative to the exact A^T A
  double seconds;                 // both products
  bool positive_definite;
  std::vector<double> gradients;  // |A^T (b - A x)| / (|A|_F |b|) before refinement and after each step
};

/// Forms A^T A and A^T b with `products` component products (0: natively), solves by Cholesky, and refines with
/// residuals in FP64: x += (A^T A)^-1 A^T (b - A x).
Solution solve(const LeastSquaresProblem& problem, const ExactGram& exact, int products, int steps);

}  // namespace examples
