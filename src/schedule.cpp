// The schedules. schedule.hpp says how they are read.
#include "schedule.hpp"

#include "schedule_data.hpp"

#include <cstddef>

namespace amx::detail {
namespace {

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
