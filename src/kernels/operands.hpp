// Scan and packing for engines with kr = 32, compiled once per instruction set: plain loops of fixed length that
// compilers turn into vector code. scan.cpp and pack.cpp define the results.
//
// Packing is fused with splitting: 16 pairs of elements (k, k + 16) become one 32-bit word per pair and slice, low half
// element k, in registers; the words of a slice are then stored side by side or scattered, as the layout wants. The 16
// pairs belong to one line or, where lines are contiguous in memory, to 16 lines.
//
// Everything is in an unnamed namespace and calls nothing of std::, so that no symbol is shared between objects that
// were compiled for different instruction sets.
#pragma once

#include "../operand.hpp"

#include <cstring>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace amx::detail {
namespace {

// ---- Scan ----

template <class T>
inline Bits<T> magnitude(const T& x) {
  Bits<T> bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits & kNoMagnitude<T>;
}

/// A magnitude less one; zero becomes the largest value, because it does not count as a smallest one.
template <class T>
inline Bits<T> less_one(Bits<T> bits) {
  return (bits - 1) & kNoMagnitude<T>;
}

template <class I>
inline I larger(I x, I y) {
  return x > y ? x : y;
}
template <class I>
inline I smaller(I x, I y) {
  return x < y ? x : y;
}

/// One line; kUnit: its elements are contiguous.
template <bool kUnit, class T>
Bits<T> scan_along_k(const T* x, index_t length, index_t stride, Bits<T>& line_max) {
  const index_t step = kUnit ? 1 : stride;
  Bits<T> max = 0, min = kNoMagnitude<T>;
  for (index_t k = 0; k < length; ++k) {
    const Bits<T> bits = magnitude(x[k * step]);
    max = larger(max, bits);
    min = smaller(min, less_one<T>(bits));
  }
  line_max = max;
  return min;
}

/// `kColumns` elements of k of each line: the maxima are loaded and stored once for all of them.
template <int kColumns, bool kUnit, class T>
Bits<T> scan_across(const T* x, index_t count, index_t line_stride, index_t k_stride, Bits<T>* line_max) {
  const index_t step = kUnit ? 1 : line_stride;
  Bits<T> min = kNoMagnitude<T>;
  for (index_t i = 0; i < count; ++i) {
    Bits<T> max = line_max[i];
    for (int k = 0; k < kColumns; ++k) {
      const Bits<T> bits = magnitude(x[k * k_stride + i * step]);
      max = larger(max, bits);
      min = smaller(min, less_one<T>(bits));
    }
    line_max[i] = max;
  }
  return min;
}

template <bool kUnit, class T>
Bits<T> scan_across_all(const LineView<T>& source, index_t first, index_t count, Bits<T>* line_max) {
  constexpr int kColumns = 4;
  Bits<T> min = kNoMagnitude<T>;
  for (index_t i = 0; i < count; ++i) line_max[i] = 0;
  index_t k = 0;
  for (; k + kColumns <= source.length; k += kColumns)
    min = smaller(min, scan_across<kColumns, kUnit>(source.line(first) + k * source.k_stride, count, source.line_stride,
                                                    source.k_stride, line_max));
  for (; k < source.length; ++k)
    min = smaller(min, scan_across<1, kUnit>(source.line(first) + k * source.k_stride, count, source.line_stride,
                                             source.k_stride, line_max));
  return min;
}

template <class T>
Bits<T> scan_lines(const LineView<T>& source, index_t first, index_t count, Bits<T>* line_max) {
  if (source.line_stride == 1 && source.k_stride != 1) return scan_across_all<true>(source, first, count, line_max);
  const index_t line_step = source.line_stride < 0 ? -source.line_stride : source.line_stride;
  const index_t k_step = source.k_stride < 0 ? -source.k_stride : source.k_stride;
  if (line_step < k_step) return scan_across_all<false>(source, first, count, line_max);
  Bits<T> min = kNoMagnitude<T>;
  for (index_t i = 0; i < count; ++i)
    min = smaller(min, source.k_stride == 1
                           ? scan_along_k<true>(source.line(first + i), source.length, 1, line_max[i])
                           : scan_along_k<false>(source.line(first + i), source.length, source.k_stride, line_max[i]));
  return min;
}

// ---- Split: 16 pairs to words ----

constexpr int kPairs = 16;  // half of kr

struct Words {
  alignas(64) std::uint32_t of[kMaxSlices][kPairs];
};

/// Powers of two by which a line is scaled, in two factors (split.cpp says why), for each of the 16 pairs.
struct Scales {
  alignas(64) double first[kPairs], second[kPairs];

  void set(int i, int exponent) {
    const int shift = kLeadBits - exponent;
    first[i] = power(shift / 2);
    second[i] = power(shift - shift / 2);
  }
  static double power(int exponent) {  // of two; |exponent| < 1022
    const std::uint64_t bits = static_cast<std::uint64_t>(exponent + 1023) << 52;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
};

inline std::uint64_t bits_of(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
/// Of a digit, whose BF16 is exact: the lower half is zero.
inline std::uint32_t float_bits(std::uint32_t integer) {
  return bits_of(static_cast<float>(static_cast<std::int32_t>(integer)));
}
inline float float_of(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// Digits, as split() in split.cpp. In r + kRound the low bits of the significand are the digit as an integer.
template <Encoding kEncoding>
void split_pairs(const double* low, const double* high, const Scales& scales, int slices, Words& words) {
  constexpr double kRound = 0x1.8p52;
  double r_low[kPairs], r_high[kPairs];
  for (int i = 0; i < kPairs; ++i) {
    r_low[i] = low[i] * scales.first[i] * scales.second[i];
    r_high[i] = high[i] * scales.first[i] * scales.second[i];
  }
  std::uint32_t d_low[kPairs], d_high[kPairs];
  for (int p = 0; p < slices; ++p) {
#pragma omp simd
    for (int i = 0; i < kPairs; ++i) {
      const double t_low = r_low[i] + kRound, t_high = r_high[i] + kRound;
      r_low[i] = (r_low[i] - (t_low - kRound)) * double{1 << kDigitBits};
      r_high[i] = (r_high[i] - (t_high - kRound)) * double{1 << kDigitBits};
      d_low[i] = static_cast<std::uint32_t>(bits_of(t_low));
      d_high[i] = static_cast<std::uint32_t>(bits_of(t_high));
    }
#pragma omp simd
    for (int i = 0; i < kPairs; ++i)
      words.of[p][i] = kEncoding == Encoding::integers ? (d_low[i] & 0xffffu) | d_high[i] << 16
                                                       : float_bits(d_low[i]) >> 16 | float_bits(d_high[i]);
  }
}

/// Residuals, as split() in split.cpp.
template <Encoding>
void split_pairs(const float* low, const float* high, const Scales&, int slices, Words& words) {
  float r_low[kPairs], r_high[kPairs];
  for (int i = 0; i < kPairs; ++i) {
    r_low[i] = low[i];
    r_high[i] = high[i];
  }
  const auto rounded = [](float x) {
    const std::uint32_t bits = bits_of(x);
    return (bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u;
  };
  for (int p = 0; p < slices; ++p)
    for (int i = 0; i < kPairs; ++i) {
      const std::uint32_t s_low = rounded(r_low[i]), s_high = rounded(r_high[i]);
      r_low[i] -= float_of(s_low);
      r_high[i] -= float_of(s_high);
      words.of[p][i] = s_low >> 16 | s_high;
    }
}

// ---- Pack ----

constexpr int kGroup = 16;  // lines that are packed together

/// out[i][j] = in[j][i]
inline void transpose(const std::uint32_t (&in)[16][16], std::uint32_t (&out)[16][16]) {
#ifdef __AVX512F__
  __m512i x[16], y[16];
  for (int i = 0; i < 16; ++i) x[i] = _mm512_load_si512(in[i]);
  for (int i = 0; i < 16; i += 2) {  // pairs of rows, 32 bits
    y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
  }
  for (int i = 0; i < 16; i += 4)  // fours of rows, 64 bits: x[i + c] has column c of each 128-bit lane
    for (int c = 0; c < 2; ++c) {
      x[i + 2 * c] = _mm512_unpacklo_epi64(y[i + c], y[i + 2 + c]);
      x[i + 2 * c + 1] = _mm512_unpackhi_epi64(y[i + c], y[i + 2 + c]);
    }
  for (int c = 0; c < 4; ++c) {  // lanes
    const __m512i a = _mm512_shuffle_i32x4(x[c], x[4 + c], 0x88), b = _mm512_shuffle_i32x4(x[8 + c], x[12 + c], 0x88);
    const __m512i d = _mm512_shuffle_i32x4(x[c], x[4 + c], 0xdd), e = _mm512_shuffle_i32x4(x[8 + c], x[12 + c], 0xdd);
    _mm512_store_si512(out[c], _mm512_shuffle_i32x4(a, b, 0x88));
    _mm512_store_si512(out[4 + c], _mm512_shuffle_i32x4(d, e, 0x88));
    _mm512_store_si512(out[8 + c], _mm512_shuffle_i32x4(a, b, 0xdd));
    _mm512_store_si512(out[12 + c], _mm512_shuffle_i32x4(d, e, 0xdd));
  }
#else
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) out[i][j] = in[j][i];
#endif
}

/// The words of up to 16 lines and 16 pairs at one k step, gathered where words come in the other order than they are
/// stored: single words written straight to a panel that is not in the cache wait for one cache line after the other.
struct Transposed {
  alignas(64) std::uint32_t at[kMaxSlices][16][16];

  void put(const Words& words, int slices, int column) {
    for (int p = 0; p < slices; ++p) std::memcpy(at[p][column], words.of[p], sizeof at[p][column]);
  }
  /// Row i of slice p, `count` words, to `to` + p * slice + i * stride.
  void store(int slices, int rows, int count, bf16* to, index_t slice, index_t stride) const {
    alignas(64) std::uint32_t turned[16][16];
    for (int p = 0; p < slices; ++p, to += slice) {
      transpose(at[p], turned);
      for (int i = 0; i < rows; ++i) {
        if (count == 16)
          std::memcpy(to + i * stride, turned[i], sizeof turned[i]);
        else
          std::memcpy(to + i * stride, turned[i], static_cast<std::size_t>(count) * sizeof turned[i][0]);
      }
    }
  }
};

inline void store_row(const Words& words, int slices, int count, bf16* to, index_t slice) {
  for (int p = 0; p < slices; ++p, to += slice) {
    if (count == 16)
      std::memcpy(to, words.of[p], sizeof words.of[p]);
    else
      std::memcpy(to, words.of[p], static_cast<std::size_t>(count) * sizeof words.of[p][0]);
  }
}

/// A group of up to 16 lines at one k step of 32 elements.
template <class T>
struct Tile {
  alignas(64) T at[kGroup][2 * kPairs];
};

/// Lines whose 32 elements are contiguous. `x` points to their first elements, `line_stride` apart.
template <Encoding kEncoding, class T>
void pack_along_k(const T* x, index_t line_stride, int lines, const int* exponents, const PanelLayout& layout,
                  bf16* step) {
  Scales scales;
  Words words;
  Transposed transposed;
  const bool pairs_adjacent = layout.pair_stride == 2;
  for (int i = 0; i < lines; ++i, x += line_stride) {
    if (exponents) {
      scales.set(0, exponents[i]);
      for (int pair = 1; pair < kPairs; ++pair) {
        scales.first[pair] = scales.first[0];
        scales.second[pair] = scales.second[0];
      }
    }
    split_pairs<kEncoding>(x, x + kPairs, scales, layout.slices, words);
    if (pairs_adjacent)
      store_row(words, layout.slices, kPairs, step + i * layout.line_stride, layout.slice_elements());
    else
      transposed.put(words, layout.slices, i);
  }
  if (!pairs_adjacent)
    transposed.store(layout.slices, kPairs, lines, step, layout.slice_elements(), layout.pair_stride);
}

/// The cache lines of the next but one group of lines; where there is none, of memory that need not exist.
template <class T>
inline void prefetch(const T* x) {
  __builtin_prefetch(x);
  if (sizeof(T) == 8) __builtin_prefetch(x + kGroup / 2);
}

/// 16 lines that are contiguous in memory, of which the layout takes `lines`.
template <Encoding kEncoding, class T>
void pack_across(const T* x, index_t k_stride, int lines, const Scales& scales, const PanelLayout& layout, bf16* step) {
  Words words;
  Transposed transposed;
  const bool lines_adjacent = layout.line_stride == 2;
  for (int pair = 0; pair < kPairs; ++pair) {
    const T* const low = x + pair * k_stride;
    const T* const high = low + kPairs * k_stride;
    prefetch(low + 2 * kGroup);  // 32 runs of memory are more than hardware prefetchers follow
    prefetch(high + 2 * kGroup);
    split_pairs<kEncoding>(low, high, scales, layout.slices, words);
    if (lines_adjacent)
      store_row(words, layout.slices, lines, step + pair * layout.pair_stride, layout.slice_elements());
    else
      transposed.put(words, layout.slices, pair);
  }
  if (!lines_adjacent)
    transposed.store(layout.slices, lines, kPairs, step, layout.slice_elements(), layout.line_stride);
}

template <Encoding kEncoding, class T>
void pack_group(const LineView<T>& source, const PanelLayout& layout, index_t first, int line, int lines, index_t k0,
                int count, bf16* step) {
  const index_t at = first + line;
  index_t valid = source.lines - at;
  valid = valid < 0 ? 0 : valid > lines ? lines : valid;
  const T* const x = source.line(at) + k0 * source.k_stride;
  const int* const exponents = source.exponents ? source.exponents + at : nullptr;
  step += layout.line_offset(line);
  const bool whole = count == 2 * kPairs && valid == lines;
  if (whole && source.k_stride == 1) {
    pack_along_k<kEncoding>(x, source.line_stride, lines, exponents, layout, step);
  } else if (whole && source.line_stride == 1 && source.lines - at >= kGroup) {
    Scales scales;
    if (exponents)
      for (int i = 0; i < kGroup; ++i) scales.set(i, exponents[i]);
    pack_across<kEncoding>(x, source.k_stride, lines, scales, layout, step);
  } else {
    Tile<T> tile{};
    for (int k = 0; k < count; ++k)
      for (index_t i = 0; i < valid; ++i) tile.at[i][k] = x[i * source.line_stride + k * source.k_stride];
    int tile_exponents[kGroup] = {};
    if (exponents)
      for (index_t i = 0; i < valid; ++i) tile_exponents[i] = exponents[i];
    pack_along_k<kEncoding>(&tile.at[0][0], 2 * kPairs, lines, exponents ? tile_exponents : nullptr, layout, step);
  }
}

template <Encoding kEncoding, class T>
void pack_steps(const PackJob<T>& job) {
  const PanelLayout& layout = *job.layout;
  const int unit = layout.tile_lines < kGroup ? layout.tile_lines : kGroup;  // a group lies within one tile
  // Panels inside, k outside: where lines lie side by side, a column of all panels is one run of memory.
  bf16* step = job.panel;
  for (index_t k0 = job.k_begin; k0 < job.k_end; k0 += layout.kr, step += layout.step_elements()) {
    const int count = static_cast<int>(job.k_end - k0 < layout.kr ? job.k_end - k0 : layout.kr);
    for (index_t i = 0; i < job.panels; ++i)
      for (int line = 0; line < layout.lines; line += unit)
        pack_group<kEncoding>(*job.source, layout, job.first + i * layout.lines, line,
                              layout.lines - line < unit ? layout.lines - line : unit, k0, count,
                              step + i * job.stride);
  }
}

/// Needs layout.kr == 32 and tiles of at most 16 lines or a multiple of 16.
template <class T>
void pack_lines(const PackJob<T>& job) {
  if (job.layout->encoding == Encoding::integers)
    pack_steps<Encoding::integers>(job);
  else
    pack_steps<Encoding::floats>(job);
}

}  // namespace
}  // namespace amx::detail
