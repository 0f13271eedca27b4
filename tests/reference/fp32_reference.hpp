// The FP32 product by scalar models of TDPBF16PS and VDPBF16PS, from the definitions in docs/numerics.md, section 4.
#pragma once

#include <Eigen/Core>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace reference {

/// x rounded to BF16, to nearest even, by arithmetic on the significand.
inline float to_bf16(float x) {
  if (x == 0) return x;
  int exponent;
  const float fraction = std::frexp(x, &exponent);  // 8 significant bits: fraction * 2^8 to an integer
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

inline std::vector<float> slices_of(float x, int count) {
  std::vector<float> slices;
  for (int i = 0; i < count; ++i) {
    slices.push_back(to_bf16(x));
    x -= slices.back();
  }
  return slices;
}

inline float flush(float x) { return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x; }

/// One element of the destination of TDPBF16PS: 16 pairs (even[i], odd[i]); chains from zero, subnormals are zero.
inline float tdpbf16ps(float acc, const float* a_even, const float* b_even, const float* a_odd, const float* b_odd) {
  float even = 0, odd = 0;
  for (int i = 0; i < 16; ++i) {
    even = flush(std::fma(flush(a_even[i]), flush(b_even[i]), even));
    odd = flush(std::fma(flush(a_odd[i]), flush(b_odd[i]), odd));
  }
  return flush(flush(acc) + flush(even + odd));
}

using Pairs = std::vector<std::pair<int, int>>;

/// Passes of N products: small ones first, then (0, 0).
inline std::vector<Pairs> passes_of(int products) {
  switch (products) {
    case 1: return {{{0, 0}}};
    case 3: return {{{1, 0}, {0, 1}}, {{0, 0}}};
    case 6: return {{{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}}, {{0, 0}}};
    default: return {{{2, 2}, {2, 1}, {2, 0}, {1, 0}, {1, 1}, {1, 2}, {0, 2}, {0, 1}}, {{0, 0}}};
  }
}

/// How a backend sums a panel (docs/numerics.md, 4.1 and 4.2).
enum class Rule { tile, vector };

inline Rule rule_of(std::string_view backend) {
  return backend == "avx512_bf16" || backend == "avx2" ? Rule::vector : Rule::tile;
}

/// A panel of one element of C by the rule of TDPBF16PS; x and y: slices of one line, `padded` apart.
inline float tile_panel(const float* x, const float* y, Eigen::Index padded, Eigen::Index length, int products) {
  float acc = 0;
  for (const Pairs& pass : passes_of(products))
    for (Eigen::Index k = 0; k < length; k += 32)
      for (const auto& [p, q] : pass) {
        const float *xs = x + p * padded + k, *ys = y + q * padded + k;
        acc = tdpbf16ps(acc, xs, ys, xs + 16, ys + 16);
      }
  return acc;
}

/// One element of the destination of VDPBF16PS: odd member, then even member, subnormals are zero.
inline float vdpbf16ps(float acc, float a_even, float b_even, float a_odd, float b_odd) {
  acc = flush(std::fma(flush(a_odd), flush(b_odd), flush(acc)));
  return flush(std::fma(flush(a_even), flush(b_even), acc));
}

/// 32 elements of k onto `acc`: pairs (k, k + 16) one after the other.
inline float vector_step(float acc, const float* x, const float* y) {
  for (int k = 0; k < 16; ++k) acc = vdpbf16ps(acc, x[k], y[k], x[k + 16], y[k + 16]);
  return acc;
}

/// A panel of one element of C by the rule of VDPBF16PS.
inline float vector_panel(const float* x, const float* y, Eigen::Index padded, Eigen::Index length, int products) {
  float total = 0;
  const std::vector<Pairs> passes = passes_of(products);
  if (passes.size() > 1)
    for (const auto& [p, q] : passes[0])
      for (Eigen::Index k = 0; k < length; k += 32) total = vector_step(total, x + p * padded + k, y + q * padded + k);
  for (Eigen::Index k = 0; k < length; k += 32) total += vector_step(0, x + k, y + k);
  return total;
}

inline Eigen::MatrixXf product(const Eigen::MatrixXf& a, const Eigen::MatrixXf& b, int products,
                               Rule rule = Rule::tile) {
  const int slices = products == 1 ? 1 : products == 3 ? 2 : 3;
  const Eigen::Index k = a.cols(), padded = (k + 31) / 32 * 32;
  const auto split = [&](const Eigen::MatrixXf& rows) {  // [row][slice][k]
    std::vector<float> all(static_cast<std::size_t>(rows.rows() * slices * padded));
    for (Eigen::Index i = 0; i < rows.rows(); ++i)
      for (Eigen::Index j = 0; j < k; ++j) {
        const std::vector<float> parts = slices_of(rows(i, j), slices);
        for (int s = 0; s < slices; ++s)
          all[static_cast<std::size_t>((i * slices + s) * padded + j)] = parts[static_cast<std::size_t>(s)];
      }
    return all;
  };
  const std::vector<float> x = split(a), y = split(b.transpose());
  Eigen::MatrixXf c(a.rows(), b.cols());
  for (Eigen::Index i = 0; i < c.rows(); ++i)
    for (Eigen::Index j = 0; j < c.cols(); ++j) {
      float total = 0;
      for (Eigen::Index panel = 0; panel < k; panel += 256) {
        const float* xs = x.data() + i * slices * padded + panel;
        const float* ys = y.data() + j * slices * padded + panel;
        const Eigen::Index length = std::min<Eigen::Index>(256, padded - panel);
        total += rule == Rule::tile ? tile_panel(xs, ys, padded, length, products)
                                    : vector_panel(xs, ys, padded, length, products);
      }
      c(i, j) = total;
    }
  return c;
}

}  // namespace reference
