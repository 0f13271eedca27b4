// The verdict: are the operands inside the range in which every slice, slice product and sum is exact or normal?
//
// docs/numerics.md, section 5, derives the inequalities; limits.hpp has their constants.
#pragma once

#include "scan.hpp"

#include <amx/report.hpp>

namespace amx::detail {

struct Finding {
  Verdict verdict = Verdict::in_range;
  char operand = 0;  // 'A', 'B', or 0 where no single element is to blame
  double bound = 0;  // the offending min|a| min|b| or k max|a| max|b|
};

/// In order of precedence, A before B in each: not_finite, too_large, too_small, product_underflow, product_overflow.
/// `rescale` (double only): magnitudes are free as long as C cannot overflow.
template <class T>
Finding judge(const ScanResult& a, const ScanResult& b, index_t k, bool rescale);

struct Location {
  index_t row, col;
  double value;
};

/// The first element in row-major order of a rows x cols operand that makes `verdict` true of it. There is one.
template <class T>
Location locate(Verdict verdict, const T* data, index_t rows, index_t cols, index_t row_stride, index_t col_stride);

}  // namespace amx::detail
