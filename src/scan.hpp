// The range scan: one pass over an operand for what the verdict and the digit split need.
#pragma once

#include "operand.hpp"

namespace amx::detail {

struct ScanResult {
  bool finite;         // no NaN, no infinity
  double max;          // largest magnitude; infinity or NaN if not finite
  double min_nonzero;  // smallest nonzero magnitude; infinity if all are zero
};

/// Scans `source`; for double also writes exponents[line], the smallest v with all magnitudes of the line below 2^v (0
/// for a line of zeros). Magnitudes are compared as integers, so no floating-point flag is raised and no mode matters.
/// `kernels`: the loops to use, null for the plain ones.
template <class T>
ScanResult scan(const LineView<T>& source, int* exponents, int threads, const OperandKernels<T>* kernels = nullptr);

}  // namespace amx::detail
