// The native fallback: Eigen's own bits, from this translation unit, with the reason in the report. And the options.
#include "expression_test.hpp"

#include <sstream>

using namespace expression_test;

namespace {

class Fallback : public testing::Test {
 protected:
  Matrix<double> a = random<double>(30, 40), c;
  const Matrix<double> b = random<double>(40, 20), d = random<double>(30, 20);
  void SetUp() override { a(3, 7) = 1e-60; }

  void expect_native(const Matrix<double>& value) {
    const amx::Report r = amx::last_report();
    EXPECT_EQ("native", r.backend);
    EXPECT_EQ(amx::Verdict::too_small, r.verdict);
    EXPECT_EQ('A', r.operand);
    EXPECT_EQ(3, r.row);
    EXPECT_EQ(7, r.col);
    EXPECT_EQ(1e-60, r.value);
    EXPECT_FALSE(r.reason.empty());
    EXPECT_TRUE(same_bits(c, value));
  }
};

TEST_F(Fallback, EveryAssignmentHasEigensBits) {
  Matrix<double> native;
  c = amx::emulated<10>(a) * b;
  native = a * b;
  expect_native(native);
  c.noalias() = amx::emulated<10>(a) * b;
  native.noalias() = a * b;
  expect_native(native);
  c = native = d;
  c += amx::emulated<10>(a) * b;
  native += a * b;
  expect_native(native);
  c = native = d;
  c.noalias() -= amx::emulated<10>(a) * b;
  native.noalias() -= a * b;
  expect_native(native);
  c.noalias() = 3.5 * (amx::emulated<10>(a) * b);
  native.noalias() = 3.5 * (a * b);
  expect_native(native);
  c = d + amx::emulated<10>(a) * b;
  native = d + a * b;
  expect_native(native);
  c = (amx::emulated<10>(a) * b).transpose();
  native = (a * b).transpose();
  EXPECT_TRUE(same_bits(c, native));
}

TEST_F(Fallback, ScalarsSumsAndExpressionsHaveEigensBits) {
  Matrix<double> native;
  c = native = d;
  c += 2.5 * (amx::emulated<10>(a) * b);
  native += 2.5 * (a * b);
  expect_native(native);
  c = -(amx::emulated<10>(a) * b);
  native = -(a * b);
  expect_native(native);
  c = (amx::emulated<10>(a) * b) / 3;
  native = (a * b) / 3;
  expect_native(native);
  c = d - amx::emulated<10>(a) * b * 3;
  native = d - a * b * 3;
  expect_native(native);
  c = amx::emulated<10>(a) * b + d;
  native = a * b + d;
  expect_native(native);
  c = amx::emulated<10>(2.7 * a) * (b * 0.3);  // the scan is of a and b, the scalars belong to alpha
  native = (2.7 * a) * (b * 0.3);
  expect_native(native);
  const Matrix<double> zero = Matrix<double>::Zero(30, 40);
  c = amx::emulated<10>(a + zero) * b;
  native = (a + zero) * b;
  expect_native(native);
  c = amx::emulated<10>(a) * b * d.transpose();
  native = a * b * d.transpose();
  expect_native(native);
}

TEST_F(Fallback, VectorFormsHaveEigensBits) {
  const Matrix<double> zero = Matrix<double>::Zero(30, 40);
  const Vector<double> x = random<double>(40, 1), w = a.col(7);
  Matrix<double> native;
  c = amx::emulated<10>(a + zero) * x;
  native = (a + zero) * x;
  expect_native(native);
  c = 3 * (amx::emulated<10>(a) * x);
  native = 3 * (a * x);
  expect_native(native);
  c = 2.5 * (amx::emulated<10>(w) * x.transpose());
  native = 2.5 * (w * x.transpose());
  EXPECT_EQ("native", amx::last_report().backend);
  EXPECT_EQ(3, amx::last_report().row);
  EXPECT_EQ(0, amx::last_report().col);
  EXPECT_TRUE(same_bits(c, native));
}

// Where Eigen computes B^T * A^T, the report names the factors of that product.
TEST_F(Fallback, TransposedProductNamesItsOwnFactors) {
  c = (amx::emulated<10>(a) * b).transpose();
  const amx::Report r = amx::last_report();
  const bool swapped = EIGEN_VERSION_AT_LEAST(4, 90, 0);
  EXPECT_EQ(1e-60, r.value);
  EXPECT_EQ(swapped ? 'B' : 'A', r.operand);
  EXPECT_EQ(swapped ? 7 : 3, r.row);
  EXPECT_EQ(swapped ? 3 : 7, r.col);
}

TEST_F(Fallback, SmallFixedSizesVectorsAndTriangles) {
  Eigen::Matrix3d s = random<double>(3, 3);
  const Eigen::Matrix3d t = random<double>(3, 3);
  s(1, 2) = 1e-60;
  Eigen::Matrix3d e, f;
  e.noalias() = amx::emulated<6>(s) * t;
  f.noalias() = s * t;
  EXPECT_EQ("native", amx::last_report().backend);
  EXPECT_TRUE(same_bits(e, f));
  const Vector<double> x = random<double>(40, 1);
  const Vector<double> y = amx::emulated<6>(a) * x, z = a * x;
  EXPECT_EQ("native", amx::last_report().backend);
  EXPECT_TRUE(same_bits(y, z));
  Matrix<double> g = random<double>(20, 20);
  const Matrix<double> w = random<double>(20, 30);
  Matrix<double> h = g;
  g.triangularView<Eigen::Lower>() += amx::emulated<6>(w) * (a * b);
  EXPECT_NE("native", amx::last_report().backend);
  g = h;
  Matrix<double> tiny = w;
  tiny(0, 0) = 1e-60;
  const Matrix<double> right = random<double>(30, 20);
  g.triangularView<Eigen::Lower>() += amx::emulated<6>(tiny) * right;
  EXPECT_EQ("native", amx::last_report().backend);
  h.triangularView<Eigen::Lower>() += tiny * right;
  EXPECT_TRUE(same_bits(g, h));
}

TEST_F(Fallback, NotFiniteGivesIeeeResults) {
  a(3, 7) = 0.5;
  a(5, 6) = std::numeric_limits<double>::infinity();
  c.noalias() = amx::emulated(a) * b;
  const amx::Report r = amx::last_report();
  EXPECT_EQ(amx::Verdict::not_finite, r.verdict);
  EXPECT_EQ(5, r.row);
  EXPECT_EQ(6, r.col);
  EXPECT_TRUE(same_bits(c, (a * b).eval()));
  // The right factor, through a transpose: row and column are those of the factor as it stands in the product.
  Matrix<double> bt = b.transpose();
  bt(2, 9) = std::numeric_limits<double>::quiet_NaN();
  a(5, 6) = 0.5;
  c.noalias() = a * amx::emulated(bt).transpose();
  EXPECT_EQ('B', amx::last_report().operand);
  EXPECT_EQ(9, amx::last_report().row);
  EXPECT_EQ(2, amx::last_report().col);
}

TEST_F(Fallback, ErrorLeavesTheDestination) {
  amx::Options options;
  options.out_of_range = amx::OutOfRange::error;
  c = d;
  EXPECT_THROW(c.noalias() += amx::emulated<10>(a, options) * b, std::domain_error);
  EXPECT_TRUE(same_bits(c, d));
  EXPECT_THROW((c = amx::emulated<10>(a, options) * b), std::domain_error);
  EXPECT_TRUE(same_bits(c, d));
  try {
    c.noalias() = amx::emulated<10>(a, options) * b;
    FAIL();
  } catch (const std::domain_error& error) {
    EXPECT_NE(std::string::npos, std::string(error.what()).find("element (3, 7) of A is 1e-60")) << error.what();
  }
  EXPECT_TRUE(same_bits(c, d));
  EXPECT_EQ("none", amx::last_report().backend);
}

// Every form that is one assignment keeps its destination. A noalias() sum is two, as in Eigen: the first stays done.
TEST_F(Fallback, ErrorPerForm) {
  amx::Options options;
  options.out_of_range = amx::OutOfRange::error;
  const auto p = amx::emulated<10>(a, options) * b;
  const auto keeps = [&](auto&& form) {
    c = d;
    EXPECT_THROW(form(), std::domain_error);
    return same_bits(c, d);
  };
  EXPECT_TRUE(keeps([&] { c -= p; }));
  EXPECT_TRUE(keeps([&] { c = d + p; }));
  EXPECT_TRUE(keeps([&] { c = p + d; }));
  EXPECT_TRUE(keeps([&] { c += d + p; }));
  EXPECT_TRUE(keeps([&] { c.noalias() = p + d; }));
  EXPECT_TRUE(keeps([&] { c.noalias() -= 2 * p; }));
  EXPECT_TRUE(keeps([&] { c.topRows(30).noalias() = p; }));
  EXPECT_TRUE(keeps([&] { c.reverse() = p; }));
  EXPECT_TRUE(keeps([&] { c.reverse().noalias() -= p; }));
  c.setZero(30, 20);
  EXPECT_THROW(c.noalias() = d + p, std::domain_error);
  EXPECT_TRUE(same_bits(c, d));
  Matrix<double> t = random<double>(30, 30);
  const Matrix<double> before = t;
  EXPECT_THROW(t.triangularView<Eigen::Lower>() = amx::emulated<10>(a, options) * a.transpose(), std::domain_error);
  EXPECT_THROW(t.triangularView<Eigen::Upper>() -= amx::emulated<10>(a, options) * a.transpose(), std::domain_error);
  EXPECT_TRUE(same_bits(t, before));
}

TEST_F(Fallback, RescaleEmulates) {
  amx::Options options;
  options.out_of_range = amx::OutOfRange::rescale;
  c.noalias() = amx::emulated<21>(a, options) * b;
  EXPECT_NE("native", amx::last_report().backend);
  const Matrix<double> native = a * b;
  EXPECT_LE((c - native).norm(), 1e-14 * native.norm());
}

TEST(Options, ReachTheProduct) {
  const Matrix<double> a = random<double>(200, 30), b = random<double>(30, 200);
  Matrix<double> c;
  amx::Report report;
  amx::Options options;
  options.report = &report;
  options.backend = amx::Backend::native;
  c.noalias() = amx::emulated<10>(a, options) * b;
  EXPECT_EQ("native", report.backend);
  EXPECT_EQ(amx::Verdict::in_range, report.verdict);
  EXPECT_NE(std::string_view::npos, report.reason.find("asked for"));
  options.backend = amx::Backend::automatic;
  options.policy = amx::Policy::when_faster;
  c.noalias() = a * amx::emulated<10>(b, options);
  EXPECT_EQ(report.backend == "native", !report.reason.empty());
  options.policy = amx::Policy::always;
  options.backend = amx::Backend::portable;
  options.threads = 2;
  c.noalias() = amx::emulated(a, options) * amx::emulated(b);
  EXPECT_EQ("portable", report.backend);
  EXPECT_EQ(21, report.products);
  EXPECT_EQ(6, report.slices);
  EXPECT_EQ("double", report.scalar);
  // The left factor's options win; without any on the left, the right one's count.
  amx::Options other;
  other.backend = amx::Backend::native;
  c = amx::emulated(a, options) * amx::emulated(b, other);
  EXPECT_EQ("portable", amx::last_report().backend);
  c = amx::emulated(a) * amx::emulated(b, other);
  EXPECT_EQ("native", amx::last_report().backend);
  // They stay with the tag through scalars and transposes.
  c = 2 * ((-amx::emulated(a.transpose(), other)).transpose() * b);
  EXPECT_EQ("native", amx::last_report().backend);
}

TEST(Options, Defaults) {
  const Matrix<double> a = random<double>(20, 30), b = random<double>(30, 20);
  const amx::Options before = amx::default_options();
  amx::Options options = before;
  options.backend = amx::Backend::native;
  const auto p = amx::emulated(a) * b;  // defaults are read when a product is evaluated
  amx::set_default_options(options);
  Matrix<double> c = p;
  EXPECT_EQ("native", amx::last_report().backend);
  amx::set_default_options(before);
  c = p;
  EXPECT_NE("native", amx::last_report().backend);
}

TEST(Options, ThreadsFollowEigen) {
  const Matrix<double> a = random<double>(300, 30), b = random<double>(30, 300);
  const int before = Eigen::nbThreads();
  Matrix<double> c(300, 300);
  Eigen::setNbThreads(1);
  c.noalias() = amx::emulated<3>(a) * b;
  EXPECT_EQ(1, amx::last_report().threads);
  Eigen::setNbThreads(before);
}

#if __cplusplus >= 202002L
TEST(Options, DesignatedInitialisers) {
  const Matrix<double> a = random<double>(5, 5);
  amx::Report report;
  Matrix<double> c = amx::emulated<10>(a, {.backend = amx::Backend::portable, .report = &report}) * a;
  EXPECT_EQ("portable", report.backend);
}
#endif

}  // namespace
