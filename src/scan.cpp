// The range scan over all lines, in blocks that threads share. The plain loop over one block stands first.
#include "scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace amx::detail {
namespace {

template <class T>
T from_bits(Bits<T> bits) {
  T x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// What OperandKernels::scan computes.
template <class T>
Bits<T> scan_plain(const LineView<T>& source, index_t first, index_t count, Bits<T>* line_max) {
  Bits<T> min_less_one = kNoMagnitude<T>;
  for (index_t i = 0; i < count; ++i) {
    line_max[i] = 0;
    for (index_t k = 0; k < source.length; ++k) {
      Bits<T> bits;
      std::memcpy(&bits, source.line(first + i) + k * source.k_stride, sizeof bits);
      bits &= kNoMagnitude<T>;  // clears the sign
      line_max[i] = std::max(line_max[i], bits);
      if (bits != 0) min_less_one = std::min(min_less_one, bits - 1);
    }
  }
  return min_less_one;
}

template <class T>
struct Extremes {
  Bits<T> max = 0, min_less_one = kNoMagnitude<T>;
};

constexpr index_t kMaxBlock = 1024;

/// Lines of a block: long runs where lines lie side by side in memory, so that whole pages are read in order; few lines
/// otherwise. At least as many blocks as threads.
template <class T>
index_t block_lines(const LineView<T>& source, int threads) {
  const bool side_by_side = std::abs(source.line_stride) < std::abs(source.k_stride);
  const index_t share = (source.lines + threads - 1) / threads, unit = 16;
  return std::clamp((share + unit - 1) / unit * unit, unit, side_by_side ? kMaxBlock : unit);
}

/// Scans one block of lines.
template <class T>
void scan_block(const LineView<T>& source, index_t first, index_t count, int* exponents,
                const OperandKernels<T>* kernels, Extremes<T>& extremes) {
  Bits<T> line_max[kMaxBlock];
  const Bits<T> min_less_one = (kernels ? kernels->scan : scan_plain<T>)(source, first, count, line_max);
  extremes.min_less_one = std::min(extremes.min_less_one, min_less_one);
  for (index_t i = 0; i < count; ++i) {
    extremes.max = std::max(extremes.max, line_max[i]);
    if (exponents) {
      const T value = from_bits<T>(line_max[i]);
      exponents[first + i] = line_max[i] == 0 || !std::isfinite(value) ? 0 : std::ilogb(value) + 1;
    }
  }
}

}  // namespace

template <class T>
ScanResult scan(const LineView<T>& source, int* exponents, int threads, const OperandKernels<T>* kernels) {
  Bits<T> max = 0, min_less_one = kNoMagnitude<T>;
  const index_t lines = block_lines(source, threads);
  const auto scan_from = [&](index_t first, Extremes<T>& extremes) {
    scan_block(source, first, std::min(lines, source.lines - first), exponents, kernels, extremes);
  };
  if (threads == 1) {  // not as a parallel region of one thread, for which some runtimes allocate memory
    Extremes<T> extremes;
    for (index_t first = 0; first < source.lines; first += lines) scan_from(first, extremes);
    max = extremes.max;
    min_less_one = extremes.min_less_one;
  } else {
#pragma omp parallel for schedule(static) num_threads(threads) reduction(max : max) reduction(min : min_less_one)
    for (index_t first = 0; first < source.lines; first += lines) {
      Extremes<T> extremes;
      scan_from(first, extremes);
      max = std::max(max, extremes.max);
      min_less_one = std::min(min_less_one, extremes.min_less_one);
    }
  }
  const double max_value = static_cast<double>(from_bits<T>(max));
  const bool any_nonzero = max != 0;
  return {std::isfinite(max_value), max_value,
          any_nonzero ? static_cast<double>(from_bits<T>(min_less_one + 1)) : std::numeric_limits<double>::infinity()};
}

template ScanResult scan(const LineView<float>&, int*, int, const OperandKernels<float>*);
template ScanResult scan(const LineView<double>&, int*, int, const OperandKernels<double>*);

}  // namespace amx::detail
