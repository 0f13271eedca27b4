// One product, then its outcome on stdout; run by CTest under different values of AMX_BACKEND and AMX_VERBOSE.
#include <amx/emulated.hpp>

#include <iostream>

int main(int argc, char**) try {
  amx::Options options = argc > 1 ? amx::Options() : amx::default_options();
  if (argc > 1)
    options.backend = amx::Backend::portable;  // any argument: an explicit backend, which beats the environment
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(5, 6);
  const Eigen::MatrixXd c = amx::emulated<10>(a, options) * a.transpose();
  std::cout << "ran " << amx::last_report().backend << " " << c.rows() << std::endl;
} catch (const std::exception& error) {
  std::cout << "error " << error.what() << std::endl;
}
