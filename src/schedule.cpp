// The schedules. schedule.hpp says how they are read.
#include "schedule.hpp"

#include <cstddef>

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
constexpr SlicePair kDigits21[] = {{1, 4}, {1, 1}, {3, 0}, {3, 1}, {4, 1}, {0, 1}, {2, 1}, {2, 2}, {3, 2}, {1, 2}, {0, 2},
                                   {0, 5}, {0, 4}, {0, 0}, {5, 0}, {4, 0}, {1, 0}, {2, 0}, {2, 3}, {0, 3}, {1, 3}};
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

template <std::size_t Count>
constexpr Pass pass(const SlicePair (&pairs)[Count]) {
  return {pairs, static_cast<int>(Count)};
}

constexpr Schedule kDigitSchedules[] = {
    {1, 1, 1, {pass(kDigits1), {}}},
    {3, 2, 1, {pass(kDigits3), {}}},
    {6, 3, 1, {pass(kDigits6), {}}},
    {10, 4, 1, {pass(kDigits10), {}}},
    {15, 5, 1, {pass(kDigits15), {}}},
    {21, 6, 1, {pass(kDigits21), {}}},
    {28, 7, 2, {pass(kDigits28High), pass(kDigitsLow)}},
    {36, 8, 2, {pass(kDigits36High), pass(kDigitsLow)}},
};

constexpr Schedule kResidualSchedules[] = {
    {1, 1, 1, {pass(kLeading), {}}},
    {3, 2, 2, {pass(kResiduals3), pass(kLeading)}},
    {6, 3, 2, {pass(kResiduals6), pass(kLeading)}},
    {9, 3, 2, {pass(kResiduals9), pass(kLeading)}},
};

}  // namespace

const Schedule& digit_schedule(int slices) { return kDigitSchedules[slices - 1]; }

const Schedule& residual_schedule(int products) {
  for (const Schedule& schedule : kResidualSchedules)
    if (schedule.products == products) return schedule;
  return kResidualSchedules[2];  // not reached: callers have checked with slices_for<float>()
}

}  // namespace amx::detail
