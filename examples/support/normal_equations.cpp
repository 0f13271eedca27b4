// Start at solve(). gram_and_right_hand() holds the two annotated products.
#include "normal_equations.hpp"

#include <chrono>
#include <cmath>
#include <random>

namespace examples {

LeastSquaresProblem make_problem(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::uniform_int_distribution<Eigen::Index> point(0, cols - 1);
  LeastSquaresProblem problem{Eigen::MatrixXd::Zero(rows, cols), {}};
  for (Eigen::Index row = 0; row < rows; ++row) {
    problem.a(row, point(generator)) += 1 + 0.1 * uniform(generator);
    problem.a(row, row % cols) -= 1 + 0.1 * uniform(generator);
  }
  for (Eigen::Index col = 0; col < cols; ++col)
    problem.a.col(col) *= std::pow(10.0, -2.0 * static_cast<double>(col) / static_cast<double>(cols));
  const Eigen::VectorXd x = Eigen::VectorXd::NullaryExpr(cols, [&] { return uniform(generator); });
  const Eigen::VectorXd noise = Eigen::VectorXd::NullaryExpr(rows, [&] { return 1e-3 * uniform(generator); });
  problem.b = problem.a * x + noise;
  return problem;
}

namespace {

/// high + low += x y, with an error of about 2^-104 relative.
void add_product(double& high, double& low, double x, double y) {
  const double product = x * y, product_error = std::fma(x, y, -product);
  const double sum = high + product, part = sum - high;
  const double sum_error = (high - (sum - part)) + (product - part);
  const double tail = low + (sum_error + product_error);
  high = sum + tail;
  low = tail - (high - sum);
}

template <int Products>
void gram_and_right_hand(const LeastSquaresProblem& problem, Eigen::MatrixXd& gram, Eigen::VectorXd& right_hand,
                         Solution& solution) {
  const Eigen::MatrixXd& a = problem.a;
  amx::Options options;
  options.report = &solution.gram_report;
  gram.noalias() = amx::emulated<Products>(a.transpose(), options) * a;
  options.report = &solution.right_hand_report;
  right_hand.noalias() = amx::emulated<Products>(a.transpose(), options) * problem.b;
}

void gram_and_right_hand(const LeastSquaresProblem& problem, Eigen::MatrixXd& gram, Eigen::VectorXd& right_hand,
                         Solution& solution) {
  switch (solution.products) {
    case 1: return gram_and_right_hand<1>(problem, gram, right_hand, solution);
    case 3: return gram_and_right_hand<3>(problem, gram, right_hand, solution);
    case 6: return gram_and_right_hand<6>(problem, gram, right_hand, solution);
    case 10: return gram_and_right_hand<10>(problem, gram, right_hand, solution);
    case 15: return gram_and_right_hand<15>(problem, gram, right_hand, solution);
    case 21: return gram_and_right_hand<21>(problem, gram, right_hand, solution);
    case 28: return gram_and_right_hand<28>(problem, gram, right_hand, solution);
    case 36: return gram_and_right_hand<36>(problem, gram, right_hand, solution);
    default:
      gram.noalias() = problem.a.transpose() * problem.a;
      right_hand.noalias() = problem.a.transpose() * problem.b;
      solution.gram_report.backend = solution.right_hand_report.backend = "native";
  }
}

}  // namespace

double ExactGram::error_of(const Eigen::MatrixXd& g) const { return ((g - high) - low).norm() / high.norm(); }

ExactGram exact_gram(const Eigen::MatrixXd& a) {
  ExactGram gram{Eigen::MatrixXd::Zero(a.cols(), a.cols()), Eigen::MatrixXd::Zero(a.cols(), a.cols())};
  std::vector<Eigen::Index> nonzero;
  for (Eigen::Index row = 0; row < a.rows(); ++row) {
    nonzero.clear();
    for (Eigen::Index col = 0; col < a.cols(); ++col)
      if (a(row, col) != 0) nonzero.push_back(col);
    for (const Eigen::Index j : nonzero)
      for (const Eigen::Index i : nonzero) add_product(gram.high(i, j), gram.low(i, j), a(row, i), a(row, j));
  }
  return gram;
}

Solution solve(const LeastSquaresProblem& problem, const ExactGram& exact, int products, int steps) {
  Solution solution{};
  solution.products = products;
  Eigen::MatrixXd gram(problem.a.cols(), problem.a.cols());
  Eigen::VectorXd right_hand(problem.a.cols());
  const auto start = std::chrono::steady_clock::now();
  gram_and_right_hand(problem, gram, right_hand, solution);
  solution.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  solution.gram_error = exact.error_of(gram);
  const Eigen::LLT<Eigen::MatrixXd> factor(gram);
  solution.positive_definite = factor.info() == Eigen::Success;
  if (!solution.positive_definite) return solution;
  const double scale = problem.a.norm() * problem.b.norm();
  Eigen::VectorXd x = factor.solve(right_hand);
  for (int step = 0;; ++step) {
    const Eigen::VectorXd gradient = problem.a.transpose() * (problem.b - problem.a * x);
    solution.gradients.push_back(gradient.norm() / scale);
    if (step == steps) return solution;
    x += factor.solve(gradient);
  }
}

}  // namespace examples
