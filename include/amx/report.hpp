// What a product did: the backend that ran, the verdict on its operands, where the time went.
//
// Options::report receives one per product; last_report() keeps the calling thread's latest; AMX_VERBOSE=1 prints each
// as one line on stderr. All strings have static storage.
#pragma once

#include <amx/export.hpp>

#include <cstddef>
#include <iosfwd>
#include <string_view>

namespace amx {

/// Whether the operands allow exact BF16 slices; the inequalities stand in docs/numerics.md, section 5.
enum class Verdict {
  in_range,           ///< yes; also reported where no scan was made (see Report::reason)
  too_small,          ///< a nonzero element below 2^-126 (double) or 2^-103 (float)
  too_large,          ///< an element above (2 - 2^-7) 2^127, the largest BF16 value
  not_finite,         ///< NaN or infinity
  product_underflow,  ///< float: min|a| min|b| so small that slice products could be subnormal
  product_overflow    ///< k max|a| max|b| so large that a sum could overflow
};

AMX_EXPORT std::string_view to_string(Verdict verdict);

struct Report {
  std::string_view backend = "none";  ///< what computed C: "portable", "amx_bf16", ..., "native"; "none": nothing ran
  std::string_view scalar;            ///< "float" or "double"
  int products = 0;                   ///< component products asked for
  int slices = 0;                     ///< BF16 slices per operand that these need
  std::ptrdiff_t m = 0, n = 0, k = 0;
  Verdict verdict = Verdict::in_range;
  char operand = 0;         ///< 'A' (left factor) or 'B' if one element caused the verdict, else 0
  std::ptrdiff_t row = -1;  ///< of the first such element in row-major order; -1 if none
  std::ptrdiff_t col = -1;
  double value = 0;                ///< the element, or the offending bound for product_underflow and product_overflow
  int threads = 0;                 ///< that took part; 0 if the library did not compute (native, refused)
  double scan_seconds = 0;         ///< range scan of both operands
  double pack_seconds = 0;         ///< split into slices and packing
  double product_seconds = 0;      ///< component products, or the native product
  double reconstruct_seconds = 0;  ///< sums rounded, scaled and written to C
  std::string_view reason;         ///< why the product was not emulated, in words; empty if it was
};

/// One line: shape, backend, verdict and reason, times. No newline at the end.
AMX_EXPORT std::ostream& operator<<(std::ostream& stream, const Report& report);

/// The report of the calling thread's latest emulated (or fallen back) product; default-constructed if there is none.
AMX_EXPORT Report last_report();

}  // namespace amx
