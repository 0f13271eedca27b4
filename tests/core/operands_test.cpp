// The fast scan and packing loops (kernels/operands.hpp), as compiled for each instruction set, against the plain ones
// of scan.cpp and pack.cpp: byte for byte, for every layout, orientation and stride.
#include "backend_list.hpp"
#include "cpu.hpp"
#include "kernels/operand_tables.hpp"
#include "numerics/matrices.hpp"
#include "pack.hpp"
#include "scan.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

using namespace amx::detail;
using numerics_test::uniform;

namespace {

template <class T>
struct Loops {
  const char* name;
  const OperandKernels<T>* kernels;
};

/// The loops that this machine can run.
template <class T>
std::vector<Loops<T>> all_loops() {
  constexpr bool kDouble = std::is_same_v<T, double>;
  const auto pick = [](const auto& doubles, const auto& floats) -> const OperandKernels<T>* {
    if constexpr (kDouble)
      return &doubles;
    else
      return &floats;
  };
  std::vector<Loops<T>> loops = {{"portable", pick(kPortableDoubles, kPortableFloats)}};
#ifdef AMX_EMULATED_HAVE_SIMD
  if (!avx2_unusable()) loops.push_back({"avx2", pick(kAvx2Doubles, kAvx2Floats)});
  if (has_avx512()) loops.push_back({"avx512", pick(kAvx512Doubles, kAvx512Floats)});
#endif
  return loops;
}

/// An operand of lines x length in one of several orders in memory.
template <class T>
struct Operand {
  Operand(index_t lines, index_t length, int order) {
    std::size_t size = static_cast<std::size_t>(lines * length * 6 + 64);
    memory.resize(size);
    for (T& x : memory)
      x = static_cast<T>(uniform() < -0.8 ? 0.0 : std::ldexp(uniform(), static_cast<int>(uniform(-60, 60))));
    const T* const begin = memory.data();
    const T* const end = memory.data() + size - 1;
    switch (order) {
      case 0: view = {begin, lines, length, length + 3, 1, nullptr}; break;      // k contiguous
      case 1: view = {begin, lines, length, 1, lines + 1, nullptr}; break;       // lines contiguous
      case 2: view = {begin + 1, lines, length, 2 * length, 2, nullptr}; break;  // neither
      case 3: view = {begin + 1, lines, length, 3, 3 * lines, nullptr}; break;
      case 4: view = {end, lines, length, -1, -lines, nullptr}; break;  // both reversed
      case 5: view = {end, lines, length, -length, -1, nullptr}; break;
      case 6: view = {begin, lines, length, 0, 1, nullptr}; break;   // one line, repeated
      default: view = {begin, lines, length, 1, 0, nullptr}; break;  // one element, repeated along k
    }
  }
  std::vector<T> memory;
  LineView<T> view;
};
constexpr int kOrders = 8;

template <class T>
class Operands : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Operands, Scalars);

TYPED_TEST(Operands, ScanFindsWhatThePlainLoopFinds) {
  using T = TypeParam;
  for (const Loops<T>& loops : all_loops<T>())
    for (int order = 0; order < kOrders; ++order)
      for (const auto& shape :
           {std::pair<index_t, index_t>{1, 1}, {1, 70}, {70, 1}, {3, 5}, {16, 32}, {33, 31}, {130, 67}, {1100, 9}}) {
        const index_t lines = shape.first, length = shape.second;
        SCOPED_TRACE(testing::Message() << loops.name << ", order " << order << ", " << lines << " x " << length);
        Operand<T> operand(lines, length, order);
        const auto compare = [&] {
          std::vector<int> expected(static_cast<std::size_t>(lines)), found(expected);
          const ScanResult plain = scan(operand.view, expected.data(), 1);
          for (const int threads : {1, 3}) {
            const ScanResult fast = scan(operand.view, found.data(), threads, loops.kernels);
            EXPECT_EQ(plain.finite, fast.finite);
            if (plain.finite) {
              EXPECT_EQ(plain.max, fast.max);
              EXPECT_EQ(plain.min_nonzero, fast.min_nonzero);
            }
            EXPECT_EQ(expected, found);
          }
        };
        compare();
        T& element = const_cast<T&>(operand.view.line(lines / 2)[length / 2 * operand.view.k_stride]);
        for (const T value : {std::numeric_limits<T>::denorm_min(), -std::numeric_limits<T>::max(),
                              std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::quiet_NaN()}) {
          element = value;
          compare();
        }
        std::fill(operand.memory.begin(), operand.memory.end(), T(-0.0));
        compare();
      }
}

/// Packs with both and compares every byte, those around the panels included.
template <class T>
void compare_packing(const LineView<T>& view, const OperandKernels<T>& kernels, const PanelLayout& layout,
                     index_t first, index_t k_begin, index_t k_end) {
  const index_t steps = (k_end - k_begin + layout.kr - 1) / layout.kr;
  const index_t panels = (view.lines - first + layout.lines - 1) / layout.lines;
  const index_t stride = steps * layout.step_elements();
  std::vector<bf16> expected(static_cast<std::size_t>(panels * stride + 64), 0x7fc0), found(expected);
  pack_panels<T>({&view, &layout, first, panels, k_begin, k_end, expected.data(), stride});
  kernels.pack({&view, &layout, first, panels, k_begin, k_end, found.data(), stride});
  ASSERT_EQ(0, std::memcmp(expected.data(), found.data(), expected.size() * sizeof(bf16)));
}

/// Layouts of A and B of every engine, at `slices`.
template <class T>
std::vector<PanelLayout> layouts_of_engines(int slices) {
  constexpr bool kDouble = std::is_same_v<T, double>;
  std::vector<PanelLayout> layouts;
  const auto add = [&](const BlockSizes& blocks, Encoding encoding) {
    layouts.push_back(a_layout(blocks.mr, blocks.tile_rows, blocks.kr, slices, encoding));
    layouts.push_back(b_layout(blocks.nr, blocks.tile_cols, blocks.kr, slices, encoding));
  };
  // By their shapes: that of the portable and AMX engines, then 12 x 32, 6 x 16 and 4 x 16.
  for (const BlockSizes& blocks : {BlockSizes{16, 16, 32, 16, 16, 0, 0, 0},
                                   {16, 32, 32, 16, 16, 0, 0, 0},
                                   {32, 32, 32, 16, 16, 0, 0, 0},
                                   {12, 32, 32, 12, 32, 0, 0, 0},
                                   {6, 16, 32, 6, 16, 0, 0, 0},
                                   {4, 16, 32, 4, 16, 0, 0, 0}}) {
    add(blocks, Encoding::floats);
    if (kDouble) add(blocks, Encoding::integers);
  }
  return layouts;
}

TYPED_TEST(Operands, PackingWritesWhatThePlainLoopWrites) {
  using T = TypeParam;
  const int most = std::is_same_v<T, double> ? kMaxSlices : 3;
  int turn = 0;
  for (const Loops<T>& loops : all_loops<T>())
    for (int order = 0; order < kOrders; ++order)
      for (const auto& [lines, length] :
           {std::pair<index_t, index_t>{1, 1}, {5, 33}, {16, 64}, {31, 32}, {64, 31}, {67, 101}, {130, 96}}) {
        Operand<T> operand(lines, length, order);
        std::vector<int> exponents(static_cast<std::size_t>(lines));
        scan(operand.view, exponents.data(), 1);
        if (std::is_same_v<T, double>) operand.view.exponents = exponents.data();
        for (int slices = 1 + turn++ % 3; slices <= most; slices += most > 3 ? 2 : 1)
          for (const PanelLayout& layout : layouts_of_engines<T>(slices)) {
            SCOPED_TRACE(testing::Message() << loops.name << ", order " << order << ", " << lines << " x " << length
                                            << ", slices " << slices << ", panel of " << layout.lines << ", encoding "
                                            << static_cast<int>(layout.encoding));
            compare_packing(operand.view, *loops.kernels, layout, 0, 0, length);
            if (length > 40) compare_packing(operand.view, *loops.kernels, layout, lines / 2, 32, length - 3);
            if (this->HasFatalFailure()) return;
          }
      }
}

// Each engine's table really holds fast loops, and shapes that the test above knows.
TEST(Engines, HaveFastLoops) {
  for (const amx::BackendInfo& info : amx::backends())
    if (info.usable) {
      EXPECT_NE(nullptr, choose_backend(info.backend).engine<double>().operands) << info.name;
      EXPECT_NE(nullptr, choose_backend(info.backend).engine<float>().operands) << info.name;
    }
}

}  // namespace
