// The avx2 backend: VPMADDWD and VPADDD on digits, FMA on residuals.
#include "operand_tables.hpp"
#include "simd.hpp"
#include "simd_engine.hpp"

#include <immintrin.h>
#include <cstring>

namespace amx::detail {
namespace {

inline int word(const bf16* x) {
  int bits;
  std::memcpy(&bits, x, sizeof bits);
  return bits;
}

/// 6 x 16: 12 registers of sums, two of B, one of A, one for the products.
struct DigitVectors {
  static constexpr int kRows = 6, kVectors = 2, kLanes = 8;
  using Acc = __m256i;
  using Operand = __m256i;
  static Acc zero() { return _mm256_setzero_si256(); }
  static Operand load(const bf16* x) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)); }
  static Operand broadcast(const bf16* x) { return _mm256_set1_epi32(word(x)); }
  static Acc multiply(Acc acc, Operand a, Operand b) { return _mm256_add_epi32(acc, _mm256_madd_epi16(a, b)); }
  static void drain(Acc acc, double weight, double* sums) {
    const __m256d w = _mm256_set1_pd(weight);
    const __m256d low = _mm256_cvtepi32_pd(_mm256_castsi256_si128(acc));
    const __m256d high = _mm256_cvtepi32_pd(_mm256_extracti128_si256(acc, 1));
    _mm256_storeu_pd(sums, _mm256_fmadd_pd(low, w, _mm256_loadu_pd(sums)));
    _mm256_storeu_pd(sums + 4, _mm256_fmadd_pd(high, w, _mm256_loadu_pd(sums + 4)));
  }
};

/// A pair of BF16 as two floats: the odd member is the upper half of the word, the even one the lower.
struct PairOfFloats {
  __m256 odd, even;
  explicit PairOfFloats(__m256i words)
      : odd(_mm256_castsi256_ps(_mm256_and_si256(words, _mm256_set1_epi32(static_cast<int>(0xffff0000u))))),
        even(_mm256_castsi256_ps(_mm256_slli_epi32(words, 16))) {}
  PairOfFloats() = default;
};

/// 4 x 16: 8 registers of sums, four of B, two of A. The two fused operations are those of VDPBF16PS, in its order.
struct ResidualVectors {
  static constexpr int kRows = 4, kVectors = 2, kLanes = 8;
  using Acc = __m256;
  using Operand = PairOfFloats;
  static Acc zero() { return _mm256_setzero_ps(); }
  static Operand load(const bf16* x) { return Operand(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x))); }
  static Operand broadcast(const bf16* x) { return Operand(_mm256_set1_epi32(word(x))); }
  static Acc multiply(Acc acc, const Operand& a, const Operand& b) {
    return _mm256_fmadd_ps(a.even, b.even, _mm256_fmadd_ps(a.odd, b.odd, acc));
  }
  static Acc add(Acc x, Acc y) { return _mm256_add_ps(x, y); }
  static void add_to(float* sums, Acc acc) { _mm256_storeu_ps(sums, _mm256_add_ps(_mm256_loadu_ps(sums), acc)); }
};

/// Chunks as long as what is packed at once, so that a sum is loaded and stored once for it.
constexpr BlockSizes digit_blocks(int kc) { return {6, 16, 32, 6, 16, 48, 256, kc, kc}; }

// A block of A (mc x kc, all slices) and its sums leave room in an L2 of 512 KiB for the B panel (16 x kc) that streams
// by.
constexpr BlockSizes kDigits[kMaxSlices] = {digit_blocks(512), digit_blocks(512), digit_blocks(512), digit_blocks(512),
                                            digit_blocks(256), digit_blocks(256), digit_blocks(256), digit_blocks(256)};
static_assert(digits_fit_int32(kDigits));

constexpr BlockSizes kResidualBlocks = {4, 16, 32, 4, 16, 48, 256, kResidualPanel};
constexpr BlockSizes kResiduals[3] = {kResidualBlocks, kResidualBlocks, kResidualBlocks};

}  // namespace

const Engine<double> kAvx2Digits = {kDigits, run_digits<DigitVectors>, &kAvx2Doubles, Encoding::integers};
const Engine<float> kAvx2Residuals = {kResiduals, run_residuals<ResidualVectors>, &kAvx2Floats};

}  // namespace amx::detail
