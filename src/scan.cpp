// Range scan on the bit patterns: for finite values of one sign bit the order of IEEE numbers is that of their
// integers, infinity is above all finite values and NaN above infinity.
#include "scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

namespace amx::detail {
namespace {

template <class T>
using Bits = std::conditional_t<std::is_same_v<T, double>, std::uint64_t, std::uint32_t>;

template <class T>
Bits<T> magnitude_bits(const T& x) {
  Bits<T> bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits & ~(Bits<T>{1} << (8 * sizeof(T) - 1));
}

template <class T>
T from_bits(Bits<T> bits) {
  T x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

constexpr index_t kLineBlock = 64;

/// Largest magnitude of each of `count` lines, and the smallest of (magnitude - 1), where zero wraps to the top.
template <class T>
Bits<T> scan_lines(const LineView<T>& source, index_t first, index_t count, Bits<T>* line_max) {
  std::fill(line_max, line_max + count, Bits<T>{0});
  Bits<T> min_less_one = ~Bits<T>{0};
  const auto visit = [&](index_t i, const T& x) {
    const Bits<T> bits = magnitude_bits(x);
    line_max[i] = std::max(line_max[i], bits);
    min_less_one = std::min<Bits<T>>(min_less_one, bits - 1);
  };
  // The inner loop runs along the smaller stride.
  if (std::abs(source.line_stride) < std::abs(source.k_stride)) {
    for (index_t k = 0; k < source.length; ++k)
      for (index_t i = 0; i < count; ++i) visit(i, source.line(first + i)[k * source.k_stride]);
  } else {
    for (index_t i = 0; i < count; ++i)
      for (index_t k = 0; k < source.length; ++k) visit(i, source.line(first + i)[k * source.k_stride]);
  }
  return min_less_one;
}

template <class T>
struct Extremes {
  Bits<T> max = 0, min_less_one = ~Bits<T>{0};
};

/// Scans one block of lines.
template <class T>
void scan_block(const LineView<T>& source, index_t block, int* exponents, Extremes<T>& extremes) {
  Bits<T> line_max[kLineBlock];
  const index_t first = block * kLineBlock, count = std::min(kLineBlock, source.lines - first);
  extremes.min_less_one = std::min(extremes.min_less_one, scan_lines(source, first, count, line_max));
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
ScanResult scan(const LineView<T>& source, int* exponents, int threads) {
  Bits<T> max = 0, min_less_one = ~Bits<T>{0};
  const index_t blocks = (source.lines + kLineBlock - 1) / kLineBlock;
  if (threads == 1) {  // not as a parallel region of one thread, for which some runtimes allocate memory
    Extremes<T> extremes;
    for (index_t block = 0; block < blocks; ++block) scan_block(source, block, exponents, extremes);
    max = extremes.max;
    min_less_one = extremes.min_less_one;
  } else {
#pragma omp parallel for schedule(static) num_threads(threads) reduction(max : max) reduction(min : min_less_one)
    for (index_t block = 0; block < blocks; ++block) {
      Extremes<T> extremes;
      scan_block(source, block, exponents, extremes);
      max = std::max(max, extremes.max);
      min_less_one = std::min(min_less_one, extremes.min_less_one);
    }
  }
  const double max_value = static_cast<double>(from_bits<T>(max));
  const bool any_nonzero = max != 0;
  return {std::isfinite(max_value), max_value,
          any_nonzero ? static_cast<double>(from_bits<T>(min_less_one + 1)) : std::numeric_limits<double>::infinity()};
}

template ScanResult scan(const LineView<float>&, int*, int);
template ScanResult scan(const LineView<double>&, int*, int);

}  // namespace amx::detail
