// The numbers that the numerics rest on. docs/numerics.md derives each of them; nothing else in src/ repeats one.
//
// Where to start reading the library: driver.cpp (the loop that defines the result), then split.hpp, panel.hpp,
// schedule.cpp, kernels/portable.cpp, reconstruct.hpp; frontend.cpp is what runs before and around it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace amx::detail {

using index_t = std::ptrdiff_t;
using bf16 = std::uint16_t;  // the upper half of an IEEE single

// ---- FP64: digits (docs/numerics.md, sections 2 and 3) ----

inline constexpr int kMaxSlices = 8;
inline constexpr int kDigitBits = 9;  // digit p has weight 2^(-9 p)
inline constexpr int kLeadBits = 8;   // digit 0 of a line with maximum below 2^v is rne(x 2^(8 - v)), at most 2^8

/// Exponent of the weight of diagonal l = p + q: C = 2^(v + w) sum_l 2^weight(l) S_l.
constexpr int diagonal_weight(int diagonal) { return -2 * kLeadBits - kDigitBits * diagonal; }

/// 2^diagonal_weight(l). Not `inline`: kernel objects must not share it as a weak symbol.
constexpr double kDiagonalWeights[kMaxSlices] = {0x1p-16, 0x1p-25, 0x1p-34, 0x1p-43,
                                                 0x1p-52, 0x1p-61, 0x1p-70, 0x1p-79};
static_assert(diagonal_weight(0) == -16 && diagonal_weight(kMaxSlices - 1) == -79);

/// k steps (of kr elements) after which the FP32 accumulator of a diagonal must be drained: the largest power of two s
/// with (l + 1) kr s 2^16 <= 2^24, because that bounds the accumulator, and every integer up to 2^24 is a float.
constexpr int drain_cadence(int diagonal, int kr) {
  int steps = 0;
  for (int s = 1; (diagonal + 1) * kr * s <= 256; s *= 2) steps = s;
  return steps;
}

/// Diagonals 0-2, 3-5 and 6-7 are summed apart in FP64: within a super-panel each of these three sums is exact, in any
/// order of addition (docs/numerics.md, section 3.2).
constexpr int accumulator_set(int diagonal) { return diagonal / 3; }
constexpr int accumulator_sets(int slices) { return accumulator_set(slices - 1) + 1; }

/// Reduction length up to which all three sums are exact. Longer ones are cut into super-panels from k = 0 on, and
/// their rounded sums added in ascending order.
inline constexpr index_t kSuperPanel = index_t{1} << 17;

// ---- FP32: residuals (docs/numerics.md, section 4) ----

/// Products of one panel accumulate in the tile; panels are then added to C in FP32. Part of the definition of the
/// bits.
inline constexpr int kResidualPanel = 256;
/// Elements of k that one TDPBF16PS reduces: part of the definition of the bits, so every FP32 engine has kr = 32.
inline constexpr int kResidualStep = 32;

// ---- Range of the operands (docs/numerics.md, section 5) ----

template <class T>
struct Range;

template <>
struct Range<double> {
  static constexpr double kMin = 0x1p-126;    // smallest normal BF16
  static constexpr double kMax = 0x1.fep127;  // largest BF16
};

template <>
struct Range<float> {
  static constexpr double kMin = 0x1p-103;  // the last of three slices is a multiple of 2^(e - 23): normal, or zero
  static constexpr double kMax = 0x1.fep127;
  static constexpr int kMinProductExponent = -80;  // ilogb(min|a|) + ilogb(min|b|); see section 5.3
  static constexpr double kMaxProduct = 0x1p126;   // k max|a| max|b|; see section 5.4
};

/// OutOfRange::rescale: k max|a| max|b| above this could overflow C.
inline constexpr int kRescaleMaxExponent = 1023;

}  // namespace amx::detail
