// Temporaries: none where docs/expressions.md says none, one where it says one, and operands evaluated at most once.
//
// Every heap allocation of the program is counted, those of the library as well; a first call warms its workspace up.
#include "expression_test.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local long allocations = 0;

}  // namespace

// Eigen allocates with malloc, the library with operator new, which ends there too.
#if defined(__SANITIZE_ADDRESS__) || (defined(__has_feature) && __has_feature(address_sanitizer))
extern "C" void __sanitizer_malloc_hook(const volatile void*, std::size_t) { ++allocations; }
#else
extern "C" void* __libc_malloc(std::size_t);
extern "C" void* malloc(std::size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
#endif

using namespace expression_test;

namespace {

class Temporaries : public testing::Test {
 protected:
  Matrix<double> a = random<double>(40, 50), b = random<double>(50, 30), d = random<double>(40, 30), c{40, 30};
  Matrix<double> square{40, 40};
  const Matrix<double> square30 = random<double>(30, 30);
  const amx::Options defaults = amx::default_options();

  /// Allocations of form(), once the workspace is there.
  template <class Form>
  long count(const Form& form) {
    form();
    const long before = allocations;
    form();
    return allocations - before;
  }
  void SetUp() override { Eigen::setNbThreads(1); }
};

TEST_F(Temporaries, None) {
  EXPECT_EQ(0, count([&] { c.noalias() = amx::emulated(a) * b; }));
  EXPECT_EQ(0, count([&] { c.noalias() += amx::emulated(a) * b; }));
  EXPECT_EQ(0, count([&] { c.noalias() -= a * amx::emulated(b); }));
  EXPECT_EQ(0, count([&] { c.noalias() = 2 * (amx::emulated(a) * b); }));
  EXPECT_EQ(0, count([&] { c.noalias() += (amx::emulated(a) * b) * 2; }));
  EXPECT_EQ(0, count([&] { c.noalias() = -(amx::emulated(a) * b); }));
  EXPECT_EQ(0, count([&] { c.noalias() = amx::emulated(2 * a) * (-b); }));
  EXPECT_EQ(0, count([&] { c.noalias() = d + amx::emulated(a) * b; }));
  EXPECT_EQ(0, count([&] { c.noalias() = d - 2 * (amx::emulated(a) * b); }));
  EXPECT_EQ(0, count([&] { c.noalias() += d + amx::emulated(a) * b; }));
  EXPECT_EQ(0, count([&] { c.noalias() = amx::emulated(a) * b - 2 * (amx::emulated(d) * square30); }));
  EXPECT_EQ(0, count([&] { square.noalias() = amx::emulated(a) * a.transpose(); }));
  EXPECT_EQ(0, count([&] { square.noalias() = amx::emulated(a.transpose()).transpose() * a.transpose(); }));
  EXPECT_EQ(0, count([&] {
              c.block(1, 2, 10, 20).noalias() = amx::emulated(a.block(0, 1, 10, 30)) * b.block(3, 4, 30, 20);
            }));
  EXPECT_EQ(0, count([&] { c.col(1).noalias() = amx::emulated(a) * b.col(2); }));
  using Strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  const Eigen::Map<Matrix<double>, 0, Strides> backwards(a.data() + a.size() - 1, 40, 50, Strides(-40, -1));
  EXPECT_EQ(0, count([&] { c.noalias() = amx::emulated(backwards) * b; }));
  EXPECT_EQ(0, count([&] { square.triangularView<Eigen::Lower>() = amx::emulated(a) * a.transpose(); }));
  EXPECT_EQ(0, count([&] { square.triangularView<Eigen::Upper>() -= 3 * (amx::emulated(a) * a.transpose()); }));
}

TEST_F(Temporaries, OneForTheDestination) {
  EXPECT_EQ(1, count([&] { c = amx::emulated(a) * b; }));
  EXPECT_EQ(1, count([&] { c += amx::emulated(a) * b; }));
  EXPECT_EQ(1, count([&] { c = d + amx::emulated(a) * b; }));
  EXPECT_EQ(1, count([&] { c.noalias() = amx::emulated(a) * b + d; }));  // as in Eigen: the product stands first
}

TEST_F(Temporaries, OneForAFactorThatIsAnExpression) {
  const Matrix<double> a2 = a;
  EXPECT_EQ(1, count([&] { c.noalias() = amx::emulated(a + a2) * b; }));
  EXPECT_EQ(1, count([&] { c.noalias() = amx::emulated(a.reverse()) * b; }));
  EXPECT_EQ(1, count([&] { c.noalias() = amx::emulated(a) / 3 * b; }));
}

TEST_F(Temporaries, EigenAgrees) {
  Eigen::internal::set_is_malloc_allowed(false);  // aborts inside Eigen if it allocates
  c.noalias() += 2 * (amx::emulated(a) * b);
  square.triangularView<Eigen::Lower>() = amx::emulated(a) * a.transpose();
  Eigen::internal::set_is_malloc_allowed(true);
}

// A factor without direct access is read once per coefficient.
TEST_F(Temporaries, FactorsAreEvaluatedOnce) {
  long reads = 0;
  const auto counted = [&reads](const Matrix<double>& x) {
    return Matrix<double>::NullaryExpr(x.rows(), x.cols(), [&reads, &x](Eigen::Index i, Eigen::Index j) {
      ++reads;
      return x(i, j);
    });
  };
  c.noalias() = amx::emulated(counted(a)) * b;
  EXPECT_EQ(a.size(), reads);
  EXPECT_TRUE(same_bits(c, expected<double>(a, b)));
  reads = 0;
  c.noalias() -= a * amx::emulated(counted(b));
  EXPECT_EQ(b.size(), reads);
  // Out of range: once for the scan, and once more by Eigen's own product, which alone gives the bits of the untagged
  // form.
  a(1, 2) = 1e-60;
  reads = 0;
  c.noalias() = amx::emulated(counted(a)) * b;
  EXPECT_EQ("native", amx::last_report().backend);
  EXPECT_EQ(2 * a.size(), reads);
}

}  // namespace
