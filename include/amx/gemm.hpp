// C = alpha A B + beta C from BF16 component products, on pointers and strides; no Eigen.
//
// The same computation as the Eigen expressions of emulated.hpp, for callers with other containers. There is no native
// product to fall back to here, so operands outside the range are refused with the verdict.
#pragma once

#include <amx/export.hpp>
#include <amx/options.hpp>
#include <amx/products.hpp>
#include <amx/report.hpp>

#include <cstddef>

namespace amx {

/// C (m x n) = alpha * A (m x k) * B (k x n) + beta * C.
///
/// Element (i, j) of A is a[i * a_row_stride + j * a_col_stride], and so on: column-major with leading dimension ld is
/// (1, ld), row-major (ld, 1). Strides of A and B may be zero (a broadcast row or column), those of C only where the
/// dimension is at most 1; negative strides are refused.
///
/// As in the BLAS, A and B are not read if alpha == 0 or k == 0, and C is not read if beta == 0. C must not overlap A
/// or B.
///
/// \return Verdict::in_range and C computed; or what is wrong with the operands, C untouched (details in
///         options.report and last_report()).
/// \throws std::invalid_argument  negative sizes or strides, null pointers, offsets that overflow, a product count that
///         slices_for<T>() does not know, Backend::native
/// \throws std::domain_error      operands out of range under OutOfRange::error
/// \throws std::runtime_error     a backend was asked for that this machine or library cannot run
/// \throws std::bad_alloc         no memory for the packing buffers
/// After every exception C is untouched. Thread-safe for distinct C.
[[nodiscard]] AMX_EXPORT Verdict gemm(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, double alpha,
                                      const double* a, std::ptrdiff_t a_row_stride, std::ptrdiff_t a_col_stride,
                                      const double* b, std::ptrdiff_t b_row_stride, std::ptrdiff_t b_col_stride,
                                      double beta, double* c, std::ptrdiff_t c_row_stride, std::ptrdiff_t c_col_stride,
                                      int products = kDefaultProducts<double>,
                                      const Options& options = default_options());

[[nodiscard]] AMX_EXPORT Verdict gemm(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, float alpha, const float* a,
                                      std::ptrdiff_t a_row_stride, std::ptrdiff_t a_col_stride, const float* b,
                                      std::ptrdiff_t b_row_stride, std::ptrdiff_t b_col_stride, float beta, float* c,
                                      std::ptrdiff_t c_row_stride, std::ptrdiff_t c_col_stride,
                                      int products = kDefaultProducts<float>,
                                      const Options& options = default_options());

}  // namespace amx
