// The FP64 kernel on AMX tiles: one stream of tile products over all micro-tiles of a block.
//
// The k steps of a micro-tile are unrolled at compile time, with the loads, tile stores and drains that belong between
// their products (amx_order.hpp, amx_drain.hpp); drains run on into the next micro-tiles. docs/numerics.md proves that
// the sums are exact whatever the order of draining.
#pragma once

#include "../kernel.hpp"
#include "amx_drain.hpp"
#include "amx_order.hpp"
#include "amx_tiles.hpp"

namespace amx::detail {
namespace {

constexpr int kTileElements = 512;  // BF16 elements of an operand tile, A or B

/// All micro-tiles of a block over `Steps` k steps. `Order` is a constexpr TileOrder.
template <const auto& Order, int Steps>
class DigitStream {
  using Plan = DrainPlan<Order, Steps>;
  static constexpr auto kOperands = plan_operands(Order);
  static constexpr auto kStores = Plan::kStores;
  static constexpr int kStepA = Order.slices * kTileElements, kStepB = Order.slices * kTileElements * Order.columns;
  static constexpr int kSetFloats = Order.accumulators * kTileFloats;
  using Positions = std::make_index_sequence<static_cast<std::size_t>(Plan::kPeriod)>;
  using Accumulators = std::make_index_sequence<static_cast<std::size_t>(Order.accumulators)>;

 public:
  /// Over k steps [step, step + Steps) of the job.
  static void run(const KernelJob<double>& job, int step) { DigitStream(job, step).run(); }

 private:
  DigitStream(const KernelJob<double>& job, int step)
      : job_(job), a_(job.a + index_t{step} * kStepA), b_(job.b + index_t{step} * kStepB) {
    // Before the first micro-tile there are groups of zeros, which are added to its sums.
    __builtin_memset(scratch_, 0, sizeof scratch_);
    for (int back = 0; back <= Plan::kMostBack; ++back) {
      sums_[back] = job.c;
      set_[back] = scratch_;
    }
    zero(Accumulators());
  }

  void run() {
    for (int i = 0; i < job_.m_panels; ++i) {
      const bf16* const a = a_ + i * job_.a_stride;  // stays in L1 while the panels of B pass
      for (int j = 0; j < job_.n_panels; ++j) {
        next_micro_tile(job_.c + i * job_.c_row_stride + j * job_.c_tile_stride);
        positions<0>(a, b_ + j * job_.b_stride, Positions());
      }
    }
    // What the next three micro-tiles would have stored and drained of the last ones.
    next_micro_tile(job_.c);
    positions<1>(nullptr, nullptr, Positions());
    next_micro_tile(job_.c);
    positions<2>(nullptr, nullptr, Positions());
    next_micro_tile(job_.c);
    positions<3>(nullptr, nullptr, Positions());
  }

  void next_micro_tile(double* sums) {
    for (int back = Plan::kMostBack; back > 0; --back) {
      sums_[back] = sums_[back - 1];
      set_[back] = set_[back - 1];
    }
    sums_[0] = sums;
    if constexpr (Plan::kRotation > 1) {
      rotation_ = (rotation_ + 1) % Plan::kRotation;
      set_[0] = scratch_ + rotation_ * Plan::kGroups * kSetFloats;
    }
  }

  /// The products of a micro-tile, or `After` micro-tiles after the last one, where there are none.
  template <int After, std::size_t... Position>
  void positions(const bf16* a, const bf16* b, std::index_sequence<Position...>) {
    (position<After, static_cast<int>(Position)>(a, b, Accumulators()), ...);
  }

  template <int After, int Position, std::size_t... A>
  [[gnu::always_inline]] void position(const bf16* a, const bf16* b, std::index_sequence<A...>) {
    constexpr int kStep = Position / Order.kCount, kIndex = Position % Order.kCount;
    constexpr TileProduct kProduct = Order.products[kIndex];
    constexpr TileOperands kOperand = kOperands.at[kIndex];
    if constexpr (After == 0 && kOperand.load_a)
      tile_load<kOperand.a_tile>(a + kStep * kStepA + kProduct.a * kTileElements);
    if constexpr (After == 0 && kOperand.load_b)
      tile_load<kOperand.b_tile>(b + kStep * kStepB + (kProduct.b * Order.columns + kProduct.column) * kTileElements);
    (store_before<After, kStep, kIndex, static_cast<int>(A)>(), ...);
    if constexpr (After == 0) tile_multiply<kProduct.accumulator, kOperand.a_tile, kOperand.b_tile>();
    constexpr DrainWork kWork = Plan::work_at(Position);
    if constexpr (kWork.back >= After && kWork.back <= Plan::kMostBack)
      drain<Position>(std::make_index_sequence<static_cast<std::size_t>(kWork.last - kWork.first)>());
  }

  /// Stores accumulator A before product `Index` of step `Step` if that is its slot and it is due.
  template <int After, int Step, int Index, int A>
  [[gnu::always_inline]] void store_before() {
    constexpr StoreSlot kStore = kStores.of[A];
    if constexpr (kStore.slot == Index) {
      constexpr int kBack = kStore.next_step && Step == 0 ? 1 : 0;  // micro-tiles
      constexpr int kDueStep = kStore.next_step ? (Step + Steps - 1) % Steps : Step;
      if constexpr (kBack >= After && kStore.diagonal >= first_due(kDueStep, Steps)) {
        tile_store<A>(set_[kBack] + Plan::group_of(kDueStep) % Plan::kSets * kSetFloats + A * kTileFloats);
        tile_zero<A>();
      }
    }
  }

  template <int Position, std::size_t... Unit>
  [[gnu::always_inline]] void drain(std::index_sequence<Unit...>) {
    constexpr DrainWork kWork = Plan::work_at(Position);
    [[maybe_unused]] const float* const set = set_[kWork.back] + kWork.group % Plan::kSets * kSetFloats;
    (DrainUnit<Plan, Order, kWork.group, kWork.first + static_cast<int>(Unit)>::add(set, sums_[kWork.back]), ...);
  }

  template <std::size_t... A>
  void zero(std::index_sequence<A...>) {
    (tile_zero<static_cast<int>(A)>(), ...);
  }

  const KernelJob<double>& job_;
  const bf16 *a_, *b_;
  double* sums_[Plan::kMostBack + 1];  // of this micro-tile and of those before it
  float* set_[Plan::kMostBack + 1];    // scratch set of the first group of each
  int rotation_ = 0;
  alignas(64) float scratch_[Plan::kSets * kSetFloats];
};

/// Chunks of kc, unrolled `Steps` k steps, and what is left of k in halves of that.
template <const auto& Order, int Steps>
void run_pass(const KernelJob<double>& job, int step = 0) {
  for (; step + Steps <= job.k_steps; step += Steps) DigitStream<Order, Steps>::run(job, step);
  if constexpr (Steps > 1)
    if (step < job.k_steps) run_pass<Order, Steps / 2>(job, step);
}

void run_digits(const KernelJob<double>& job) {
  tile_memory_barrier();  // the panels have just been written
  switch (job.schedule->slices) {
    case 1: run_pass<kOrder1, 8>(job); break;
    case 2: run_pass<kOrder3, 8>(job); break;
    case 3: run_pass<kOrder6, 8>(job); break;
    case 4: run_pass<kOrder10, 8>(job); break;
    case 5: run_pass<kOrder15, 4>(job); break;
    case 6: run_pass<kOrder21, 4>(job); break;
    case 7:
      run_pass<kOrder28High, 4>(job);
      run_pass<kOrder28Low, 4>(job);
      break;
    case 8:
      run_pass<kOrder36High, 4>(job);
      run_pass<kOrder36Low, 4>(job);
      break;
  }
}

}  // namespace
}  // namespace amx::detail
