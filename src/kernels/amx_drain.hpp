// Draining accumulator tiles between tile products: a queue of stored tiles whose rows are added to the sums of a
// micro-tile a few at a time, while the tile unit works on what follows.
#pragma once

#include <cstddef>

namespace amx::detail {
namespace {

template <class T>
class DrainQueue {
 public:
  /// Where to store a tile whose 16 x 16 floats, times `weight`, shall be added to sum[r * stride + c].
  float* push(T* sum, std::ptrdiff_t stride, T weight) {
    if (count_ == kSlots) finish_oldest();
    const int slot = (oldest_ + count_++) % kSlots;
    entries_[slot] = {sum, stride, weight};
    return tiles_[slot];
  }

  /// Adds up to four rows of the oldest tile. Call it once per tile product: a kernel drains at most about three rows per
  /// product on average.
  void work() {
    if (count_ != 0) add_rows(4);
  }

  void finish() {
    while (count_ != 0) finish_oldest();
  }

 private:
  static constexpr int kSlots = 16, kRows = 16, kCols = 16;

  struct Entry {
    T* sum;
    std::ptrdiff_t stride;
    T weight;
  };

  void finish_oldest() { add_rows(kRows - row_); }

  void add_rows(int rows) {
    const Entry entry = entries_[oldest_];
    const float* tile = tiles_[oldest_] + row_ * kCols;
    T* sum = entry.sum + row_ * entry.stride;
    for (int r = 0; r < rows; ++r, tile += kCols, sum += entry.stride) {
#pragma omp simd
      for (int c = 0; c < kCols; ++c) sum[c] += entry.weight * static_cast<T>(tile[c]);
    }
    row_ += rows;
    if (row_ == kRows) {
      row_ = 0;
      oldest_ = (oldest_ + 1) % kSlots;
      --count_;
    }
  }

  alignas(64) float tiles_[kSlots][kRows * kCols];
  Entry entries_[kSlots];
  int oldest_ = 0, count_ = 0;
  int row_ = 0;  // rows of the oldest tile already added; a multiple of four, so that work() never overruns
};

}  // namespace
}  // namespace amx::detail
