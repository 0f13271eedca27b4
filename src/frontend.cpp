// What happens before and around the driver. Start at emulate_in_range().
#include "frontend.hpp"

#include "backend_list.hpp"
#include "driver.hpp"
#include "environment.hpp"
#include "publish.hpp"
#include "verdict.hpp"
#include "workspace.hpp"

#include <amx/products.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <type_traits>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace amx::detail {
namespace {

int thread_count([[maybe_unused]] int requested) {
#ifdef _OPENMP
  if (omp_in_parallel()) return 1;
  return requested > 0 ? requested : omp_get_max_threads();
#else
  return 1;
#endif
}

template <class T>
const char* reason_of(Verdict verdict) {
  constexpr bool kDouble = std::is_same_v<T, double>;
  switch (verdict) {
    case Verdict::in_range: return "";
    case Verdict::not_finite: return "NaN and infinity have no BF16 slices";
    case Verdict::too_large: return "magnitudes must be at most (2 - 2^-7) 2^127, the largest BF16 value";
    case Verdict::too_small:
      return kDouble ? "nonzero magnitudes must be at least 2^-126, the smallest normal BF16 value "
                       "(OutOfRange::rescale lifts this)"
                     : "nonzero magnitudes must be at least 2^-103, so that the last slice is a normal BF16 value";
    case Verdict::product_underflow:
      return "min|a| min|b| is so small that slice products could be subnormal (exponents must sum to -80 or more)";
    case Verdict::product_overflow:
      return kDouble ? "k max|a| max|b| above 2^1023 could overflow C"
                     : "k max|a| max|b| above 2^126 could overflow the FP32 accumulators";
  }
  return "";
}

[[noreturn]] void throw_out_of_range(const Report& report) {
  std::string text = "amx: " + std::string(to_string(report.verdict)) + ": ";
  if (report.operand)
    text += "element (" + std::to_string(report.row) + ", " + std::to_string(report.col) + ") of " + report.operand;
  else
    text += "the bound";
  throw std::domain_error(text + " is " + shortest(report.value) + "; " + std::string(report.reason));
}

/// Scans both operands and enters verdict, offender and reason in the report.
template <class T>
void examine(const GemmArguments<T>& args, const OperandKernels<T>* kernels, bool rescale, int threads,
             int* a_exponents, int* b_exponents, Report& report) {
  const auto start = std::chrono::steady_clock::now();
  const auto threads_for = [&](index_t lines) {  // a thread should have some ten microseconds of work
    return static_cast<int>(std::clamp<index_t>(lines * args.k / 32768, 1, threads));
  };
  const ScanResult a_scan = scan(a_lines(args, nullptr), a_exponents, threads_for(args.m), kernels);
  const ScanResult b_scan = scan(b_lines(args, nullptr), b_exponents, threads_for(args.n), kernels);
  const Finding finding = judge<T>(a_scan, b_scan, args.k, rescale);
  report.verdict = finding.verdict;
  report.operand = finding.operand;
  report.value = finding.bound;
  report.reason = reason_of<T>(finding.verdict);
  if (finding.operand) {
    const bool is_a = finding.operand == 'A';
    const Location where = is_a ? locate(finding.verdict, args.a, args.m, args.k, args.a_row_stride, args.a_col_stride)
                                : locate(finding.verdict, args.b, args.k, args.n, args.b_row_stride, args.b_col_stride);
    report.row = where.row;
    report.col = where.col;
    report.value = where.value;
  }
  report.scan_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class T>
const Schedule& schedule_of(const GemmArguments<T>& args) {
  if constexpr (std::is_same_v<T, double>)
    return digit_schedule(slices_for<T>(args.products));
  else
    return residual_schedule(args.products);
}

}  // namespace

template <class T>
Report start_report(const GemmArguments<T>& args) {
  Report report;
  report.scalar = std::is_same_v<T, double> ? "double" : "float";
  report.products = args.products;
  report.slices = slices_for<T>(args.products);
  report.m = args.m;
  report.n = args.n;
  report.k = args.k;
  return report;
}

template <class T>
bool emulate_in_range(const GemmArguments<T>& args, const Options& options, Report& report) {
  const BackendEntry& backend = choose_backend(options.backend);
  if (args.m > 0 && args.n > 0 && args.k > 0) {
    const int threads = thread_count(options.threads);
    int *a_exponents = nullptr, *b_exponents = nullptr;
    if constexpr (std::is_same_v<T, double>) {
      a_exponents = reinterpret_cast<int*>(
          thread_workspace(WorkspacePart::exponents, static_cast<std::size_t>(args.m + args.n) * sizeof(int)));
      b_exponents = a_exponents + args.m;
    }
    const Engine<T>& engine = backend.engine<T>();
    examine(args, engine.operands, options.out_of_range == OutOfRange::rescale, threads, a_exponents, b_exponents,
            report);
    if (report.verdict != Verdict::in_range) {
      if (options.out_of_range != OutOfRange::error) return false;
      publish(report, options);
      throw_out_of_range(report);
    }
    const Problem<T> problem{args, a_exponents, b_exponents, report.slices, schedule_of(args), engine};
    const DriverStats stats = gemm_blocked(problem, threads);
    report.threads = stats.threads;
    report.pack_seconds = stats.pack_seconds;
    report.product_seconds = stats.product_seconds;
    report.reconstruct_seconds = stats.reconstruct_seconds;
  } else {
    scale_c(args);
    report.threads = 1;
  }
  report.backend = backend.name;
  publish(report, options);
  return true;
}

namespace {

template <class T>
bool emulate_or_native(const GemmArguments<T>& args, const Options& given, Report& report) {
  const Options options = resolve(given);
  report = start_report(args);
  if (options.backend == Backend::native) {
    report.reason = "backend native was asked for (Options::backend or AMX_BACKEND)";
  } else if (options.policy == Policy::when_faster && !choose_backend(options.backend).beats_native) {
    report.reason = "Policy::when_faster, and the native product is expected to be faster than the usable backend";
  } else if (emulate_in_range(args, options, report)) {
    return true;
  }
  report.backend = "native";
  return false;
}

}  // namespace

bool emulate(const GemmArguments<float>& args, const Options& options, Report& report) {
  return emulate_or_native(args, options, report);
}
bool emulate(const GemmArguments<double>& args, const Options& options, Report& report) {
  return emulate_or_native(args, options, report);
}

template Report start_report(const GemmArguments<float>&);
template Report start_report(const GemmArguments<double>&);
template bool emulate_in_range(const GemmArguments<float>&, const Options&, Report&);
template bool emulate_in_range(const GemmArguments<double>&, const Options&, Report&);

}  // namespace amx::detail
