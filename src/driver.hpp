// The driver: loops over C and over k, packing, kernels, reconstruction. Operands have passed the range scan.
#pragma once

#include "kernel.hpp"
#include "pack.hpp"

#include <amx/detail/dispatch.hpp>

namespace amx::detail {

template <class T>
struct Problem {
  const GemmArguments<T>& arguments;  // m, n, k > 0
  const int* a_exponents;             // per row of A and column of B (scan.hpp); double only
  const int* b_exponents;
  int slices;
  const Schedule& schedule;
  const Engine<T>& engine;
};

/// The operands as lines: rows of A, columns of B.
template <class T>
LineView<T> a_lines(const GemmArguments<T>& args, const int* exponents) {
  return {args.a, args.m, args.k, args.a_row_stride, args.a_col_stride, exponents};
}
template <class T>
LineView<T> b_lines(const GemmArguments<T>& args, const int* exponents) {
  return {args.b, args.n, args.k, args.b_col_stride, args.b_row_stride, exponents};
}

struct DriverStats {
  int threads = 0;
  double pack_seconds = 0;
  double product_seconds = 0;
  double reconstruct_seconds = 0;
};

/// A super-block of C and of k is what is packed at once and shared by the threads: it bounds the workspace. m and n
/// are rounded down to multiples of mc and nc; for k see BlockSizes::super_k, which is meant by 0. The result does not
/// depend on it. By default the part of B (n x k, 3 to 6 MiB) stays in a shared cache while the blocks of A pass, and
/// sums and panels together take at most 93 MB.
struct SuperBlockSizes {
  index_t m = 2048, n = 1024, k = 0;
};

/// C = beta C, for products without terms.
template <class T>
void scale_c(const GemmArguments<T>& arguments);

/// The unblocked loop that defines the result. Tests compare gemm_blocked() with it bit for bit.
template <class T>
void gemm_plain(const Problem<T>& problem);

/// The same result with shared packed panels and up to `threads` threads.
/// \throws std::bad_alloc before C is written.
template <class T>
DriverStats gemm_blocked(const Problem<T>& problem, int threads, const SuperBlockSizes& sizes = {});

}  // namespace amx::detail
