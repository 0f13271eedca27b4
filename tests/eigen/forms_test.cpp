// Assignments, sums, chains, scalars, transposes, tags on either side, aliasing, and the ways to read a product.
#include "expression_test.hpp"

using namespace expression_test;

namespace {

template <class T>
class Forms : public testing::Test {
 protected:
  static constexpr int N = kCount<T>;
  const Matrix<T> a = random<T>(21, 34), b = random<T>(34, 19), d = random<T>(21, 19);
  Matrix<T> c;
  const Matrix<T> ab = expected<T>(a, b);

  void expect(const Matrix<T>& value) {
    EXPECT_TRUE(ran(N, 21, 19, 34));
    EXPECT_TRUE(same_bits(c, value));
  }
};
TYPED_TEST_SUITE(Forms, Scalars);

TYPED_TEST(Forms, Assign) {
  this->c = amx::emulated(this->a) * this->b;
  this->expect(this->ab);
}
TYPED_TEST(Forms, AssignNoalias) {
  this->c.noalias() = amx::emulated<TestFixture::N>(this->a) * this->b;
  this->expect(this->ab);
}
TYPED_TEST(Forms, Construct) {
  const Matrix<TypeParam> constructed = amx::emulated(this->a) * this->b;
  this->c = constructed;
  this->expect(this->ab);
}
TYPED_TEST(Forms, Add) {
  this->c = this->d;
  this->c += amx::emulated(this->a) * this->b;
  this->expect(expected<TypeParam>(this->a, this->b, 1, 1, this->d));
}
TYPED_TEST(Forms, AddNoalias) {
  this->c = this->d;
  this->c.noalias() += amx::emulated(this->a) * this->b;
  this->expect(expected<TypeParam>(this->a, this->b, 1, 1, this->d));
}
TYPED_TEST(Forms, Subtract) {
  this->c = this->d;
  this->c -= amx::emulated(this->a) * this->b;
  this->expect(expected<TypeParam>(this->a, this->b, -1, 1, this->d));
}
TYPED_TEST(Forms, SubtractNoalias) {
  this->c = this->d;
  this->c.noalias() -= amx::emulated(this->a) * this->b;
  this->expect(expected<TypeParam>(this->a, this->b, -1, 1, this->d));
}

TYPED_TEST(Forms, Sums) {
  const Matrix<TypeParam> sum = expected<TypeParam>(this->a, this->b, 1, 1, this->d);
  this->c = this->d + amx::emulated(this->a) * this->b;
  this->expect(sum);
  this->c.noalias() = this->d + amx::emulated(this->a) * this->b;
  this->expect(sum);
  this->c = amx::emulated(this->a) * this->b + this->d;
  this->expect(sum);
  this->c.noalias() = this->d - amx::emulated(this->a) * this->b;
  this->expect(expected<TypeParam>(this->a, this->b, -1, 1, this->d));
  this->c = this->d;
  this->c += this->d + amx::emulated(this->a) * this->b;
  EXPECT_TRUE(ran(TestFixture::N, 21, 19, 34));
  const Matrix<TypeParam> twice = this->d + this->d;
  EXPECT_LE((this->c - (twice + this->ab)).norm(), this->ab.norm() * Eigen::NumTraits<TypeParam>::epsilon() * 4);
}

// A power of two is exact wherever it is applied.
TYPED_TEST(Forms, ScalarsAreFolded) {
  const TypeParam s = 4;
  const Matrix<TypeParam> scaled = expected<TypeParam>(this->a, this->b, s);
  this->c = s * (amx::emulated(this->a) * this->b);
  this->expect(scaled);
  this->c.noalias() = (amx::emulated(this->a) * this->b) * s;
  this->expect(scaled);
  this->c = (s * amx::emulated(this->a)) * this->b;
  this->expect(scaled);
  this->c = (amx::emulated(this->a) * s) * this->b;
  this->expect(scaled);
  this->c = amx::emulated(s * this->a) * this->b;
  this->expect(scaled);
  this->c = amx::emulated(this->a) * (s * this->b);
  this->expect(scaled);
  this->c = 4 * (this->a * amx::emulated(this->b));  // an int
  this->expect(scaled);
  this->c = s * (amx::emulated(this->a) * amx::emulated(this->b));
  this->expect(scaled);
  this->c.noalias() = (amx::emulated(this->a) * this->b) / s;
  this->expect(expected<TypeParam>(this->a, this->b, 1 / s));
}
TYPED_TEST(Forms, Quotients) {
  const Matrix<TypeParam> third = this->a / TypeParam(3);  // each coefficient divided, not multiplied by 1 / 3
  this->c = amx::emulated(this->a) / 3 * this->b;
  this->expect(expected<TypeParam>(third, this->b));
  this->c = this->a * (amx::emulated(this->b) / TypeParam(4));
  this->expect(expected<TypeParam>(this->a, this->b, TypeParam(0.25)));
  this->c = (amx::emulated(this->a) * this->b) / 3;
  this->expect(this->ab / TypeParam(3));
}
TYPED_TEST(Forms, SumsOfTwoProducts) {
  const Matrix<TypeParam> e = random<TypeParam>(21, 34), second = expected<TypeParam>(e, this->b);
  this->c = amx::emulated(this->a) * this->b + amx::emulated(e) * this->b;
  this->expect(this->ab + second);
  this->c = amx::emulated(this->a) * this->b - e * amx::emulated(this->b);
  this->expect(this->ab - second);
  this->c = this->d;
  this->c += amx::emulated(this->a) * this->b - 2 * (amx::emulated(e) * this->b);
  EXPECT_TRUE(ran(TestFixture::N, 21, 19, 34));
  const TypeParam size = this->ab.norm() + 2 * second.norm() + this->d.norm();
  EXPECT_LE((this->c - (this->d + this->ab - 2 * second)).norm(), size * Eigen::NumTraits<TypeParam>::epsilon() * 4);
}
// The hook of products that algorithms inside Eigen call; no assignment comes here.
TYPED_TEST(Forms, ScaleAndAddTo) {
  using Tagged = amx::Emulated<Matrix<TypeParam>, TestFixture::N>;
  using Product = Eigen::internal::generic_product_impl<Tagged, Matrix<TypeParam>>;
  this->c = this->d;
  Product::scaleAndAddTo(this->c, amx::emulated(this->a), this->b, TypeParam(3));
  this->expect(expected<TypeParam>(this->a, this->b, 3, 1, this->d));
  this->c = this->d;
  auto reversed = this->c.reverse();
  Product::scaleAndAddTo(reversed, amx::emulated(this->a), this->b, TypeParam(4));
  this->expect(this->d + 4 * this->ab.reverse());
}
TYPED_TEST(Forms, ScalarsInUpdates) {
  const TypeParam s = 3;
  this->c = this->d;
  this->c += s * (amx::emulated(this->a) * this->b);
  this->expect(expected<TypeParam>(this->a, this->b, s, 1, this->d));
  this->c = this->d;
  this->c.noalias() -= s * (amx::emulated(this->a) * this->b);
  this->expect(expected<TypeParam>(this->a, this->b, -s, 1, this->d));
  this->c.noalias() = this->d + s * (amx::emulated(this->a) * this->b);
  this->expect(expected<TypeParam>(this->a, this->b, s, 1, this->d));
  this->c = s * (2 * (amx::emulated(this->a) * this->b));
  this->expect(expected<TypeParam>(this->a, this->b, 2 * s));
}
TYPED_TEST(Forms, Negation) {
  const Matrix<TypeParam> negative = expected<TypeParam>(this->a, this->b, -1);
  this->c = -(amx::emulated(this->a) * this->b);
  this->expect(negative);
  this->c.noalias() = -(this->a * amx::emulated(this->b));
  this->expect(negative);
  this->c = -amx::emulated(this->a) * this->b;
  this->expect(negative);
  this->c = amx::emulated(-this->a) * this->b;
  this->expect(negative);
}
// Code that takes a MatrixBase does not see the operators for products; Eigen's rewriting of scalar * product is met
// there.
template <class Derived>
auto times_four(const Eigen::MatrixBase<Derived>& x) {
  return typename Derived::Scalar(4) * x;
}
TYPED_TEST(Forms, ScalarsThroughMatrixBase) {
  const auto left = amx::emulated(this->a) * this->b;
  const auto right = this->a * amx::emulated(this->b);
  const Matrix<TypeParam> scaled = expected<TypeParam>(this->a, this->b, 4);
  this->c = times_four(left);
  this->expect(scaled);
  this->c.noalias() = times_four(right);
  this->expect(scaled);
  this->c = this->d + times_four(left);
  this->expect(expected<TypeParam>(this->a, this->b, 4, 1, this->d));
}

TYPED_TEST(Forms, TransposedFactors) {
  const Matrix<TypeParam> at = this->a.transpose(), bt = this->b.transpose();
  this->c = amx::emulated(at.transpose()) * this->b;
  this->expect(this->ab);
  this->c = amx::emulated(at).transpose() * this->b;
  this->expect(this->ab);
  this->c = amx::emulated(at).adjoint() * bt.adjoint();
  this->expect(this->ab);
  this->c = at.transpose() * amx::emulated(bt).transpose();
  this->expect(this->ab);
}
// Eigen 5 computes (L * R).transpose() as R^T * L^T. FP32 adds slice products in an order that is not symmetric, so its
// last bits tell the difference; FP64 is exact and cannot.
TYPED_TEST(Forms, TransposedProduct) {
  Matrix<TypeParam> value = this->ab.transpose();
  if (EIGEN_VERSION_AT_LEAST(4, 90, 0)) value = expected<TypeParam>(this->b.transpose(), this->a.transpose());
  this->c = (amx::emulated(this->a) * this->b).transpose();
  EXPECT_NE("native", amx::last_report().backend);
  EXPECT_TRUE(same_bits(this->c, value));
  this->c = (this->a * amx::emulated(this->b)).adjoint();
  EXPECT_NE("native", amx::last_report().backend);
  EXPECT_TRUE(same_bits(this->c, value));
  this->c.noalias() += (amx::emulated(this->a) * amx::emulated(this->b)).transpose();
  EXPECT_TRUE(same_bits(this->c, Matrix<TypeParam>(value + value)));
}

TYPED_TEST(Forms, TagOnEitherSideOrBoth) {
  this->c = this->a * amx::emulated(this->b);
  this->expect(this->ab);
  this->c = amx::emulated(this->a) * amx::emulated(this->b);
  this->expect(this->ab);
}

// The tag covers the product in which it stands.
TYPED_TEST(Forms, Chains) {
  const Matrix<TypeParam> e = random<TypeParam>(19, 8), f = random<TypeParam>(7, 21);
  Matrix<TypeParam> r = amx::emulated(this->a) * this->b * e;
  EXPECT_TRUE(ran(TestFixture::N, 21, 19, 34));
  EXPECT_TRUE(same_bits(r, this->ab * e));  // (emulated) * native
  r.noalias() = f * amx::emulated(this->a) * this->b;
  EXPECT_TRUE(ran(TestFixture::N, 7, 34, 21));
  EXPECT_TRUE(same_bits(r, expected<TypeParam>(f, this->a) * this->b));
  r = amx::emulated(amx::emulated(this->a) * this->b) * e;
  EXPECT_TRUE(ran(TestFixture::N, 21, 8, 19));
  EXPECT_TRUE(same_bits(r, expected<TypeParam>(this->ab, e)));
}

TYPED_TEST(Forms, Aliasing) {
  const Matrix<TypeParam> s = random<TypeParam>(20, 20), t = random<TypeParam>(20, 20);
  Matrix<TypeParam> x = s;
  x = amx::emulated(x) * t;
  EXPECT_TRUE(same_bits(x, expected<TypeParam>(s, t)));
  x = s;
  x = t * amx::emulated(x);
  EXPECT_TRUE(same_bits(x, expected<TypeParam>(t, s)));
  x = s;
  x = amx::emulated(x) * x;
  EXPECT_TRUE(same_bits(x, expected<TypeParam>(s, s)));
  x = s;
  x += amx::emulated(x) * x;
  EXPECT_TRUE(same_bits(x, expected<TypeParam>(s, s, 1, 1, s)));
  x = s;
  x = -(amx::emulated(x) * x);
  EXPECT_TRUE(same_bits(x, expected<TypeParam>(s, s, -1)));
  x = s;
  x = t + 2 * (amx::emulated(x) * x);
  EXPECT_TRUE(same_bits(x, expected<TypeParam>(s, s, 2, 1, t)));
  x = s;
  x = (amx::emulated(x) * x).transpose();
  EXPECT_LE((x - expected<TypeParam>(s, s).transpose()).norm(), Eigen::NumTraits<TypeParam>::epsilon() * x.norm());
  x = s;
  x = amx::emulated(x.transpose()) * x;
  EXPECT_TRUE(same_bits(x, expected<TypeParam>(s.transpose(), s)));
}

TYPED_TEST(Forms, ReadingAProduct) {
  const auto p = amx::emulated(this->a) * this->b;
  const Matrix<TypeParam>& value = this->ab;
  EXPECT_EQ(21, p.rows());
  EXPECT_EQ(19, p.cols());
  EXPECT_EQ(value(3, 5), p(3, 5));
  EXPECT_TRUE(same_bits(p.col(4).eval(), value.col(4)));
  EXPECT_TRUE(same_bits(p.row(4).eval(), value.row(4)));
  EXPECT_TRUE(same_bits(p.block(2, 3, 4, 5).eval(), value.block(2, 3, 4, 5)));
  EXPECT_EQ(value.norm(), p.norm());
  EXPECT_EQ(value.sum(), p.sum());
  EXPECT_EQ(value.maxCoeff(), p.maxCoeff());
  EXPECT_TRUE(same_bits(p.cwiseProduct(this->d).eval(), value.cwiseProduct(this->d)));
  EXPECT_TRUE(same_bits(p.cwiseAbs().eval(), value.cwiseAbs()));
  EXPECT_TRUE(same_bits(p.eval(), value));
  EXPECT_TRUE(same_bits(p.template cast<long double>().eval().template cast<TypeParam>(), value));
  EXPECT_TRUE(same_bits(p.array().square().matrix().eval(), value.array().square().matrix()));
}

// As in Eigen these are n dot products, native and without a temporary.
TYPED_TEST(Forms, DiagonalAndTraceAreLazy) {
  const Matrix<TypeParam> s = random<TypeParam>(20, 20), t = random<TypeParam>(20, 20);
  Matrix<TypeParam> marker = amx::emulated(random<TypeParam>(1, 2)) * random<TypeParam>(2, 3);
  EXPECT_TRUE(same_bits((amx::emulated(s) * t).diagonal().eval(), (s * t).diagonal().eval()));
  EXPECT_EQ((s * t).trace(), (s * amx::emulated(t)).trace());
  EXPECT_EQ((s * t).trace(), (amx::emulated(s) * amx::emulated(t)).trace());
  EXPECT_TRUE(ran(TestFixture::N, 1, 3, 2));  // nothing was emulated since
}

TYPED_TEST(Forms, AutoKeepsItsExpression) {
  const Matrix<TypeParam> e = random<TypeParam>(21, 34);
  const auto p = amx::emulated(this->a + e) * this->b;  // the sum is held by value, the matrices by reference
  std::vector<double> overwrite_stack(1000, 1.0);
  this->c = p;
  this->expect(expected<TypeParam>(this->a + e, this->b));
  const auto q = 2 * p;
  this->c.noalias() = q;
  this->expect(expected<TypeParam>(this->a + e, this->b, 2));
}

TYPED_TEST(Forms, EmptySizes) {
  const auto e = [](Eigen::Index rows, Eigen::Index cols) {
    return Matrix<TypeParam>(Matrix<TypeParam>::Ones(rows, cols));
  };
  Matrix<TypeParam> r = amx::emulated(e(0, 5)) * e(5, 3);
  EXPECT_TRUE(same_bits(r, e(0, 3)));
  r = amx::emulated(e(4, 5)) * e(5, 0);
  EXPECT_TRUE(same_bits(r, e(4, 0)));
  r = amx::emulated(e(4, 0)) * e(0, 3);
  EXPECT_TRUE(same_bits(r, Matrix<TypeParam>(Matrix<TypeParam>::Zero(4, 3))));
  r = e(4, 3);
  r += amx::emulated(e(4, 0)) * e(0, 3);
  EXPECT_TRUE(same_bits(r, e(4, 3)));
  r.noalias() -= 3 * (amx::emulated(e(4, 0)) * e(0, 3));
  EXPECT_TRUE(same_bits(r, e(4, 3)));
  r = amx::emulated(e(0, 0)) * e(0, 0);
  EXPECT_EQ(0, r.size());
}

}  // namespace
