// Forms that must not compile, each with the sentence that tests/eigen/refused.cmake expects. CASE selects one; 0 has
// none and must compile.
#include <amx/emulated.hpp>

#include <Eigen/Sparse>

#include <complex>

#if __has_include(<unsupported/Eigen/AutoDiff>)  // some packages of Eigen leave it out
#include <unsupported/Eigen/AutoDiff>
using Dual = Eigen::AutoDiffScalar<Eigen::Vector2d>;
#else
using Dual = std::complex<float>;
#endif

void refused();
void refused() {
  Eigen::MatrixXd a(3, 3), b(3, 3), c(3, 3);
  Eigen::MatrixXf f(3, 3);
  c = amx::emulated<10>(a) * b;
#if CASE == 1
  c = amx::emulated<7>(a) * b;
#elif CASE == 2
  f = amx::emulated<10>(f) * f;
#elif CASE == 3
  Eigen::MatrixXi i(3, 3);
  i = amx::emulated(i) * i;
#elif CASE == 4
  Eigen::MatrixXcd z(3, 3);
  z = amx::emulated<10>(z) * z;
#elif CASE == 5
  Eigen::Matrix<long double, 3, 3> l;
  l = amx::emulated<10>(l) * l;
#elif CASE == 6
  Eigen::Matrix<Eigen::half, 3, 3> h;
  h = amx::emulated<3>(h) * h;
#elif CASE == 7
  Eigen::Matrix<Dual, 3, 3> d;
  d = amx::emulated<10>(d) * d;
#elif CASE == 8
  c = amx::emulated<10>(a) * f;
#elif CASE == 9
  c = f * amx::emulated<10>(a);
#elif CASE == 10
  c = amx::emulated<10>(a) * amx::emulated<6>(b);
#elif CASE == 11
  c = amx::emulated<10>(a);
#elif CASE == 12
  c += amx::emulated<10>(a);
#elif CASE == 13
  c = amx::emulated<10>(a) + b;
#elif CASE == 14
  c = b - amx::emulated<10>(a);
#elif CASE == 15
  c = amx::emulated<10>(a.triangularView<Eigen::Lower>()) * b;
#elif CASE == 16
  c = amx::emulated<10>(a.selfadjointView<Eigen::Lower>()) * b;
#elif CASE == 17
  c = amx::emulated<10>(a.diagonal().asDiagonal()) * b;
#elif CASE == 18
  c = amx::emulated<10>(a.array()) * b;
#elif CASE == 19
  Eigen::SparseMatrix<double> s(3, 3);
  c = amx::emulated<10>(s) * b;
#elif CASE == 20
  c = amx::emulated<10>(a) * b.triangularView<Eigen::Upper>();
#elif CASE == 21
  Eigen::SparseMatrix<double> s(3, 3);
  c = s * amx::emulated<10>(a);
#elif CASE == 22
  c = a.diagonal().asDiagonal() * amx::emulated<10>(b);
#elif CASE == 23
  c = amx::emulated<10>(a) * b.array();
#elif CASE == 24
  Eigen::Matrix<double, 3, 4> p;
  c = amx::emulated<10>(p) * Eigen::Matrix3d();
#elif CASE == 25
  Eigen::PermutationMatrix<3> q;
  c = amx::emulated<10>(a) * q;
#elif CASE == 26
  c = amx::emulated<10>(amx::emulated<10>(a)) * b;
#endif
}
