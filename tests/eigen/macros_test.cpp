// The forms under Eigen's macros; compiled once per macro (tests/CMakeLists.txt), which AMX_TEST_MACRO names.
#include "smoke_main.hpp"

TEST(Macros, Double) { expression_test::check_forms_under_macros<double>(); }
TEST(Macros, Float) { expression_test::check_forms_under_macros<float>(); }

#ifdef EIGEN_DONT_PARALLELIZE
TEST(Macros, OneThread) {
  const Eigen::MatrixXd a = expression_test::random<double>(300, 20), b = expression_test::random<double>(20, 300);
  const Eigen::MatrixXd c = amx::emulated<6>(a) * b;
  EXPECT_EQ(1, amx::last_report().threads);
}
#endif
