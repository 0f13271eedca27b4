// What the Eigen layer needs of the library: run the emulated product, or say that the caller must run its native one.
//
// Not a public interface. The native product has to be compiled in the user's translation unit (with the user's flags
// and BLAS setting), so the library can only decide; emulate() returns false, the caller runs Eigen's product inside a
// NativeRun, and the report is published when that is finished.
#pragma once

#include <amx/export.hpp>
#include <amx/options.hpp>
#include <amx/report.hpp>

#include <chrono>
#include <cstddef>

namespace amx::detail {

/// Part of C that is computed and written; the rest is neither read nor written.
enum class Fill { full, lower, strictly_lower, upper, strictly_upper };

/// C (m x n) = alpha A (m x k) B (k x n) + beta C on strided storage. Any strides, also negative, except that distinct
/// elements of C must be distinct in memory.
template <class T>
struct GemmArguments {
  std::ptrdiff_t m = 0, n = 0, k = 0;
  T alpha = T(1);
  const T* a = nullptr;
  std::ptrdiff_t a_row_stride = 0, a_col_stride = 0;
  const T* b = nullptr;
  std::ptrdiff_t b_row_stride = 0, b_col_stride = 0;
  T beta = T(0);  // 0: C is not read
  T* c = nullptr;
  std::ptrdiff_t c_row_stride = 0, c_col_stride = 0;
  int products = 0;  // a count that slices_for<T>() knows
  Fill fill = Fill::full;
};

/// Computes C and publishes the report (true), or leaves C untouched and returns in `report` why the native product
/// must run (false). With options.threads == 0 the OpenMP default is taken.
/// \throws as amx::gemm(); operands out of range throw std::domain_error under OutOfRange::error only.
AMX_EXPORT bool emulate(const GemmArguments<float>& arguments, const Options& options, Report& report);
AMX_EXPORT bool emulate(const GemmArguments<double>& arguments, const Options& options, Report& report);

/// Times the native product that emulate() asked for and publishes its report.
///
///     NativeRun run(report, options);
///     Native::evalTo(...);
///     run.finish();
class NativeRun {
 public:
  NativeRun(const Report& report, const Options& options)
      : report_(report), options_(options), start_(std::chrono::steady_clock::now()) {}
  /// Not called when the native product throws: what did not run is not reported.
  AMX_EXPORT void finish();

 private:
  Report report_;
  const Options& options_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace amx::detail
