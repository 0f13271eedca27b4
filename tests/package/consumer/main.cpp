#include <amx/emulated.hpp>
#include <amx/gemm.hpp>

#include <iostream>

int main() {
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(30, 40), b = Eigen::MatrixXd::Random(40, 20);
  Eigen::MatrixXd c = amx::emulated<21>(a) * b, d(30, 20);
  if (amx::gemm(30, 20, 40, 1.0, a.data(), 1, 30, b.data(), 1, 40, 0.0, d.data(), 1, 30) != amx::Verdict::in_range)
    return 1;
  std::cout << amx::last_report() << '\n';
  return c == d && (c - a * b).norm() < 1e-13 ? 0 : 2;
}
