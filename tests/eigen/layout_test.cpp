// Storage orders, strides, blocks, maps, views and sizes of the operands and of the destination.
#include <complex>

#include "expression_test.hpp"

using namespace expression_test;

namespace {

template <class T>
class Layout : public testing::Test {
 protected:
  static constexpr int N = kCount<T>;
};
using Double = testing::Types<double>;  // the layer does not know the scalar; forms_test.cpp has both
TYPED_TEST_SUITE(Layout, Double);

#if EIGEN_VERSION_AT_LEAST(4, 90, 0)
const auto& kAll = Eigen::placeholders::all;
#else
const auto& kAll = Eigen::all;
#endif

using Strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;

template <class T>
using StridedMap = Eigen::Map<Matrix<T>, 0, Strides>;

/// Storage for a rows x cols matrix with inner stride 2 and outer stride 2 rows + 3, filled with a marker.
template <class T>
struct Strided {
  Strided(Eigen::Index rows, Eigen::Index cols)
      : memory(static_cast<std::size_t>((2 * rows + 3) * cols + 1), T(77)),
        map(memory.data(), rows, cols, Strides(2 * rows + 3, 2)) {}
  explicit Strided(const Matrix<T>& x) : Strided(x.rows(), x.cols()) { map = x; }
  std::vector<T> memory;
  StridedMap<T> map;
};

/// One pair of factors and destination, assigned and subtracted.
template <class T, class C, class A, class B>
void check(C&& c, const A& a, const B& b, const char* what) {
  SCOPED_TRACE(what);
  const Matrix<T> plain_a = a, plain_b = b, start = random<T>(c.rows(), c.cols());
  c = start;
  c.noalias() = amx::emulated(a) * b;
  EXPECT_TRUE(ran(kCount<T>, a.rows(), b.cols(), a.cols()));
  EXPECT_TRUE(same_bits(c, expected<T>(plain_a, plain_b)));
  c = start;
  c -= amx::emulated(a) * b;
  EXPECT_TRUE(same_bits(c, expected<T>(plain_a, plain_b, -1, 1, start)));
}

TYPED_TEST(Layout, EveryMixOfStorageOrders) {
  const Matrix<TypeParam> a = random<TypeParam>(18, 33), b = random<TypeParam>(33, 17);
  const RowMatrix<TypeParam> ar = a, br = b;
  Matrix<TypeParam> c(18, 17);
  RowMatrix<TypeParam> cr(18, 17);
  check<TypeParam>(c, a, b, "CCC");
  check<TypeParam>(c, a, br, "CCR");
  check<TypeParam>(c, ar, b, "CRC");
  check<TypeParam>(c, ar, br, "CRR");
  check<TypeParam>(cr, a, b, "RCC");
  check<TypeParam>(cr, a, br, "RCR");
  check<TypeParam>(cr, ar, b, "RRC");
  check<TypeParam>(cr, ar, br, "RRR");
  check<TypeParam>(cr.transpose(), br.transpose(), ar.transpose(), "transposes");
}

TYPED_TEST(Layout, BlocksAndStridedMaps) {
  const Matrix<TypeParam> big = random<TypeParam>(60, 60);
  const Strided<TypeParam> a(random<TypeParam>(18, 20)), b(random<TypeParam>(20, 15));
  Matrix<TypeParam> c = random<TypeParam>(60, 60);
  const Matrix<TypeParam> before = c;
  check<TypeParam>(c.block(5, 6, 18, 15), big.block(1, 2, 18, 20), big.block(3, 4, 20, 15), "blocks");
  Matrix<TypeParam> after = before;
  after.block(5, 6, 18, 15) = c.block(5, 6, 18, 15);
  EXPECT_TRUE(same_bits(c, after));  // nothing else was written
  check<TypeParam>(c.topRows(18).leftCols(15), a.map, b.map, "maps as factors");
  Strided<TypeParam> to(18, 15);
  check<TypeParam>(to.map, a.map, b.map, "maps throughout");
  for (std::size_t i = 0; i < to.memory.size(); ++i)
    if (i % 2 == 1 && i % 39 >= 36) {  // the gaps are untouched
      EXPECT_EQ(TypeParam(77), to.memory[i]) << i;
    }
  check<TypeParam>(to.map.transpose(), b.map.transpose(), a.map.transpose(), "transposed maps");
}

TYPED_TEST(Layout, RefsRowsAndColumns) {
  Matrix<TypeParam> a = random<TypeParam>(18, 33), b = random<TypeParam>(33, 17), c(18, 17);
  const Eigen::Ref<const Matrix<TypeParam>> ra(a), rb(b);
  Eigen::Ref<Matrix<TypeParam>> rc(c);
  check<TypeParam>(rc, ra, rb, "Ref");
  check<TypeParam>(c.col(3), a, b.col(2), "column");
  check<TypeParam>(c.row(3), a.row(2), b, "row");
}

// Eigen's maps take negative strides as they are; data() is then the element with the highest address.
TYPED_TEST(Layout, MapsWithNegativeStrides) {
  const Matrix<TypeParam> a = random<TypeParam>(18, 33), b = random<TypeParam>(33, 17);
  using Backwards = Eigen::Map<const Matrix<TypeParam>, 0, Strides>;
  const Backwards ar(a.data() + a.size() - 1, 18, 33, Strides(-18, -1)), br(b.data() + 32, 33, 17, Strides(33, -1));
  Matrix<TypeParam> c = Matrix<TypeParam>::Zero(18, 17);
  StridedMap<TypeParam> cr(c.data() + c.size() - 1, 18, 17, Strides(-18, -1));
  cr.noalias() = amx::emulated(ar) * br;
  EXPECT_TRUE(ran(TestFixture::N, 18, 17, 33));
  EXPECT_TRUE(same_bits(c, expected<TypeParam>(a.reverse(), b.colwise().reverse()).reverse()));
  check<TypeParam>(cr, ar, b, "negative strides of A and C");
}

// Other views with direct access.
TYPED_TEST(Layout, DiagonalsReshapedAndComplexParts) {
  const Matrix<TypeParam> a = random<TypeParam>(18, 18), b = random<TypeParam>(18, 18);
  Matrix<TypeParam> c = random<TypeParam>(18, 18);
  check<TypeParam>(c.diagonal(), a, b.diagonal(), "diagonals");
  check<TypeParam>(c.diagonal(-3), a.topRows(15), b.col(1), "diagonal below");
  check<TypeParam>(c.reshaped(12, 27), a.reshaped(12, 27), random<TypeParam>(27, 27), "reshaped");
  check<TypeParam>(c.array().matrix(), a.array().matrix(), b, "array and back");
  const RowMatrix<TypeParam> ar = a;
  RowMatrix<TypeParam> cr = c;
  check<TypeParam>(cr.col(4), ar, ar.col(2), "columns of row-major matrices");
  check<TypeParam>(cr.row(4), ar.row(3), b, "rows of row-major matrices");
  const Eigen::Matrix<std::complex<TypeParam>, Eigen::Dynamic, Eigen::Dynamic> z =
      a + std::complex<TypeParam>(0, 1) * b;
  c.noalias() = amx::emulated(z.real()) * z.imag();
  EXPECT_TRUE(same_bits(c, expected<TypeParam>(a, b)));
}

// No direct access: the factor is evaluated once, the destination gets a temporary.
TYPED_TEST(Layout, ReversedAndIndexedViews) {
  const Matrix<TypeParam> a = random<TypeParam>(18, 33), b = random<TypeParam>(33, 17);
  Matrix<TypeParam> c(18, 17);
  const auto expect = [&](const Matrix<TypeParam>& value) { EXPECT_TRUE(same_bits(c, value)); };
  c.noalias() = amx::emulated(a.reverse()) * b.colwise().reverse();
  expect(expected<TypeParam>(a.reverse(), b.colwise().reverse()));
  c.reverse() = amx::emulated(a) * b;
  expect(expected<TypeParam>(a, b).reverse());
  c.reverse().noalias() -= amx::emulated(a) * b;
  expect(Matrix<TypeParam>::Zero(18, 17));
  const std::vector<int> odd = {1, 3, 5, 7};
  c.setZero();
  c(odd, kAll) = amx::emulated(a(odd, kAll)) * b;
  EXPECT_TRUE(ran(TestFixture::N, 4, 17, 33));
  EXPECT_TRUE(same_bits(c(odd, kAll).eval(), expected<TypeParam>(a(odd, kAll), b)));
}

TYPED_TEST(Layout, VectorsAndOuterProducts) {
  const Matrix<TypeParam> a = random<TypeParam>(18, 33);
  const Vector<TypeParam> x = random<TypeParam>(33, 1), w = random<TypeParam>(18, 1);
  Vector<TypeParam> y = amx::emulated(a) * x;
  EXPECT_TRUE(ran(TestFixture::N, 18, 1, 33));
  EXPECT_TRUE(same_bits(y, expected<TypeParam>(a, x)));
  y.noalias() += 2 * (amx::emulated(a.transpose()).transpose() * x);
  const RowVector<TypeParam> z = w.transpose() * amx::emulated(a);
  EXPECT_TRUE(ran(TestFixture::N, 1, 33, 18));
  EXPECT_TRUE(same_bits(z, expected<TypeParam>(w.transpose(), a)));
  Matrix<TypeParam> c = amx::emulated(w) * x.transpose();
  EXPECT_TRUE(ran(TestFixture::N, 18, 33, 1));
  EXPECT_TRUE(same_bits(c, expected<TypeParam>(w, x.transpose())));
  const TypeParam dot = (amx::emulated(x.transpose()) * x)(0, 0);
  EXPECT_EQ(expected<TypeParam>(x.transpose(), x)(0, 0), dot);
  const TypeParam converted = x.transpose() * amx::emulated(x);
  EXPECT_EQ(dot, converted);
}

TYPED_TEST(Layout, FixedSizes) {
  using M3 = Eigen::Matrix<TypeParam, 3, 3>;
  const M3 a = random<TypeParam>(3, 3), b = random<TypeParam>(3, 3);
  M3 c = amx::emulated(a) * b;
  EXPECT_TRUE(ran(TestFixture::N, 3, 3, 3));
  EXPECT_TRUE(same_bits(c, expected<TypeParam>(a, b)));
  c = amx::emulated(c) * c;
  c.noalias() += amx::emulated(a) * b;
  c = a + 2 * (amx::emulated(a) * b);
  EXPECT_TRUE(same_bits(c, expected<TypeParam>(a, b, 2, 1, a)));
  const Eigen::Matrix<TypeParam, 17, 40, Eigen::RowMajor> l = random<TypeParam>(17, 40);
  const Eigen::Matrix<TypeParam, 40, 5> r = random<TypeParam>(40, 5);
  const Eigen::Matrix<TypeParam, 17, 5> p = amx::emulated(l) * r;
  EXPECT_TRUE(same_bits(p, expected<TypeParam>(l, r)));
  const Eigen::Matrix<TypeParam, 4, 1> v = random<TypeParam>(4, 1);
  const Eigen::Matrix<TypeParam, 4, 4> m = random<TypeParam>(4, 4);
  const Eigen::Matrix<TypeParam, 4, 1> mv = amx::emulated(m) * v;
  EXPECT_TRUE(same_bits(mv, expected<TypeParam>(m, v)));
}

template <class T, unsigned Mode>
void check_triangle() {
  const Matrix<T> a = random<T>(37, 20), b = random<T>(20, 37), start = random<T>(37, 37);
  const auto with = [&](const Matrix<T>& full) {
    Matrix<T> value = start;
    value.template triangularView<Mode>() = full;
    return value;
  };
  Matrix<T> c = start;
  c.template triangularView<Mode>() = amx::emulated(a) * b;
  EXPECT_TRUE(ran(kCount<T>, 37, 37, 20));
  EXPECT_TRUE(same_bits(c, with(expected<T>(a, b))));
  c = start;
  c.template triangularView<Mode>() += a * amx::emulated(b);
  EXPECT_TRUE(same_bits(c, with(expected<T>(a, b, 1, 1, start))));
  c = start;
  c.template triangularView<Mode>() -= 4 * (amx::emulated(a) * amx::emulated(b));
  EXPECT_TRUE(same_bits(c, with(expected<T>(a, b, -4, 1, start))));
  RowMatrix<T> r = start;
  r.template triangularView<Mode>() = amx::emulated(b).transpose() * b;
  EXPECT_TRUE(same_bits(r, with(expected<T>(b.transpose(), b))));
  c = start;  // the triangle of a chain that reads the destination's other triangle
  c.template triangularView<Mode>() = amx::emulated(a * b) * start;
  EXPECT_TRUE(same_bits(c, with(expected<T>(a * b, start))));
}

TYPED_TEST(Layout, TriangularDestinations) {
  check_triangle<TypeParam, Eigen::Lower>();
  check_triangle<TypeParam, Eigen::Upper>();
  check_triangle<TypeParam, Eigen::StrictlyLower>();
  check_triangle<TypeParam, Eigen::StrictlyUpper>();
  // Rank one: Eigen has a path of its own for vectors.
  const Vector<TypeParam> x = random<TypeParam>(9, 1), y = random<TypeParam>(9, 1);
  Matrix<TypeParam> c = Matrix<TypeParam>::Zero(9, 9), value = c;
  c.template triangularView<Eigen::Lower>() += amx::emulated(x) * y.transpose();
  value.template triangularView<Eigen::Lower>() = expected<TypeParam>(x, y.transpose());
  EXPECT_TRUE(same_bits(c, value));
}

TYPED_TEST(Layout, TriangularDestinationWithoutDirectAccess) {
  const Matrix<TypeParam> a = random<TypeParam>(19, 19), start = random<TypeParam>(19, 19);
  const Matrix<TypeParam> product = expected<TypeParam>(a, a);
  Matrix<TypeParam> c = start, value = start.reverse();
  auto reversed = c.reverse();
  reversed.template triangularView<Eigen::Lower>() = amx::emulated(a) * a;
  value.template triangularView<Eigen::Lower>() = product;
  EXPECT_TRUE(same_bits(c, value.reverse()));
  reversed.template triangularView<Eigen::StrictlyUpper>() -= 2 * (amx::emulated(a) * a);
  value.template triangularView<Eigen::StrictlyUpper>() -= 2 * product;
  EXPECT_TRUE(ran(TestFixture::N, 19, 19, 19));
  EXPECT_TRUE(same_bits(c, value.reverse()));
}

// NaN outside of the triangle is neither read nor written; NaN inside is overwritten by '='.
TYPED_TEST(Layout, TriangularDestinationOverwrites) {
  const Matrix<TypeParam> a = random<TypeParam>(70, 5);
  Matrix<TypeParam> c = Matrix<TypeParam>::Constant(70, 70, std::numeric_limits<TypeParam>::quiet_NaN());
  c.template triangularView<Eigen::Lower>() = amx::emulated(a) * a.transpose();
  const Matrix<TypeParam> value = expected<TypeParam>(a, a.transpose());
  for (Eigen::Index j = 0; j < 70; ++j)
    for (Eigen::Index i = 0; i < 70; ++i)
      if (i >= j) {
        EXPECT_EQ(value(i, j), c(i, j));
      } else {
        EXPECT_TRUE(std::isnan(c(i, j)));
      }
}

TYPED_TEST(Layout, TriangularSelfadjointAndDiagonalFactorsEvaluated) {
  const Matrix<TypeParam> s = random<TypeParam>(12, 12), b = random<TypeParam>(12, 7);
  const Matrix<TypeParam> lower = s.template triangularView<Eigen::Lower>();
  Matrix<TypeParam> c = amx::emulated(Matrix<TypeParam>(s.template triangularView<Eigen::Lower>())) * b;
  EXPECT_TRUE(same_bits(c, expected<TypeParam>(lower, b)));
  c = amx::emulated(Matrix<TypeParam>(s.template selfadjointView<Eigen::Lower>())) * b;
  EXPECT_TRUE(ran(TestFixture::N, 12, 7, 12));
  c = amx::emulated(Matrix<TypeParam>(s.col(0).asDiagonal())) * b;
  EXPECT_TRUE(ran(TestFixture::N, 12, 7, 12));
}

}  // namespace
