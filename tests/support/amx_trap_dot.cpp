// TDPBF16PS. Start at dot_avx2(), which is what runs; dot_reference() shows the rounding in the open.
#include "amx_trap_dot.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cmath>
#include <cstring>

namespace amx_trap {
namespace {

/// Round to nearest, exceptions masked, DAZ and FTZ set. A signal handler inherits the MXCSR of the code it interrupts.
/// The processor's own FTZ is used because it is what "FTZ = 1" means: a result is flushed if it is tiny after rounding
/// with unbounded exponent (SDM volume 1, 11.5.2.5), which cannot be seen from a result rounded to subnormal precision.
class TileFloatEnvironment {
 public:
  TileFloatEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(0x9fc0); }
  ~TileFloatEnvironment() { _mm_setcsr(saved_); }
  TileFloatEnvironment(const TileFloatEnvironment&) = delete;
  TileFloatEnvironment& operator=(const TileFloatEnvironment&) = delete;

 private:
  unsigned saved_;
};

std::uint32_t element(const Tile& tile, int row, int column) {
  std::uint32_t bits;
  std::memcpy(&bits, &tile.row[row][4 * column], 4);
  return bits;
}

/// The number that the bits of a float stand for, subnormals as zero of their sign.
double flushed_value(std::uint32_t bits) {
  if ((bits & 0x7f800000u) == 0) bits &= 0x80000000u;
  float value;
  std::memcpy(&value, &bits, 4);
  return double{value};
}

std::uint32_t float_bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

/// x + y rounded as if once to float, FTZ; both have at most 24 significant bits, and neither the sums here nor the
/// products (2^-252 to 2^256) leave the range of double. The double sum is exact unless the smaller term is below 2^-28
/// of the larger one; then the larger one is the result either way, because it is a float, up to exponent, and no
/// midpoint is so near.
std::uint32_t add_to_float(double x, double y) {
  double sum = x + y;
  if (sum != 0 && std::fabs(sum) < 0x1p-126) {
    const bool tiny = std::fabs(static_cast<float>(sum * 0x1p64)) < 0x1p-62f;
    sum = std::copysign(tiny ? 0.0 : 0x1p-126, sum);
  }
  return float_bits(static_cast<float>(sum));
}

std::uint32_t multiply_add(std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
  return add_to_float(flushed_value(a) * flushed_value(b), flushed_value(sum));  // 8 x 8 bits: exact in double
}

// The arithmetic is not inlined into the functions that set MXCSR: compilers do not know that it depends on that.
__attribute__((noinline)) void sum_in_double(const DotShape& shape, const Tile& a, const Tile& b, Tile* dest) {
  for (int m = 0; m < shape.rows; ++m)
    for (int n = 0; n < shape.columns; ++n) {
      std::uint32_t even = 0, odd = 0;
      for (int k = 0; k < shape.pairs; ++k) {
        const std::uint32_t a_pair = element(a, m, k), b_pair = element(b, k, n);
        even = multiply_add(a_pair << 16u, b_pair << 16u, even);
        odd = multiply_add(a_pair & 0xffff0000u, b_pair & 0xffff0000u, odd);
      }
      const std::uint32_t both = add_to_float(flushed_value(even), flushed_value(odd));
      const std::uint32_t result = add_to_float(flushed_value(element(*dest, m, n)), flushed_value(both));
      std::memcpy(&dest->row[m][4 * n], &result, 4);
    }
}

}  // namespace

void dot_reference(const DotShape& shape, const Tile& a, const Tile& b, Tile* dest) {
  const TileFloatEnvironment environment;
  sum_in_double(shape, a, b, dest);
}

bool has_avx2_fma() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

namespace {

/// B with the even and the odd elements of its pairs as floats.
struct SplitPairs {
  alignas(32) float even[kTileRows][16];
  alignas(32) float odd[kTileRows][16];
};

__attribute__((target("avx2,fma"))) void split_pairs(const Tile& b, int pairs, SplitPairs* split) {
  const __m256i high_half = _mm256_set1_epi32(static_cast<int>(0xffff0000u));
  for (int k = 0; k < pairs; ++k)
    for (int n = 0; n < 16; n += 8) {
      const __m256i both = _mm256_load_si256(reinterpret_cast<const __m256i*>(&b.row[k][4 * n]));
      _mm256_store_ps(&split->even[k][n], _mm256_castsi256_ps(_mm256_slli_epi32(both, 16)));
      _mm256_store_ps(&split->odd[k][n], _mm256_castsi256_ps(_mm256_and_si256(both, high_half)));
    }
}

__attribute__((target("avx2,fma"))) inline __m256 broadcast(std::uint32_t bits) {
  return _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(bits)));
}

__attribute__((target("avx2,fma"))) inline void accumulate(std::uint8_t* dest, __m256 even, __m256 odd) {
  float* const at = reinterpret_cast<float*>(dest);
  _mm256_store_ps(at, _mm256_add_ps(_mm256_load_ps(at), _mm256_add_ps(even, odd)));
}

/// Two rows at once: eight chains of additions hide each other's latency.
__attribute__((target("avx2,fma"), noinline)) void dot_two_rows(int m, int pairs, const Tile& a, const SplitPairs& b,
                                                                Tile* dest) {
  const __m256 zero = _mm256_setzero_ps();
  __m256 even00 = zero, even01 = zero, odd00 = zero, odd01 = zero;
  __m256 even10 = zero, even11 = zero, odd10 = zero, odd11 = zero;
  for (int k = 0; k < pairs; ++k) {
    const std::uint32_t pair0 = element(a, m, k), pair1 = element(a, m + 1, k);
    const __m256 b_even0 = _mm256_load_ps(b.even[k]), b_even1 = _mm256_load_ps(b.even[k] + 8);
    const __m256 b_odd0 = _mm256_load_ps(b.odd[k]), b_odd1 = _mm256_load_ps(b.odd[k] + 8);
    const __m256 a_even0 = broadcast(pair0 << 16u), a_odd0 = broadcast(pair0 & 0xffff0000u);
    const __m256 a_even1 = broadcast(pair1 << 16u), a_odd1 = broadcast(pair1 & 0xffff0000u);
    even00 = _mm256_fmadd_ps(a_even0, b_even0, even00);
    even01 = _mm256_fmadd_ps(a_even0, b_even1, even01);
    odd00 = _mm256_fmadd_ps(a_odd0, b_odd0, odd00);
    odd01 = _mm256_fmadd_ps(a_odd0, b_odd1, odd01);
    even10 = _mm256_fmadd_ps(a_even1, b_even0, even10);
    even11 = _mm256_fmadd_ps(a_even1, b_even1, even11);
    odd10 = _mm256_fmadd_ps(a_odd1, b_odd0, odd10);
    odd11 = _mm256_fmadd_ps(a_odd1, b_odd1, odd11);
  }
  accumulate(dest->row[m], even00, odd00);
  accumulate(dest->row[m] + 32, even01, odd01);
  accumulate(dest->row[m + 1], even10, odd10);
  accumulate(dest->row[m + 1] + 32, even11, odd11);
}

}  // namespace

void dot_avx2(const DotShape& shape, const Tile& a, const Tile& b, Tile* dest) {
  const TileFloatEnvironment environment;
  SplitPairs split;
  split_pairs(b, shape.pairs, &split);
  for (int m = 0; m < shape.rows; m += 2) dot_two_rows(m, shape.pairs, a, split, dest);
}

}  // namespace amx_trap

#endif
