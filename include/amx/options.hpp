// How an emulated product is to be computed: backend, treatment of operands outside the BF16 range, policy, report.
//
// Options reach a product in three ways, the nearest one wins: as the second argument of amx::emulated<N>(X, options)
// or the last of amx::gemm(); set_default_options() for the process; the environment (AMX_BACKEND) where both left
// Backend::automatic. report.hpp says what a product tells afterwards.
#pragma once

#include <amx/export.hpp>

#include <string_view>
#include <vector>

namespace amx {

struct Report;

/// What computes the component products.
enum class Backend {
  automatic,    ///< the first usable one of backends()
  amx_bf16,     ///< Intel AMX tiles
  avx512_bf16,  ///< VDPBF16PS
  avx2,         ///< VPMADDWD
  portable,     ///< plain C++, runs anywhere
  native        ///< no emulation: Eigen's own product (not available in amx::gemm(), which has none)
};

/// What happens when an operand is outside the range in which BF16 slices are exact (docs/numerics.md, section 5).
enum class OutOfRange {
  native,   ///< Eigen's own product runs, and the report says why; amx::gemm() returns the verdict, C untouched
  rescale,  ///< double: finite operands of any magnitude are emulated, only NaN, infinity and overflow of C go
            ///< native. float: the same as native, because its slices carry the exponents of the operand.
  error     ///< std::domain_error naming the operand, row, column and value; the destination is untouched
};

/// Whether a product that is in range is emulated.
enum class Policy {
  always,      ///< yes
  when_faster  ///< only on a backend that is expected to beat the native product; the report says which way it went.
               ///< amx::gemm() has no native product and always emulates.
};

/// An aggregate: C++20 `{.backend = ..., .report = &r}`, C++17 `Options o; o.report = &r;` or `{Backend::portable}`.
struct Options {
  Backend backend = Backend::automatic;
  OutOfRange out_of_range = OutOfRange::native;
  Policy policy = Policy::always;
  Report* report = nullptr;  ///< filled when the product has run; must outlive the expression
  int threads = 0;           ///< 0: Eigen::nbThreads() in expressions, the OpenMP default in amx::gemm()
};

/// Options of every product that brings none of its own. Thread-safe; takes effect for products evaluated afterwards.
/// \throws std::invalid_argument if `options.report` is set (a process-wide pointer would be written by every thread),
///         if `options.threads` is negative, or an enumerator is out of its range.
AMX_EXPORT void set_default_options(const Options& options);

/// The options last set, with AMX_BACKEND filled in where the backend was left automatic. Thread-safe.
/// \throws std::invalid_argument if AMX_BACKEND or AMX_VERBOSE hold a value that does not exist.
AMX_EXPORT Options default_options();

/// One line of backends().
struct BackendInfo {
  Backend backend;
  std::string_view name;    ///< as AMX_BACKEND and Report::backend spell it
  bool usable;              ///< built into this library and supported by this machine
  std::string_view reason;  ///< why not; empty if usable
};

/// Every backend in order of preference (the first usable one is what Backend::automatic means). Thread-safe.
AMX_EXPORT std::vector<BackendInfo> backends();

/// Name of an enumerator, as AMX_BACKEND spells it; "?" for a value outside the enumeration.
AMX_EXPORT std::string_view to_string(Backend backend);

/// Frees the calling thread's packing buffers, which otherwise stay allocated for its next product (their size is
/// bounded by the blocking, not by the matrices).
AMX_EXPORT void release_workspace();

}  // namespace amx
