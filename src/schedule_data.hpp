// The pairs of every schedule, as compile-time data: schedule.cpp makes run-time tables of them, kernels may unroll
// them.
#pragma once

#include "schedule.hpp"

namespace amx::detail {
namespace {

// FP64. Up to six slices every diagonal has its own resident accumulator tile; neighbours share an operand tile where
// they can, and products on one diagonal lie apart. Seven and eight slices have more diagonals than accumulators, so
// their high diagonals come in a pass of their own.
constexpr SlicePair kDigits1[] = {{0, 0}};
constexpr SlicePair kDigits3[] = {{0, 1}, {0, 0}, {1, 0}};
constexpr SlicePair kDigits6[] = {{0, 1}, {0, 2}, {0, 0}, {2, 0}, {1, 1}, {1, 0}};
constexpr SlicePair kDigits10[] = {{0, 3}, {0, 0}, {0, 2}, {0, 1}, {1, 2}, {1, 1}, {1, 0}, {2, 1}, {2, 0}, {3, 0}};
constexpr SlicePair kDigits15[] = {{0, 2}, {0, 0}, {4, 0}, {1, 2}, {1, 0}, {3, 1}, {3, 0}, {2, 0},
                                   {2, 2}, {2, 1}, {1, 1}, {1, 3}, {0, 1}, {0, 3}, {0, 4}};
constexpr SlicePair kDigits21[] = {{1, 4}, {1, 1}, {3, 0}, {3, 1}, {4, 1}, {0, 1}, {2, 1},
                                   {2, 2}, {3, 2}, {1, 2}, {0, 2}, {0, 5}, {0, 4}, {0, 0},
                                   {5, 0}, {4, 0}, {1, 0}, {2, 0}, {2, 3}, {0, 3}, {1, 3}};
constexpr SlicePair kDigitsLow[] = {{0, 3}, {0, 0}, {0, 2}, {0, 1}, {1, 2}, {1, 1}, {1, 0}, {2, 1}, {2, 0}, {3, 0}};
constexpr SlicePair kDigits28High[] = {{0, 6}, {0, 5}, {0, 4}, {1, 4}, {1, 5}, {1, 3}, {2, 3}, {2, 4}, {2, 2},
                                       {3, 2}, {3, 3}, {3, 1}, {4, 1}, {4, 2}, {4, 0}, {5, 0}, {5, 1}, {6, 0}};
constexpr SlicePair kDigits36High[] = {{0, 7}, {0, 6}, {0, 5}, {0, 4}, {1, 4}, {1, 6}, {1, 5}, {1, 3}, {2, 3},
                                       {2, 5}, {2, 4}, {2, 2}, {3, 2}, {3, 4}, {3, 3}, {3, 1}, {4, 1}, {4, 3},
                                       {4, 2}, {4, 0}, {5, 0}, {5, 2}, {5, 1}, {6, 1}, {6, 0}, {7, 0}};

// FP32. The chain of small products shares one operand between neighbours; A0*B0 comes last, over the whole panel, so
// that the small products are summed before they meet the large one.
constexpr SlicePair kLeading[] = {{0, 0}};
constexpr SlicePair kResiduals3[] = {{1, 0}, {0, 1}};
constexpr SlicePair kResiduals6[] = {{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}};
constexpr SlicePair kResiduals9[] = {{2, 2}, {2, 1}, {2, 0}, {1, 0}, {1, 1}, {1, 2}, {0, 2}, {0, 1}};

}  // namespace
}  // namespace amx::detail
