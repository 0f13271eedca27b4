// Product schedules: which slice of A meets which slice of B, and in what order. Data, not code: kernels walk it.
//
// A schedule has one or two passes over the k steps of a chunk. At each k step every pair of the pass is multiplied, in
// the order listed; then the next k step; then the next pass.
#pragma once

#include <cstdint>

namespace amx::detail {

struct SlicePair {
  std::int8_t a, b;
};

struct Pass {
  const SlicePair* pairs;
  int count;
};

struct Schedule {
  int products;
  int slices;
  int pass_count;
  Pass passes[2];
};

/// FP64 digits: all (p, q) with p + q < slices. The order does not influence the result, which is exact; it is the one
/// that keeps operand tiles and spaces products on the same diagonal. `slices` in 1..kMaxSlices.
const Schedule& digit_schedule(int slices);

/// FP32 residuals: 1, 3, 6 or 9 products. The order is part of the definition of the bits: small products first.
const Schedule& residual_schedule(int products);

}  // namespace amx::detail
