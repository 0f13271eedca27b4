// Splitting numbers into BF16 slices: digits for double, residuals for float (docs/numerics.md, sections 2 and 4).
//
// Both work on a short run of one line (a row of A, a column of B); pack.cpp gathers the run and scatters the slices.
// Round to nearest even must be in force (rounding.hpp).
#pragma once

#include "limits.hpp"

namespace amx::detail {

/// Longest run; the largest kr of any engine.
inline constexpr int kMaxRun = 64;

/// slices[p * count + i] = digit p of x[i] on a line whose magnitudes lie below 2^exponent. Every digit is an integer
/// in
/// [-256, 256], and sum_p digit_p 2^(exponent - 8 - 9 p) differs from x by at most 2^(exponent - 9 d) for d slices.
void split(const double* x, int count, int exponent, int slices, bf16* out);

/// slices[p * count + i] = residual p of x[i]: A0 = bf16(x), A1 = bf16(x - A0), A2 = bf16(x - A0 - A1), all exact.
/// `exponent` is not used: residuals keep the exponent of the element.
void split(const float* x, int count, int exponent, int slices, bf16* out);

}  // namespace amx::detail
