// The avx512_bf16 backend: VPDPWSSD on digits, VDPBF16PS on residuals, 12 x 32 micro-tiles in 24 registers.
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

struct Block {
  static constexpr int kRows = 12, kVectors = 2, kLanes = 16;
};

struct DigitVectors : Block {
  using Acc = __m512i;
  using Operand = __m512i;
  static Acc zero() { return _mm512_setzero_si512(); }
  static Operand load(const bf16* x) { return _mm512_loadu_si512(x); }
  static Operand broadcast(const bf16* x) { return _mm512_set1_epi32(word(x)); }
  static Acc multiply(Acc acc, Operand a, Operand b) { return _mm512_dpwssd_epi32(acc, a, b); }
  static void drain(Acc acc, double weight, double* sums) {
    const __m512d w = _mm512_set1_pd(weight);
    const __m512d low = _mm512_cvtepi32_pd(_mm512_castsi512_si256(acc));
    const __m512d high = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(acc, 1));
    _mm512_storeu_pd(sums, _mm512_fmadd_pd(low, w, _mm512_loadu_pd(sums)));
    _mm512_storeu_pd(sums + 8, _mm512_fmadd_pd(high, w, _mm512_loadu_pd(sums + 8)));
  }
};

struct ResidualVectors : Block {
  using Acc = __m512;
  using Operand = __m512i;
  static Acc zero() { return _mm512_setzero_ps(); }
  static Operand load(const bf16* x) { return _mm512_loadu_si512(x); }
  static Operand broadcast(const bf16* x) { return _mm512_set1_epi32(word(x)); }
  static Acc multiply(Acc acc, Operand a, Operand b) {
    return _mm512_dpbf16_ps(acc, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
  }
  static Acc add(Acc x, Acc y) { return _mm512_add_ps(x, y); }
  static void add_to(float* sums, Acc acc) { _mm512_storeu_ps(sums, _mm512_add_ps(_mm512_loadu_ps(sums), acc)); }
};

/// Chunks as long as what is packed at once, so that a sum is loaded and stored once for it.
constexpr BlockSizes digit_blocks(int kc) { return {12, 32, 32, 12, 32, 48, 256, kc, kc}; }

// A block of A (mc x kc, all slices) and its sums leave room in an L2 of 1 MiB for the B panel (32 x kc) that streams
// by. Small blocks also share out evenly between threads.
constexpr BlockSizes kDigits[kMaxSlices] = {digit_blocks(512), digit_blocks(512), digit_blocks(512), digit_blocks(512),
                                            digit_blocks(512), digit_blocks(256), digit_blocks(256), digit_blocks(256)};
static_assert(digits_fit_int32(kDigits));

constexpr BlockSizes kResidualBlocks = {12, 32, 32, 12, 32, 48, 256, kResidualPanel};
constexpr BlockSizes kResiduals[3] = {kResidualBlocks, kResidualBlocks, kResidualBlocks};

}  // namespace

const Engine<double> kAvx512Digits = {kDigits, run_digits<DigitVectors>, &kAvx512Doubles, Encoding::integers};
const Engine<float> kAvx512Residuals = {kResiduals, run_residuals<ResidualVectors>, &kAvx512Floats};

}  // namespace amx::detail
