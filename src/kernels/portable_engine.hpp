// The portable kernels as templates over the tile shape: plain C++ on the packed panels that AMX kernels read.
//
// kernels/portable.cpp instantiates them with the AMX tile shapes; the tests with odd ones, so that nothing above may
// assume a layout. Everything is in an unnamed namespace: an object file must not define symbols that the linker could
// share with one that was compiled for another ISA.
#pragma once

#include "../kernel.hpp"
#include "../panel.hpp"

#include <cstring>

namespace amx::detail {
namespace {

template <int Mr, int Nr, int Kr, int TileRows, int TileCols>
struct TileShape {
  static constexpr int mr = Mr, nr = Nr, kr = Kr, tile_rows = TileRows, tile_cols = TileCols;
  static_assert(Mr % TileRows == 0 && Nr % TileCols == 0 && Kr % 2 == 0);
};

inline float bf16_to_float(bf16 x) {
  const std::uint32_t bits = std::uint32_t{x} << 16;
  float y;
  std::memcpy(&y, &bits, sizeof y);
  return y;
}

/// One slice of one k step as floats, row-major in the order of the tile: A[r][pair element], B[pair][c][pair element]
/// become a[r][k] and b[k][c] with k in pair order 0, h, 1, h + 1, ...
template <class Shape>
struct UnpackedA {
  float at[Shape::mr][Shape::kr];
  void load(const bf16* slice) {
    constexpr int kTile = Shape::tile_rows * Shape::kr;
    for (int r = 0; r < Shape::mr; ++r) {
      const bf16* row = slice + r / Shape::tile_rows * kTile + r % Shape::tile_rows * Shape::kr;
      for (int k = 0; k < Shape::kr; ++k) at[r][k] = bf16_to_float(row[k]);
    }
  }
};

template <class Shape>
struct UnpackedB {
  float at[Shape::kr][Shape::nr];
  void load(const bf16* slice) {
    constexpr int kTile = Shape::tile_cols * Shape::kr;
    for (int t = 0; t < Shape::nr / Shape::tile_cols; ++t)
      for (int pair = 0; pair < Shape::kr / 2; ++pair) {
        const bf16* row = slice + t * kTile + pair * 2 * Shape::tile_cols;
        for (int c = 0; c < Shape::tile_cols; ++c) {
          at[2 * pair][t * Shape::tile_cols + c] = bf16_to_float(row[2 * c]);
          at[2 * pair + 1][t * Shape::tile_cols + c] = bf16_to_float(row[2 * c + 1]);
        }
      }
  }
};

// ---- FP64: digits ----

/// The FP32 accumulators of a micro-tile, one per diagonal.
template <class Shape>
struct Diagonals {
  float at[kMaxSlices][Shape::mr][Shape::nr];

  void multiply(int diagonal, const UnpackedA<Shape>& a, const UnpackedB<Shape>& b) {
    constexpr int kRows = Shape::mr % 2 == 0 ? 2 : 1;  // two rows at a time hide the latency of the additions
    // "omp simd": left alone, gcc 12 unrolls the columns and vectorises along k, four times slower.
    for (int r = 0; r < Shape::mr; r += kRows) {
      float sum[2][Shape::nr];
      for (int i = 0; i < kRows; ++i)
        for (int c = 0; c < Shape::nr; ++c) sum[i][c] = at[diagonal][r + i][c];
      for (int k = 0; k < Shape::kr; ++k)
        for (int i = 0; i < kRows; ++i) {
#pragma omp simd
          for (int c = 0; c < Shape::nr; ++c) sum[i][c] += a.at[r + i][k] * b.at[k][c];
        }
      for (int i = 0; i < kRows; ++i)
        for (int c = 0; c < Shape::nr; ++c) at[diagonal][r + i][c] = sum[i][c];
    }
  }

  /// Adds diagonal l to its exact sum and clears it.
  void drain(int diagonal, double* c) {
    const double weight = kDiagonalWeights[diagonal];
    double* sum = c + accumulator_set(diagonal) * Shape::mr * Shape::nr;
    float* tile = &at[diagonal][0][0];
    for (int i = 0; i < Shape::mr * Shape::nr; ++i) {
      sum[i] += weight * static_cast<double>(tile[i]);
      tile[i] = 0;
    }
  }
};

template <class Shape>
void digit_pass(const Pass& pass, int slices, int k_steps, const bf16* a, const bf16* b, double* c) {
  Diagonals<Shape> diagonals{};
  UnpackedA<Shape> a_tile[kMaxSlices];
  UnpackedB<Shape> b_tile[kMaxSlices];
  bool used[kMaxSlices] = {};
  for (int i = 0; i < pass.count; ++i) used[pass.pairs[i].a + pass.pairs[i].b] = true;
  for (int step = 0; step < k_steps; ++step) {
    for (int p = 0; p < slices; ++p, a += Shape::mr * Shape::kr, b += Shape::kr * Shape::nr) {
      a_tile[p].load(a);
      b_tile[p].load(b);
    }
    for (int i = 0; i < pass.count; ++i) {
      const SlicePair pair = pass.pairs[i];
      diagonals.multiply(pair.a + pair.b, a_tile[pair.a], b_tile[pair.b]);
    }
    for (int l = 0; l < kMaxSlices; ++l)
      if (used[l] && ((step + 1) % drain_cadence(l, Shape::kr) == 0 || step + 1 == k_steps)) diagonals.drain(l, c);
  }
}

template <class Shape>
void run_digits(const KernelJob<double>& job) {
  static_assert(drain_cadence(kMaxSlices - 1, Shape::kr) >= 1, "kr too large for an exact FP32 accumulator");
  const Schedule& schedule = *job.schedule;
  for (int i = 0; i < job.m_panels; ++i)
    for (int j = 0; j < job.n_panels; ++j)
      for (int p = 0; p < schedule.pass_count; ++p)
        digit_pass<Shape>(schedule.passes[p], schedule.slices, job.k_steps, job.a + i * job.a_stride,
                          job.b + j * job.b_stride, job.c + i * job.c_row_stride + j * job.c_tile_stride);
}

// ---- FP32: residuals ----

/// acc += A B by the rule of TDPBF16PS: the even and the odd elements of the pairs are summed in chains of their own
/// from zero, and the sum of the two is added to the accumulator; every step rounds to nearest even. A product of two
/// BF16 is exact in FP32 here, so multiply-then-add rounds as the fused operation does; and no operand, product or sum
/// of an operand in range is subnormal, so nothing is flushed (docs/numerics.md, section 4).
template <class Shape>
void multiply_residuals(float (&acc)[Shape::mr][Shape::nr], const UnpackedA<Shape>& a, const UnpackedB<Shape>& b) {
  for (int r = 0; r < Shape::mr; ++r) {
    float even[Shape::nr] = {}, odd[Shape::nr] = {};
    for (int k = 0; k < Shape::kr; k += 2) {
#pragma omp simd
      for (int c = 0; c < Shape::nr; ++c) {
        even[c] += a.at[r][k] * b.at[k][c];
        odd[c] += a.at[r][k + 1] * b.at[k + 1][c];
      }
    }
    for (int c = 0; c < Shape::nr; ++c) acc[r][c] += even[c] + odd[c];
  }
}

template <class Shape>
void run_residuals(const KernelJob<float>& job) {
  static_assert(Shape::kr == kResidualStep);
  constexpr int kA = Shape::mr * Shape::kr, kB = Shape::kr * Shape::nr;
  const Schedule& schedule = *job.schedule;
  UnpackedA<Shape> a_tile;
  UnpackedB<Shape> b_tile;
  for (int i = 0; i < job.m_panels; ++i)
    for (int j = 0; j < job.n_panels; ++j) {
      const bf16* a = job.a + i * job.a_stride;
      const bf16* b = job.b + j * job.b_stride;
      float acc[Shape::mr][Shape::nr] = {};
      for (int p = 0; p < schedule.pass_count; ++p)
        for (int step = 0; step < job.k_steps; ++step)
          for (int q = 0; q < schedule.passes[p].count; ++q) {
            const SlicePair pair = schedule.passes[p].pairs[q];
            a_tile.load(a + (index_t{step} * schedule.slices + pair.a) * kA);
            b_tile.load(b + (index_t{step} * schedule.slices + pair.b) * kB);
            multiply_residuals<Shape>(acc, a_tile, b_tile);
          }
      float* c = job.c + i * job.c_row_stride + j * job.c_tile_stride;
      const float* sum = &acc[0][0];
      for (int e = 0; e < Shape::mr * Shape::nr; ++e) c[e] += sum[e];
    }
}

}  // namespace
}  // namespace amx::detail
