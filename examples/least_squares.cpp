// Least squares by the normal equations on real input: what each number of component products gives, in one table.
//
// Reading order: main(), then support/normal_equations.cpp, where the two annotated products are.
#include "support/least_squares_options.hpp"
#include "support/matrix_market.hpp"
#include "support/normal_equations.hpp"

#include <iomanip>
#include <iostream>
#include <set>
#include <sstream>

namespace {

using examples::LeastSquaresOptions;
using examples::LeastSquaresProblem;
using examples::Solution;

constexpr unsigned kSeed = 20260904;

LeastSquaresProblem load(const LeastSquaresOptions& options) {
  LeastSquaresProblem problem;
  if (options.matrix_path.empty()) {
    problem = examples::make_problem(600, 120, kSeed);
    std::cout << "survey-like problem, seed " << kSeed;
  } else {
    problem.a = examples::read_matrix_market(options.matrix_path);
    std::cout << options.matrix_path;
  }
  std::cout << ": " << problem.a.rows() << " x " << problem.a.cols() << '\n';
  if (problem.a.rows() < problem.a.cols())
    throw std::invalid_argument("the matrix has fewer rows than columns: A^T A would be singular; transpose it");
  if (!options.right_hand_path.empty()) {
    const Eigen::MatrixXd b = examples::read_matrix_market(options.right_hand_path);
    if (b.cols() != 1 || b.rows() != problem.a.rows())
      throw std::invalid_argument(options.right_hand_path + ": the right-hand side is " + std::to_string(b.rows()) +
                                  " x " + std::to_string(b.cols()) + ", the matrix needs " +
                                  std::to_string(problem.a.rows()) + " x 1");
    problem.b = b;
  } else if (!options.matrix_path.empty()) {
    problem.b = problem.a * Eigen::VectorXd::Ones(problem.a.cols());
    for (Eigen::Index i = 0; i < problem.b.size(); ++i) problem.b(i) += i % 2 == 0 ? 1e-3 : -1e-3;
  }
  if (options.set) {
    if (options.set_row > problem.a.rows() || options.set_col > problem.a.cols())
      throw std::invalid_argument("--set: entry outside of the matrix");
    problem.a(options.set_row - 1, options.set_col - 1) = options.set_value;
  }
  return problem;
}

void print_header(int steps) {
  std::cout << "\ngradient: |A^T (b - A x)| / (|A| |b|) before refinement and after each step\n\n"
            << "products  backend        A^T A error  time [s]  gradient";
  for (int step = 1; step <= steps; ++step) std::cout << std::setw(10) << "step " + std::to_string(step);
  std::cout << '\n';
}

void print_row(const Solution& s) {
  std::cout << std::setw(8) << (s.products == 0 ? "native" : std::to_string(s.products)) << "  " << std::left
            << std::setw(13) << s.gram_report.backend << std::right << std::scientific << std::setprecision(2)
            << std::setw(13) << s.gram_error << std::setw(10) << std::setprecision(1) << s.seconds;
  if (!s.positive_definite) std::cout << "  A^T A is not positive definite";
  for (const double gradient : s.gradients) std::cout << std::setw(10) << gradient;
  std::cout << std::endl;
}

/// Which entry sent a product to the native path, in the coordinates of the file.
std::string explain(const amx::Report& report, const std::string& right_name) {
  if (report.verdict == amx::Verdict::in_range) return {};
  std::ostringstream text;
  text << to_string(report.verdict) << ": ";
  if (report.operand == 'A')
    text << "entry (" << report.col + 1 << ", " << report.row + 1 << ") of A, met in A^T, is " << report.value;
  else if (report.operand == 'B')
    text << "entry (" << report.row + 1 << ", " << report.col + 1 << ") of " << right_name << " is " << report.value;
  else
    text << "the bound is " << report.value;
  text << "; " << report.reason;
  return text.str();
}

void run(const LeastSquaresOptions& options) {
  const LeastSquaresProblem problem = load(options);
  const examples::ExactGram exact = examples::exact_gram(problem.a);
  print_header(options.steps);
  std::set<std::string> fallbacks;
  for (const int products : options.products) {
    const Solution solution = examples::solve(problem, exact, products, options.steps);
    print_row(solution);
    fallbacks.insert(explain(solution.gram_report, "A"));
    fallbacks.insert(explain(solution.right_hand_report, "b"));
  }
  fallbacks.erase(std::string());
  if (!fallbacks.empty()) std::cout << "\nSome products ran natively:\n";
  for (const std::string& reason : fallbacks) std::cout << "  " << reason << '\n';
}

}  // namespace

int main(int argc, char** argv) try {
  const LeastSquaresOptions options = examples::parse_least_squares_options(argc, argv);
  if (options.help)
    std::cout << examples::kLeastSquaresUsage;
  else
    run(options);
  return 0;
} catch (const std::bad_alloc&) {
  std::cerr << "least_squares: not enough memory for this matrix\n";
  return 2;
} catch (const std::exception& error) {
  std::cerr << "least_squares: " << error.what() << '\n';
  return 2;
}
