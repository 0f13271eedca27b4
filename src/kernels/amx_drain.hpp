// From stored accumulator tiles to the sums of a micro-tile: where between the products of the AMX kernels which rows
// are added, planned at compile time.
//
// FP64 accumulators that are due after a k step form a group: they are stored to a set of scratch tiles, and then the
// rows of all of them are added to the sums of the micro-tile, one pass over a sum per group. Two things decide the
// speed. There must be no branch between the products, because one that is mispredicted costs more than the vectors
// that it skips while a backlog of tile instructions waits: so the steps of a micro-tile are unrolled, and what is
// added after which product is a constant. And a group is read only some products after its last tile store, when that
// has left the store buffer.
#pragma once

#include "../limits.hpp"
#include "amx_order.hpp"

#include <immintrin.h>

#include <utility>

namespace amx::detail {
namespace {

constexpr int kTileFloats = 256;

// The vectors of this compilation.
#ifdef __AVX512F__
constexpr int kDoubles = 8, kFloats = 16;
using Doubles = __m512d;
using Floats = __m512;
inline Doubles load(const double* x) { return _mm512_loadu_pd(x); }
inline Floats load(const float* x) { return _mm512_loadu_ps(x); }
inline void store(double* x, Doubles v) { _mm512_storeu_pd(x, v); }
inline void store(float* x, Floats v) { _mm512_storeu_ps(x, v); }
inline Floats add(Floats x, Floats y) { return _mm512_add_ps(x, y); }
/// y + weight * x. The product with a power of two is exact, so the fused operation rounds as the two would.
inline Doubles add_scaled(const float* x, double weight, Doubles y) {
  // Not _mm512_cvtps_pd: gcc 12 warns of a variable in its own definition of that.
  const Doubles value = _mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps(x));
  return _mm512_fmadd_pd(value, _mm512_set1_pd(weight), y);
}
#else
constexpr int kDoubles = 4, kFloats = 8;
using Doubles = __m256d;
using Floats = __m256;
inline Doubles load(const double* x) { return _mm256_loadu_pd(x); }
inline Floats load(const float* x) { return _mm256_loadu_ps(x); }
inline void store(double* x, Doubles v) { _mm256_storeu_pd(x, v); }
inline void store(float* x, Floats v) { _mm256_storeu_ps(x, v); }
inline Floats add(Floats x, Floats y) { return _mm256_add_ps(x, y); }
inline Doubles add_scaled(const float* x, double weight, Doubles y) {
  return _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_loadu_ps(x)), _mm256_set1_pd(weight), y);
}
#endif

/// Diagonals from the returned one on are due after k step `step` of a micro-tile of `steps`: the cadence is 8, 4, 2,
/// 2, 1, 1, 1, 1.
constexpr int first_due(int step, int steps) {
  static_assert(drain_cadence(0, 32) == 8 && drain_cadence(1, 32) == 4 && drain_cadence(2, 32) == 2 &&
                drain_cadence(3, 32) == 2 && drain_cadence(4, 32) == 1 && drain_cadence(7, 32) == 1);
  const int done = step + 1;
  return done == steps || done % 8 == 0 ? 0 : done % 4 == 0 ? 1 : done % 2 == 0 ? 2 : 4;
}

/// What is added after one product: units [first, last) of a group of the micro-tile `back` before the present one.
struct DrainWork {
  int group, back, first, last;
};

/// The drains of a micro-tile of `Steps` k steps. Positions are products from its beginning on.
template <const auto& Order, int Steps>
class DrainPlan {
 public:
  static constexpr int kPeriod = Order.kCount * Steps;
  static constexpr auto kStores = plan_stores(Order);
  static constexpr int kSets = 4;      // of scratch tiles, used in turn by the groups
  static constexpr int kMostBack = 3;  // micro-tiles

  static constexpr int highest_diagonal() {
    int highest = 0;
    for (const TileProduct& product : Order.products)
      if (product.a + product.b > highest) highest = product.a + product.b;
    return highest;
  }
  static constexpr bool has_group(int step) { return first_due(step, Steps) <= highest_diagonal(); }
  /// Of the group that is due after `step`, or how many groups there are before it.
  static constexpr int group_of(int step) {
    int group = 0;
    for (int s = 0; s < step; ++s) group += has_group(s);
    return group;
  }
  static constexpr int kGroups = group_of(Steps);
  /// Micro-tiles until a scratch set is used again by the same group.
  static constexpr int kRotation = kGroups >= kSets ? 1 : kSets / kGroups;
  static_assert(kGroups >= kSets ? kGroups % kSets == 0 : kSets % kGroups == 0);

  static constexpr int step_of(int group) {
    int step = 0;
    while (!has_group(step) || group_of(step) != group) ++step;
    return step;
  }

  /// Units of a group: rows of 16 sums. Unit u is row u / parts of part u % parts.
  static constexpr int parts(int group) {
    int count = 0;
    for (int part = 0; part < kParts; ++part) count += any_due(group, part);
    return count;
  }
  /// The p-th of the parts, each a set of sums (accumulator_set) and a column tile, that have something to add.
  static constexpr int part(int group, int p) {
    int part = 0;
    for (int found = -1;; ++part)
      if (any_due(group, part) && ++found == p) return part;
  }
  static constexpr int set_of(int part) { return part / Order.columns; }
  static constexpr int column_of(int part) { return part % Order.columns; }
  static constexpr bool is_due(int group, int part, int accumulator) {
    if (accumulator >= Order.accumulators) return false;
    const StoreSlot& slot = kStores.of[accumulator];
    return slot.diagonal >= first_due(step_of(group), Steps) && accumulator_set(slot.diagonal) == set_of(part) &&
           slot.column == column_of(part);
  }

  static constexpr DrainWork work_at(int position) {
    for (int back = 0; back <= kMostBack; ++back)
      for (int group = 0; group < kGroups; ++group) {
        const int length = begin(group + 1) - begin(group), at = position + back * kPeriod - begin(group);
        const int units = 16 * parts(group);
        if (at >= 0 && at < length) return {group, back, at * units / length, (at + 1) * units / length};
      }
    return {0, kMostBack + 1, 0, 0};  // not reached: the windows of the groups cover a period
  }

 private:
  static constexpr int kParts = 3 * Order.columns;
  /// Products between the last store of a group and its first unit.
  static constexpr int kDelay = Order.kCount < 6 ? Order.kCount : 6;

  static constexpr bool any_due(int group, int part) {
    for (int a = 0; a < Order.accumulators; ++a)
      if (is_due(group, part, a)) return true;
    return false;
  }
  /// First position of a group's window, from the beginning of its micro-tile; it ends where that of the next begins.
  static constexpr int begin(int group) {
    const int period = group / kGroups;
    return period * kPeriod + (step_of(group % kGroups) + 1) * Order.kCount + kStores.ready + kDelay;
  }
  /// A scratch set has been read when the group after the next but two begins to be stored into it.
  static constexpr bool sets_suffice() {
    for (int group = 0; group < kGroups; ++group) {
      const int next = group + kSets;
      if (begin(group + 1) > next / kGroups * kPeriod + step_of(next % kGroups) * Order.kCount) return false;
    }
    return true;
  }
  static_assert(sets_suffice());
};

/// Adds unit `Unit` of group `Group`: `scratch` is the first tile of its set, `sums` those of its micro-tile.
template <class Plan, const auto& Order, int Group, int Unit>
class DrainUnit {
  static constexpr int kPart = Plan::part(Group, Unit % Plan::parts(Group));
  static constexpr int kRow = Unit / Plan::parts(Group);
  static constexpr index_t kSum =
      Plan::set_of(kPart) * 256 * Order.columns + kRow * 16 * Order.columns + 16 * Plan::column_of(kPart);

 public:
  [[gnu::always_inline]] static void add(const float* scratch, double* sums) {
    for (int c = 0; c < 16; c += kDoubles) {
      Doubles value = load(sums + kSum + c);
      add_accumulators(value, scratch + 16 * kRow + c, std::make_index_sequence<6>());
      store(sums + kSum + c, value);
    }
  }

 private:
  template <std::size_t... A>
  [[gnu::always_inline]] static void add_accumulators(Doubles& value, const float* row, std::index_sequence<A...>) {
    (add_accumulator<static_cast<int>(A)>(value, row), ...);
  }
  template <int A>
  [[gnu::always_inline]] static void add_accumulator(Doubles& value, const float* row) {
    if constexpr (Plan::is_due(Group, kPart, A))
      value = add_scaled(row + A * kTileFloats, kDiagonalWeights[Plan::kStores.of[A].diagonal], value);
  }
};

}  // namespace
}  // namespace amx::detail
