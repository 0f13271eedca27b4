// The AMX backend, its machine code executed by the processor or by the trap: bits, instruction counts, tile state.
#include "backend_list.hpp"
#include "cpu.hpp"
#include "kernels/amx_bf16.hpp"
#include "numerics/digit_problem.hpp"
#include "numerics/matrices.hpp"
#include "reference/fp32_reference.hpp"
#include "reference/fp64_reference.hpp"
#include "support/amx_trap.hpp"
#include "support/same_bits.hpp"

#include <amx/gemm.hpp>
#include <amx/products.hpp>

#include <gtest/gtest.h>

using amx_trap::Kind;
using numerics_test::kDoubleProducts;
using numerics_test::kFloatProducts;
using numerics_test::kKinds;
using numerics_test::matrix;
using test_support::same_bits;
using Operands = numerics_test::Kind;
using Eigen::Index;

namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

double count(const amx_trap::Counts& counts, Kind kind) { return static_cast<double>(counts.of(kind)); }

class AmxKernel : public testing::Test {
 protected:
  void SetUp() override {
    state_ = amx_trap::install();
    ASSERT_NE(amx_trap::Mode::kUnsupported, state_);
    if (trapping()) amx::detail::override_amx_unusable(nullptr);
    amx_trap::reset_faults();
    amx_trap::reset_counts();
  }
  void TearDown() override { EXPECT_EQ("", amx_trap::faults()); }
  bool trapping() const { return state_ == amx_trap::Mode::kTrapping; }

  template <class T>
  Matrix<T> run(const Matrix<T>& a, const Matrix<T>& b, int products, int threads = 1,
                amx::Backend backend = amx::Backend::amx_bf16) {
    Matrix<T> c = Matrix<T>::Constant(a.rows(), b.cols(), std::numeric_limits<T>::quiet_NaN());
    amx::Options options;
    options.backend = backend;
    options.threads = threads;
    EXPECT_EQ(amx::Verdict::in_range, amx::gemm(a.rows(), b.cols(), a.cols(), T(1), a.data(), 1, a.rows(), b.data(), 1,
                                                b.rows(), T(0), c.data(), 1, c.rows(), products, options));
    EXPECT_EQ(to_string(backend), amx::last_report().backend);
    return c;
  }
  amx_trap::Mode state_;
};

TEST_F(AmxKernel, DigitsAgainstIntegers) {
  for (const Operands kind : kKinds)
    for (const int products : kDoubleProducts) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", products " << products);
      const Matrix<double> a = matrix(kind, 35, 70), b = matrix(kind, 70, 49);
      EXPECT_TRUE(same_bits(run(a, b, products), reference::product(a, b, amx::slices_for<double>(products))));
    }
}

TEST_F(AmxKernel, ShapesAroundTileEdges) {
  const Index sizes[] = {1, 2, 7, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 70};
  int turn = 0;
  for (const Index m : sizes)
    for (const Index n : sizes) {
      const Index k = sizes[(m * 7 + n * 5) % 14];
      SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
      const Matrix<double> a = matrix(Operands::all_digits_large, m, k), b = matrix(Operands::wide_rows, k, n);
      const int products = kDoubleProducts[turn % 8];
      EXPECT_TRUE(same_bits(run(a, b, products), reference::product(a, b, amx::slices_for<double>(products))));
      const Matrix<float> c = matrix(Operands::uniform, m, k).cast<float>(),
                          d = matrix(Operands::uniform, k, n).cast<float>();
      const int float_products = kFloatProducts[turn++ % 4];
      EXPECT_TRUE(same_bits(run(c, d, float_products), reference::product(c, d, float_products)));
    }
}

TEST_F(AmxKernel, SeveralChunksAndThreads) {
  for (const int products : kDoubleProducts) {
    const Matrix<double> a = matrix(Operands::all_digits_large, 40, 700),
                         b = matrix(Operands::all_digits_large, 700, 33);
    EXPECT_TRUE(same_bits(run(a, b, products), reference::product(a, b, amx::slices_for<double>(products))));
  }
  for (const int products : kFloatProducts) {
    const Matrix<float> a = matrix(Operands::uniform, 40, 700).cast<float>(),
                        b = matrix(Operands::uniform, 700, 33).cast<float>();
    EXPECT_TRUE(same_bits(run(a, b, products), reference::product(a, b, products)));
  }
  const Matrix<double> a = matrix(Operands::uniform, 300, 100), b = matrix(Operands::uniform, 100, 400);
  const Matrix<double> expected = run(a, b, 15, 1, amx::Backend::portable);
  for (const int threads : {1, 2, 3, 4}) EXPECT_TRUE(same_bits(run(a, b, 15, threads), expected));
}

// The kernels are compiled for two vector extensions; the backend takes the wider one that the processor has, so the
// other one is run here. (AVX-512 needs a processor that has it.)
TEST_F(AmxKernel, NarrowVectors) {
  for (const int products : kDoubleProducts) {
    const int slices = amx::slices_for<double>(products);
    const Matrix<double> a = matrix(Operands::all_digits_large, 40, 300), b = matrix(Operands::wide_rows, 300, 70);
    Matrix<double> c(40, 70);
    const numerics_test::DigitProblem digits(a, b, c, products);
    const amx::detail::Problem<double> problem = digits.on(amx::detail::kAmxAvx2Digits);
    amx::detail::gemm_blocked(problem, 1);
    EXPECT_TRUE(same_bits(c, Matrix<double>(reference::product(a, b, slices))));
    c.setZero();
    amx::detail::gemm_plain(problem);
    EXPECT_TRUE(same_bits(c, Matrix<double>(reference::product(a, b, slices))));
  }
}

// Tile instructions per k step of a micro-tile, and tile stores per chunk, at most those of the kernel's design:
// operand tiles shared between neighbouring products, accumulators drained at the exact cadence and no sooner. A call
// of the kernel may store each accumulator once more, where the stream of micro-tiles begins.
TEST_F(AmxKernel, InstructionCounts) {
  if (!trapping()) GTEST_SKIP() << "the processor has AMX: instructions are not counted";
  struct Row {
    int products, columns;  // column tiles of a micro-tile
    int chunk;              // k steps
    int accumulators;
    double multiplies, loads, stores_per_chunk;
  };
  for (const Row& row :
       {Row{1, 2, 8, 2, 2, 3, 2}, Row{3, 2, 8, 6, 6, 7, 2 * (1 + 2 * 2)}, Row{6, 2, 8, 6, 12, 13, 2 * (1 + 2 + 4)},
        Row{10, 1, 8, 5, 10, 9, 1 + 2 + 4 + 2 * 4}, Row{15, 1, 4, 5, 15, 13, 1 + 1 + 2 + 2 + 4},
        Row{21, 1, 4, 6, 21, 23, 1 + 1 + 2 + 2 + 4 + 4}}) {
    const Index k = 32 * row.chunk * 2;  // two chunks
    const Matrix<double> a = matrix(Operands::uniform, 32, k), b = matrix(Operands::uniform, k, 64);
    amx_trap::reset_counts();
    run(a, b, row.products);
    const amx_trap::Counts counts = amx_trap::counts();
    const double micro_tiles = 2.0 * 4 / row.columns, steps = micro_tiles * static_cast<double>(k / 32);
    SCOPED_TRACE(row.products);
    EXPECT_EQ(row.multiplies * steps, count(counts, Kind::kTdpbf16ps));
    EXPECT_LE(count(counts, Kind::kTileloadd), row.loads * steps);
    const int calls = 2;  // one a chunk
    EXPECT_LE(count(counts, Kind::kTilestored), row.stores_per_chunk * 2 * micro_tiles + calls * row.accumulators);
    EXPECT_EQ(1, count(counts, Kind::kLdtilecfg));
    std::cout << "double " << row.products << ": " << count(counts, Kind::kTileloadd) / steps << " loads, "
              << count(counts, Kind::kTdpbf16ps) / steps << " products a k step, "
              << count(counts, Kind::kTilestored) / (2 * micro_tiles) << " stores a chunk of " << row.chunk << '\n';
  }
  for (const auto& [products, loads] : {std::pair<int, int>{1, 4}, {3, 12}, {6, 16}, {9, 22}}) {
    const Matrix<float> a = Matrix<float>::Ones(64, 512), b = Matrix<float>::Ones(512, 64);
    amx_trap::reset_counts();
    run(a, b, products);
    const amx_trap::Counts counts = amx_trap::counts();
    const double steps = 4.0 * 16;
    EXPECT_EQ(4 * products * steps, count(counts, Kind::kTdpbf16ps));
    EXPECT_LE(count(counts, Kind::kTileloadd), loads * steps);
    EXPECT_EQ(4 * 4 * 2, count(counts, Kind::kTilestored));
    std::cout << "float " << products << ": " << count(counts, Kind::kTileloadd) / steps << " loads, "
              << count(counts, Kind::kTdpbf16ps) / steps << " products a k step, 4 stores a panel of 8\n";
  }
}

// Products on one accumulator lie at least three apart (the latency of 52 cycles is hidden by four products of 16, and
// three leave a stall of 4), over the boundaries of steps and micro-tiles as well.
TEST_F(AmxKernel, AccumulatorSpacing) {
  if (!trapping()) GTEST_SKIP() << "the processor has AMX: instructions are not recorded";
  for (const auto& [products, spacing] : {std::pair<int, int>{6, 4}, {10, 3}, {15, 3}, {21, 3}}) {
    const Matrix<double> a = matrix(Operands::uniform, 32, 256), b = matrix(Operands::uniform, 256, 64);
    amx_trap::start_recording(1 << 16);
    run(a, b, products);
    int last[8], position = 0, closest = 100;
    for (int& p : last) p = -100;
    for (const amx_trap::Record& record : amx_trap::stop_recording())
      if (record.kind == Kind::kTdpbf16ps) {
        closest = std::min(closest, position - last[record.dest]);
        last[record.dest] = position++;
      }
    EXPECT_GE(closest, spacing) << products;
  }
}

TEST_F(AmxKernel, TileStateIsLeftAsFound) {
  const Matrix<double> a = Matrix<double>::Ones(20, 20);
  amx::detail::KernelState before, found;
  const amx::detail::Engine<double>& engine = amx::detail::choose_backend(amx::Backend::amx_bf16).engine<double>();
  run(a, a, 10);
  engine.enter(before);  // what the product left: no configuration
  for (const unsigned char byte : before.bytes) EXPECT_EQ(0, byte);
  run(a, a, 10);  // now within a configuration, which must survive
  engine.enter(found);
  EXPECT_EQ(1, found.bytes[0]);
  engine.leave(found);
  engine.leave(before);
}

TEST_F(AmxKernel, ChosenFirst) {
  const amx::BackendInfo first = amx::backends().front();
  EXPECT_EQ("amx_bf16", first.name);
  EXPECT_TRUE(first.usable) << first.reason;
  const Matrix<double> a = Matrix<double>::Ones(4, 4);
  amx::Options options;
  Matrix<double> c(4, 4);
  EXPECT_EQ(amx::Verdict::in_range,
            amx::gemm(4, 4, 4, 1.0, a.data(), 1, 4, a.data(), 1, 4, 0.0, c.data(), 1, 4, 21, options));
  EXPECT_EQ("amx_bf16", amx::last_report().backend);
}

}  // namespace
