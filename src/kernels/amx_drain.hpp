// Draining accumulator tiles between tile products, while the tile unit works on what follows.
//
// FP64: the accumulators that are due after a k step form a group. They are stored to a scratch set, and then the rows
// of all of them are added to the sums of the micro-tile, one pass over a sum per group. FP32: stored tiles are added
// one by one.
#pragma once

#include "../limits.hpp"
#include "amx_order.hpp"

#include <immintrin.h>

#include <utility>

namespace amx::detail {
namespace {

constexpr int kTileFloats = 256;

// The vectors of this compilation.
#ifdef __AVX512F__
constexpr int kDoubles = 8, kFloats = 16;
using Doubles = __m512d;
using Floats = __m512;
inline Doubles load(const double* x) { return _mm512_loadu_pd(x); }
inline Floats load(const float* x) { return _mm512_loadu_ps(x); }
inline void store(double* x, Doubles v) { _mm512_storeu_pd(x, v); }
inline void store(float* x, Floats v) { _mm512_storeu_ps(x, v); }
inline Floats add(Floats x, Floats y) { return _mm512_add_ps(x, y); }
/// y + weight * x. The product with a power of two is exact, so the fused operation rounds as the two would.
inline Doubles add_scaled(const float* x, double weight, Doubles y) {
  return _mm512_fmadd_pd(_mm512_cvtps_pd(_mm256_loadu_ps(x)), _mm512_set1_pd(weight), y);
}
#else
constexpr int kDoubles = 4, kFloats = 8;
using Doubles = __m256d;
using Floats = __m256;
inline Doubles load(const double* x) { return _mm256_loadu_pd(x); }
inline Floats load(const float* x) { return _mm256_loadu_ps(x); }
inline void store(double* x, Doubles v) { _mm256_storeu_pd(x, v); }
inline void store(float* x, Floats v) { _mm256_storeu_ps(x, v); }
inline Floats add(Floats x, Floats y) { return _mm256_add_ps(x, y); }
inline Doubles add_scaled(const float* x, double weight, Doubles y) {
  return _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_loadu_ps(x)), _mm256_set1_pd(weight), y);
}
#endif

/// Diagonals from the returned one on are due after k step `step` of a chunk of `steps`: the cadence is 8, 4, 2, 2, 1,
/// 1, 1, 1.
inline int first_due(int step, int steps) {
  static_assert(drain_cadence(0, 32) == 8 && drain_cadence(1, 32) == 4 && drain_cadence(2, 32) == 2 &&
                drain_cadence(3, 32) == 2 && drain_cadence(4, 32) == 1 && drain_cadence(7, 32) == 1);
  const int done = step + 1;
  return done == steps || done % 8 == 0 ? 0 : done % 4 == 0 ? 1 : done % 2 == 0 ? 2 : 4;
}

template <const auto& Order>
constexpr int highest_diagonal() {
  int highest = 0;
  for (const TileProduct& product : Order.products)
    if (product.a + product.b > highest) highest = product.a + product.b;
  return highest;
}

/// Group of stored accumulators of a TileOrder on their way to the sums of a micro-tile.
template <const auto& Order>
class DigitDrain {
 public:
  /// Rows to add per tile product, so that a group is done before the next one is ready: groups come every step if
  /// there are diagonals from 4 on, else every two steps.
  static constexpr int kProductsPerGroup = Order.kCount * (highest_diagonal<Order>() >= 4 ? 1 : 2);
  static constexpr int kRowsPerProduct = (16 * Order.columns + kProductsPerGroup - 1) / kProductsPerGroup;

  float* scratch(int set, int accumulator) { return scratch_[set][accumulator]; }

  void begin(int set, int first, double* sums) {
    finish();
    set_ = set;
    first_ = first;
    sums_ = sums;
    row_ = 0;
  }
  void work() {
    if (row_ < kRows) add_until(row_ + kRowsPerProduct < kRows ? row_ + kRowsPerProduct : kRows);
  }
  void finish() {
    if (row_ < kRows) add_until(kRows);
  }

 private:
  static constexpr int kRows = 16 * Order.columns;  // rows of 16 elements
  static constexpr auto kStores = plan_stores(Order);

  void add_until(int end) {
    switch (first_) {
      case 0: return add_rows<0>(end);
      case 1: return add_rows<1>(end);
      case 2: return add_rows<2>(end);
      default: return add_rows<4>(end);
    }
  }

  template <int First>
  void add_rows(int end) {
    for (; row_ < end; ++row_) {
      add_row<First, 0>();
      add_row<First, 1>();
      add_row<First, 2>();
    }
  }

  /// One row of one column tile: sum += the due diagonals of this accumulator set.
  template <int First, int Set>
  void add_row() {
    if constexpr (any_due(First, Set, 0) || any_due(First, Set, 1)) {
      const int column = row_ / 16, r = row_ % 16;
      double* const sum = sums_ + Set * 256 * Order.columns + r * 16 * Order.columns + 16 * column;
      for (int c = 0; c < 16; c += kDoubles) {
        Doubles value = load(sum + c);
        add_accumulators<First, Set>(value, column, 16 * r + c, std::make_index_sequence<6>());
        store(sum + c, value);
      }
    }
  }

  template <int First, int Set, std::size_t... A>
  void add_accumulators(Doubles& value, int column, int at, std::index_sequence<A...>) {
    (add_accumulator<First, Set, static_cast<int>(A)>(value, column, at), ...);
  }
  template <int First, int Set, int A>
  void add_accumulator(Doubles& value, int column, int at) {
    if constexpr (is_due(First, Set, A)) {
      constexpr StoreSlot kStore = kStores.of[A];
      if (Order.columns == 2 && kStore.column != column) return;
      value = add_scaled(scratch_[set_][A] + at, kDiagonalWeights[kStore.diagonal], value);
    }
  }

  static constexpr bool is_due(int first, int set, int accumulator) {
    return accumulator < Order.accumulators && kStores.of[accumulator].diagonal >= first &&
           accumulator_set(kStores.of[accumulator].diagonal) == set;
  }
  static constexpr bool any_due(int first, int set, int column) {
    for (int a = 0; a < Order.accumulators; ++a)
      if (is_due(first, set, a) && kStores.of[a].column == column) return true;
    return false;
  }

  alignas(64) float scratch_[2][6][kTileFloats];
  double* sums_ = nullptr;
  int set_ = 0, first_ = 0, row_ = kRows;
};

/// Stored FP32 tiles on their way to the sums of a micro-tile, first in, first out.
class ResidualDrain {
 public:
  /// Where to store a tile whose 16 x 16 floats shall be added to sum[32 r + c].
  float* push(float* sum) {
    if (count_ == kSlots) finish_oldest();
    const int slot = (oldest_ + count_++) % kSlots;
    sums_[slot] = sum;
    return tiles_[slot];
  }
  void work() {
    if (count_ != 0) add_rows(2);
  }
  void finish() {
    while (count_ != 0) finish_oldest();
  }

 private:
  static constexpr int kSlots = 8;

  void finish_oldest() { add_rows(16 - row_); }
  void add_rows(int rows) {
    const float* tile = tiles_[oldest_] + row_ * 16;
    float* sum = sums_[oldest_] + row_ * 32;
    for (int r = 0; r < rows; ++r, tile += 16, sum += 32)
      for (int c = 0; c < 16; c += kFloats) store(sum + c, add(load(sum + c), load(tile + c)));
    row_ += rows;
    if (row_ == 16) {
      row_ = 0;
      oldest_ = (oldest_ + 1) % kSlots;
      --count_;
    }
  }

  alignas(64) float tiles_[kSlots][kTileFloats];
  float* sums_[kSlots];
  int oldest_ = 0, count_ = 0;
  int row_ = 0;  // rows of the oldest tile already added
};

}  // namespace
}  // namespace amx::detail
