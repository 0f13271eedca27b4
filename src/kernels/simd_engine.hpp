// Register-blocked kernels for vector instructions that multiply pairs of 16-bit elements: the code that
// avx512_bf16.cpp and avx2.cpp instantiate, each with its own vectors.
//
// A micro-tile of C is kRows x (kVectors * kLanes) and stays in registers while a chunk of k passes: for each pair of
// elements a row of A broadcasts one 32-bit word, and every vector of B holds one word per column. The panels are those
// of panel.hpp with one tile per panel and kr = 32, so a k step is 16 words per line.
//
// FP64 digits are int16 and summed in int32, exactly, a diagonal at a time; so a diagonal is drained once per chunk,
// where FP32 accumulators would have to be drained every 256 / (l + 1) elements of k. FP32 residuals are BF16 and
// summed in float by the rule of VDPBF16PS (docs/numerics.md, section 4.2).
//
// Everything is in an unnamed namespace, see operands.hpp.
#pragma once

#include "../kernel.hpp"

namespace amx::detail {
namespace {

constexpr int kStepPairs = 16;                   // words of a line per k step
constexpr int kWord = 2;                         // 16-bit elements per word
constexpr int kLineStride = kWord * kStepPairs;  // of A
constexpr int kCacheLine = 32;                   // in elements
static_assert(kLineStride == kCacheLine);

/// V: a vector extension.
///
///     Acc, Operand        vector types of sums and of words
///     kRows, kVectors, kLanes
///     zero(), load(const bf16*), broadcast(const bf16*)
///     multiply(acc, a, b) acc + the products of each word's pair
template <class V>
struct MicroTile {
  static constexpr int kRows = V::kRows, kVectors = V::kVectors;
  static constexpr int kColumns = V::kVectors * V::kLanes;
  static constexpr int kA = kRows * kLineStride, kB = kColumns * kLineStride;  // elements of a slice of a k step
  typename V::Acc at[std::size_t{V::kRows}][std::size_t{V::kVectors}];

  void clear() {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) at[r][v] = V::zero();
  }
};

/// acc += A_p B_q over `steps` k steps; a_step and b_step lead from one step to the next.
///
/// The panels are in L2, which hardware prefetchers leave too late here: each pair asks for its share of the next step,
/// a line of A and its own columns of B (what a step after the last one would be is asked for and not used).
template <class V>
[[gnu::always_inline]] inline void multiply(MicroTile<V>& acc, const bf16* a, const bf16* b, int steps, index_t a_step,
                                            index_t b_step) {
  for (int step = 0; step < steps; ++step, a += a_step, b += b_step)
    for (int pair = 0; pair < kStepPairs; ++pair) {
      __builtin_prefetch(a + a_step + pair * kLineStride);
      for (int line = 0; line < kWord * MicroTile<V>::kColumns; line += kCacheLine)
        __builtin_prefetch(b + b_step + kWord * pair * MicroTile<V>::kColumns + line);
      typename V::Operand columns[std::size_t{V::kVectors}];
#pragma GCC unroll 4
      for (int v = 0; v < V::kVectors; ++v)
        columns[v] = V::load(b + kWord * (pair * MicroTile<V>::kColumns + v * V::kLanes));
#pragma GCC unroll 16
      for (int r = 0; r < V::kRows; ++r) {
        const typename V::Operand row = V::broadcast(a + r * kLineStride + kWord * pair);
#pragma GCC unroll 4
        for (int v = 0; v < V::kVectors; ++v) acc.at[r][v] = V::multiply(acc.at[r][v], row, columns[v]);
      }
    }
}

// ---- FP64: digits ----

/// |sum| over a chunk of kc on diagonal l is at most (l + 1) kc 2^16, which has to stay below 2^31.
constexpr bool digits_fit_int32(const BlockSizes (&blocks)[kMaxSlices]) {
  for (int slices = 1; slices <= kMaxSlices; ++slices)
    if (slices * blocks[slices - 1].kc >= 1 << 15) return false;
  return true;
}

template <class V>
void digit_tile(const KernelJob<double>& job, const bf16* a, const bf16* b, double* c) {
  using Tile = MicroTile<V>;
  const int slices = job.schedule->slices;
  for (int l = 0; l < slices; ++l) {
    Tile acc;
    acc.clear();
    double* const sums = c + index_t{accumulator_set(l)} * V::kRows * Tile::kColumns;
    // The sums come from L2 or L3; asked for here, they arrive while the products run.
    for (int line = 0; line < V::kRows * Tile::kColumns; line += 8) __builtin_prefetch(sums + line, 1);
    for (int p = 0; p <= l; ++p)
      multiply<V>(acc, a + p * Tile::kA, b + (l - p) * Tile::kB, job.k_steps, index_t{slices} * Tile::kA,
                  index_t{slices} * Tile::kB);
#pragma GCC unroll 16
    for (int r = 0; r < V::kRows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < V::kVectors; ++v)
        V::drain(acc.at[r][v], kDiagonalWeights[l], sums + r * Tile::kColumns + v * V::kLanes);
  }
}

template <class V>
void run_digits(const KernelJob<double>& job) {
  for (int j = 0; j < job.n_panels; ++j)
    for (int i = 0; i < job.m_panels; ++i)
      digit_tile<V>(job, job.a + i * job.a_stride, job.b + j * job.b_stride,
                    job.c + i * job.c_row_stride + j * job.c_tile_stride);
}

// ---- FP32: residuals ----

template <class V>
void residual_tile(const KernelJob<float>& job, const bf16* a, const bf16* b, float* c) {
  using Tile = MicroTile<V>;
  const Schedule& schedule = *job.schedule;
  const index_t a_step = index_t{schedule.slices} * Tile::kA, b_step = index_t{schedule.slices} * Tile::kB;
  Tile total;  // in memory: the registers hold the sums of a step
  total.clear();
  if (schedule.pass_count > 1) {
    Tile small;
    small.clear();
    for (int q = 0; q < schedule.passes[0].count; ++q) {
      const SlicePair pair = schedule.passes[0].pairs[q];
      multiply<V>(small, a + pair.a * Tile::kA, b + pair.b * Tile::kB, job.k_steps, a_step, b_step);
    }
#pragma GCC unroll 16
    for (int r = 0; r < V::kRows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < V::kVectors; ++v) total.at[r][v] = small.at[r][v];
  }
  for (int step = 0; step < job.k_steps; ++step, a += a_step, b += b_step) {
    Tile leading;
    leading.clear();
    multiply<V>(leading, a, b, 1, a_step, b_step);
#pragma GCC unroll 16
    for (int r = 0; r < V::kRows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < V::kVectors; ++v) total.at[r][v] = V::add(total.at[r][v], leading.at[r][v]);
  }
#pragma GCC unroll 16
  for (int r = 0; r < V::kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < V::kVectors; ++v) V::add_to(c + r * Tile::kColumns + v * V::kLanes, total.at[r][v]);
}

template <class V>
void run_residuals(const KernelJob<float>& job) {
  for (int j = 0; j < job.n_panels; ++j)
    for (int i = 0; i < job.m_panels; ++i)
      residual_tile<V>(job, job.a + i * job.a_stride, job.b + j * job.b_stride,
                       job.c + i * job.c_row_stride + j * job.c_tile_stride);
}

}  // namespace
}  // namespace amx::detail
