// From the sums of a micro-tile to C, a whole tile at a time: what Pipeline::store() defines element by element.
//
// First the sums are rounded and scaled in place, along the rows of the tile; then C is updated in the order in which
// it lies in memory.
#pragma once

#include "pipeline.hpp"

namespace amx::detail {

/// Largest mr and nr of any engine.
inline constexpr int kMaxMicroTile = 64;

template <class T>
class TileStore {
 public:
  explicit TileStore(const Pipeline<T>& pipe) : pipe_(pipe), args_(pipe.args) {}

  /// The micro-tile whose first element is (row0, col0). Its sums are used up.
  void operator()(T* sums, index_t row0, index_t col0) const {
    const int rows = static_cast<int>(std::min<index_t>(pipe_.blocks.mr, args_.m - row0));
    const int cols = static_cast<int>(std::min<index_t>(pipe_.blocks.nr, args_.n - col0));
    if constexpr (std::is_same_v<T, double>) {
      round(sums);
      scale(sums, row0, rows, col0, cols);
    }
    if (args_.beta == T(0))
      write<false>(sums, row0, rows, col0, cols);
    else
      write<true>(sums, row0, rows, col0, cols);
  }

 private:
  /// The sum of all sets to the first one.
  void round(double* sums) const {
    const index_t size = pipe_.tile_elements();
    const int sets = pipe_.kernel_sets;
    if (pipe_.several_super_panels)
      std::copy(sums + sets * size, sums + (sets + 1) * size, sums);
    else if (sets == 2)
      for (index_t i = 0; i < size; ++i) sums[i] += sums[size + i];
    else if (sets == 3)
      for (index_t i = 0; i < size; ++i) sums[i] = round_sum(sums + i, size, 3);
  }

  /// Times 2^(v_i + w_j). Within +-kModerate nothing becomes subnormal or overflows, so the two powers may be applied
  /// as one factor.
  void scale(double* sums, index_t row0, int rows, index_t col0, int cols) const {
    constexpr int kModerate = 400;
    const int* const v = pipe_.problem.a_exponents + row0;
    const int* const w = pipe_.problem.b_exponents + col0;
    const int nr = pipe_.blocks.nr;
    int largest = 0;
    for (int r = 0; r < rows; ++r) largest = std::max(largest, std::abs(v[r]));
    for (int c = 0; c < cols; ++c) largest = std::max(largest, std::abs(w[c]));
    if (largest <= kModerate) {
      double column[kMaxMicroTile];
      for (int c = 0; c < cols; ++c) column[c] = scale_by_power(1, w[c]);
      for (int r = 0; r < rows; ++r, sums += nr) {
        const double row = scale_by_power(1, v[r]);
        for (int c = 0; c < cols; ++c) sums[c] *= row * column[c];
      }
    } else {
      for (int r = 0; r < rows; ++r, sums += nr)
        for (int c = 0; c < cols; ++c) sums[c] = scale_by_power(sums[c], v[r] + w[c]);
    }
  }

  template <bool kReadsC>
  void write(const T* values, index_t row0, int rows, index_t col0, int cols) const {
    const index_t row_stride = args_.c_row_stride, col_stride = args_.c_col_stride;
    const int nr = pipe_.blocks.nr;
    const T alpha = args_.alpha, beta = kReadsC ? args_.beta : T(0);
    if (std::abs(row_stride) < std::abs(col_stride)) {
      for (int c = 0; c < cols; ++c) {
        index_t first = row0, last = row0 + rows;
        clip(transposed(args_.fill), col0 + c, first, last);
        T* const to = args_.c + (col0 + c) * col_stride;
        for (index_t row = first; row < last; ++row)
          update(to[row * row_stride], values[(row - row0) * nr + c], alpha, beta);
      }
    } else {
      for (int r = 0; r < rows; ++r) {
        index_t first = col0, last = col0 + cols;
        clip(args_.fill, row0 + r, first, last);
        T* const to = args_.c + (row0 + r) * row_stride;
        for (index_t col = first; col < last; ++col)
          update(to[col * col_stride], values[r * nr + (col - col0)], alpha, beta);
      }
    }
  }

  const Pipeline<T>& pipe_;
  const GemmArguments<T>& args_;
};

}  // namespace amx::detail
