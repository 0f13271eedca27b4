// amx::gemm(): checks of what C++ callers can get wrong, then the front end.
#include <amx/gemm.hpp>

#include "driver.hpp"
#include "environment.hpp"
#include "frontend.hpp"
#include "publish.hpp"

#include <limits>
#include <stdexcept>
#include <string>

namespace amx {
namespace detail {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument("amx::gemm: " + what); }

/// Whether the offset of the last element of a rows x cols matrix, in bytes, fits into index_t.
bool addressable(index_t rows, index_t cols, index_t row_stride, index_t col_stride, std::size_t size) {
  constexpr index_t kMax = std::numeric_limits<index_t>::max();
  const index_t limit = kMax / static_cast<index_t>(size);
  if (row_stride != 0 && rows - 1 > limit / row_stride) return false;
  if (col_stride != 0 && cols - 1 > limit / col_stride) return false;
  return (rows - 1) * row_stride <= limit - (cols - 1) * col_stride;
}

/// Of a matrix that is not read only the strides are checked.
template <class T>
void check_matrix(const char* name, const T* data, index_t rows, index_t cols, index_t row_stride, index_t col_stride,
                  bool used) {
  if (row_stride < 0 || col_stride < 0)
    refuse(std::string("negative stride of ") + name + "; point to the element with the lowest address instead");
  if (!used || rows == 0 || cols == 0) return;
  if (!data) refuse(std::string(name) + " is a null pointer");
  if (!addressable(rows, cols, row_stride, col_stride, sizeof(T)))
    refuse(std::string("the strides of ") + name + " lead beyond the address space");
}

template <class T>
void check(const GemmArguments<T>& args) {
  if (args.m < 0 || args.n < 0 || args.k < 0) refuse("negative m, n or k");
  if (slices_for<T>(args.products) == 0)
    refuse("no scheme with " + std::to_string(args.products) + " products; " +
           (std::is_same_v<T, double> ? "double has 1, 3, 6, 10, 15, 21, 28 and 36" : "float has 1, 3, 6 and 9"));
  const bool reads = args.alpha != T(0);
  check_matrix("A", args.a, args.m, args.k, args.a_row_stride, args.a_col_stride, reads && args.n > 0);
  check_matrix("B", args.b, args.k, args.n, args.b_row_stride, args.b_col_stride, reads && args.m > 0);
  check_matrix("C", args.c, args.m, args.n, args.c_row_stride, args.c_col_stride, true);
  if ((args.m > 1 && args.c_row_stride == 0) || (args.n > 1 && args.c_col_stride == 0))
    refuse("zero stride of C: several elements would share one place");
}

template <class T>
Verdict gemm_checked(const GemmArguments<T>& args, const Options& given) {
  check(args);
  const Options options = resolve(given);
  if (options.backend == Backend::native)
    refuse("there is no native product here; Backend::native needs the Eigen expressions of amx/emulated.hpp");
  Report report = start_report(args);
  if (args.alpha == T(0)) {  // as in the BLAS: A and B are not read
    GemmArguments<T> no_terms = args;
    no_terms.k = 0;
    emulate_in_range(no_terms, options, report);
    return Verdict::in_range;
  }
  if (!emulate_in_range(args, options, report)) publish(report, options);
  return report.verdict;
}

}  // namespace
}  // namespace detail

Verdict gemm(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, double alpha, const double* a,
             std::ptrdiff_t a_row_stride, std::ptrdiff_t a_col_stride, const double* b, std::ptrdiff_t b_row_stride,
             std::ptrdiff_t b_col_stride, double beta, double* c, std::ptrdiff_t c_row_stride,
             std::ptrdiff_t c_col_stride, int products, const Options& options) {
  return detail::gemm_checked<double>({m, n, k, alpha, a, a_row_stride, a_col_stride, b, b_row_stride, b_col_stride,
                                       beta, c, c_row_stride, c_col_stride, products, detail::Fill::full},
                                      options);
}

Verdict gemm(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, float alpha, const float* a,
             std::ptrdiff_t a_row_stride, std::ptrdiff_t a_col_stride, const float* b, std::ptrdiff_t b_row_stride,
             std::ptrdiff_t b_col_stride, float beta, float* c, std::ptrdiff_t c_row_stride,
             std::ptrdiff_t c_col_stride, int products, const Options& options) {
  return detail::gemm_checked<float>({m, n, k, alpha, a, a_row_stride, a_col_stride, b, b_row_stride, b_col_stride,
                                      beta, c, c_row_stride, c_col_stride, products, detail::Fill::full},
                                     options);
}

}  // namespace amx
