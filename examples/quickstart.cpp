// The annotation in a few lines: an emulated product, its error and its report; then one that is out of range and runs
// natively, visibly.
#include <amx/emulated.hpp>

#include <iostream>

int main() {
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(300, 200), b = Eigen::MatrixXd::Random(200, 100);
  const Eigen::MatrixXd native = a * b;
  Eigen::MatrixXd c(300, 100);

  c.noalias() = amx::emulated<10>(a) * b;  // 10 BF16 component products
  std::cout << amx::last_report() << "\n  relative difference to native: " << (c - native).norm() / native.norm()
            << '\n';

  c = amx::emulated(a) * b;  // the default: 21 products, full double accuracy
  std::cout << amx::last_report() << "\n  relative difference to native: " << (c - native).norm() / native.norm()
            << '\n';

  Eigen::MatrixXd tiny = a;
  tiny(17, 42) = 1e-60;  // below the BF16 range
  amx::Report report;
  amx::Options options;
  options.report = &report;
  c.noalias() = amx::emulated<10>(tiny, options) * b;  // so Eigen's own product runs
  std::cout << report << "\n  ran natively: " << (report.backend == "native" ? "yes" : "no") << '\n';
}
