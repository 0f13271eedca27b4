// 512 x 512 x 512 doubles on the backend that AMX_BACKEND names, against the portable one: equal to the last bit.
#include "cpu.hpp"
#include "support/amx_trap.hpp"

#include <amx/emulated.hpp>

#include <cstring>
#include <iostream>

int main() {
  if (amx_trap::install() == amx_trap::Mode::kTrapping) amx::detail::override_amx_unusable(nullptr);
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(512, 512), b = Eigen::MatrixXd::Random(512, 512);
  Eigen::MatrixXd c(512, 512), d(512, 512);
  c.noalias() = amx::emulated<21>(a) * b;
  std::cout << amx::last_report() << '\n';
  amx::Options portable;
  portable.backend = amx::Backend::portable;
  d.noalias() = amx::emulated<21>(a, portable) * b;
  std::cout << amx::last_report() << '\n';
  const bool equal = std::memcmp(c.data(), d.data(), sizeof(double) * 512 * 512) == 0;
  const std::string fault = amx_trap::faults();
  std::cout << (equal ? "equal bits" : "DIFFERENT BITS") << (fault.empty() ? "" : ", fault: " + fault) << '\n';
  return equal && fault.empty() ? 0 : 1;
}
