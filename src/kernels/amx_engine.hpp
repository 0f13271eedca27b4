// The AMX kernels: TDPBF16PS on the packed panels, FP64 digits and FP32 residuals.
//
// Compiled twice, by amx_bf16_avx2.cpp and amx_bf16_avx512.cpp, which differ in the vectors that drain the tiles.
//
// Both kernels are one stream of tile products over all micro-tiles of a block. Accumulators that are due are stored
// some products after their last use and drained between the products that follow, also those of the next micro-tile
// (amx_drain.hpp). What is multiplied in which order is data (amx_order.hpp, schedule_data.hpp), for FP64 unrolled at
// compile time because tile numbers are part of the instructions. docs/numerics.md proves that the sums are exact
// whatever the order of draining.
#pragma once

#include "../kernel.hpp"
#include "../panel.hpp"
#include "amx_drain.hpp"
#include "amx_order.hpp"
#include "amx_tiles.hpp"

#include <utility>

namespace amx::detail {
namespace {

constexpr int kTileElements = 512;  // BF16 elements of an operand tile, A or B
constexpr int kNoneDue = kMaxSlices;

// ---- FP64 ----

/// The stream of one pass: `Order` is a constexpr TileOrder.
template <const auto& Order>
class DigitStream {
 public:
  explicit DigitStream(const KernelJob<double>& job) : job_(job) { zero(Accumulators()); }

  void run() {
    // One column tile: the A panel stays in L1 while B streams. Two: the panel of B is the larger one and stays.
    if constexpr (Order.columns == 1) {
      for (int i = 0; i < job_.m_panels; ++i)
        for (int j = 0; j < job_.n_panels; ++j) micro_tile(i, j);
    } else {
      for (int j = 0; j < job_.n_panels; ++j)
        for (int i = 0; i < job_.m_panels; ++i) micro_tile(i, j);
    }
    store_rest(Accumulators());
    begin_drain();
    drain_.finish();
  }

 private:
  static constexpr auto kOperands = plan_operands(Order);
  static constexpr auto kStores = plan_stores(Order);
  static constexpr int kStepA = Order.slices * kTileElements, kStepB = Order.slices * kTileElements * Order.columns;
  using Products = std::make_index_sequence<static_cast<std::size_t>(Order.kCount)>;
  using Accumulators = std::make_index_sequence<static_cast<std::size_t>(Order.accumulators)>;

  template <std::size_t... A>
  void zero(std::index_sequence<A...>) {
    (tile_zero<static_cast<int>(A)>(), ...);
  }

  void micro_tile(int i, int j) {
    const bf16* a = job_.a + i * job_.a_stride;
    const bf16* b = job_.b + j * job_.b_stride;
    double* const sums = job_.c + i * job_.c_row_stride + j * job_.c_tile_stride;
    for (int s = 0; s < job_.k_steps; ++s, a += kStepA, b += kStepB) {
      due_ = first_due(s, job_.k_steps);
      step(a, b, Products());
      previous_due_ = due_;
      previous_sums_ = sums;
      if (has_group(due_)) set_ = 1 - set_;
    }
  }

  template <std::size_t... P>
  void step(const bf16* a, const bf16* b, std::index_sequence<P...>) {
    (product<static_cast<int>(P)>(a, b, Accumulators()), ...);
  }

  template <int P, std::size_t... A>
  void product(const bf16* a, const bf16* b, std::index_sequence<A...>) {
    constexpr TileProduct kProduct = Order.products[P];
    constexpr TileOperands kOperand = kOperands.at[P];
    if constexpr (kOperand.load_a) tile_load<kOperand.a_tile>(a + kProduct.a * kTileElements);
    if constexpr (kOperand.load_b)
      tile_load<kOperand.b_tile>(b + (kProduct.b * Order.columns + kProduct.column) * kTileElements);
    (store_before<P, static_cast<int>(A)>(), ...);
    if constexpr (P == kStores.ready) begin_drain();
    tile_multiply<kProduct.accumulator, kOperand.a_tile, kOperand.b_tile>();
    drain_.work();
  }

  /// Stores accumulator A before product P if that is its slot and it is due.
  template <int P, int A>
  void store_before() {
    constexpr StoreSlot kStore = kStores.of[A];
    if constexpr (kStore.slot == P) {
      const int due = kStore.next_step ? previous_due_ : due_;
      if (kStore.diagonal >= due) store<A>(kStore.next_step ? 1 - set_ : set_);
    }
  }
  template <int A>
  void store(int set) {
    tile_store<A>(drain_.scratch(set, A));
    tile_zero<A>();
  }

  /// The group of the previous step is stored.
  void begin_drain() {
    if (has_group(previous_due_)) drain_.begin(1 - set_, previous_due_, previous_sums_);
  }
  static bool has_group(int due) { return due <= highest_diagonal<Order>(); }

  /// After the last step: what the next step would have stored.
  template <std::size_t... A>
  void store_rest(std::index_sequence<A...>) {
    ((kStores.of[A].next_step ? store<static_cast<int>(A)>(1 - set_) : void()), ...);
  }

  const KernelJob<double>& job_;
  DigitDrain<Order> drain_;
  double* previous_sums_ = nullptr;  // of the step before
  int due_ = kNoneDue,
      previous_due_ = kNoneDue;  // diagonals from this one on are due after the step, and the one before
  int set_ = 0;                  // scratch set of the next group; the other one belongs to the group before
};

template <const auto& Order>
void run_pass(const KernelJob<double>& job) {
  DigitStream<Order>(job).run();
}

void run_digits(const KernelJob<double>& job) {
  tile_memory_barrier();  // the panels have just been written
  switch (job.schedule->slices) {
    case 1: run_pass<kOrder1>(job); break;
    case 2: run_pass<kOrder3>(job); break;
    case 3: run_pass<kOrder6>(job); break;
    case 4: run_pass<kOrder10>(job); break;
    case 5: run_pass<kOrder15>(job); break;
    case 6: run_pass<kOrder21>(job); break;
    case 7:
      run_pass<kOrder28High>(job);
      run_pass<kOrder28Low>(job);
      break;
    case 8:
      run_pass<kOrder36High>(job);
      run_pass<kOrder36Low>(job);
      break;
  }
}

// ---- FP32 ----

/// 32 x 32: accumulators 0..3 for the tiles (0,0) (0,1) (1,0) (1,1), A in tiles 4 and 6, B in tiles 5 and 7.
class ResidualStream {
 public:
  explicit ResidualStream(const KernelJob<float>& job) : job_(job) {
    tile_zero<0>();
    tile_zero<1>();
    tile_zero<2>();
    tile_zero<3>();
  }

  void run() {
    const Schedule& schedule = *job_.schedule;
    for (int i = 0; i < job_.m_panels; ++i)
      for (int j = 0; j < job_.n_panels; ++j) {
        for (int p = 0; p < schedule.pass_count; ++p) panel(i, j, schedule.passes[p]);
        due_sum_ = job_.c + i * job_.c_row_stride + j * job_.c_tile_stride;
      }
    drain();
  }

 private:
  static constexpr int kSlice = 2 * kTileElements;

  void panel(int i, int j, const Pass& pass) {
    const bf16* a = job_.a + i * job_.a_stride;
    const bf16* b = job_.b + j * job_.b_stride;
    const index_t step_elements = index_t{job_.schedule->slices} * kSlice;
    for (int step = 0; step < job_.k_steps; ++step, a += step_elements, b += step_elements) {
      int a_held = -1, b_held = -1;
      for (int q = 0; q < pass.count; ++q) {
        const SlicePair pair = pass.pairs[q];
        multiply(a + pair.a * kSlice, pair.a != a_held, b + pair.b * kSlice, pair.b != b_held);
        a_held = pair.a;
        b_held = pair.b;
      }
    }
  }

  void multiply(const bf16* a, bool load_a, const bf16* b, bool load_b) {
    if (load_a) tile_load<4>(a);
    if (load_b) tile_load<5>(b);
    product<0, 4, 5>();
    if (load_b) tile_load<7>(b + kTileElements);
    product<1, 4, 7>();
    if (load_a) tile_load<6>(a + kTileElements);
    product<2, 6, 5>();
    product<3, 6, 7>();
    due_sum_ = nullptr;  // all four have been stored
  }

  template <int Tile, int A, int B>
  void product() {
    if (due_sum_) store<Tile>();
    tile_multiply<Tile, A, B>();
    drain_.work();
  }

  template <int Tile>
  void store() {
    tile_store<Tile>(drain_.push(due_sum_ + Tile / 2 * 16 * 32 + Tile % 2 * 16));
    tile_zero<Tile>();
  }

  void drain() {
    if (due_sum_) {
      store<0>();
      store<1>();
      store<2>();
      store<3>();
    }
    drain_.finish();
  }

  const KernelJob<float>& job_;
  ResidualDrain drain_;
  float* due_sum_ = nullptr;  // of the previous micro-tile, until its accumulators have been stored
};

void run_residuals(const KernelJob<float>& job) {
  tile_memory_barrier();
  ResidualStream(job).run();
}

// ---- Tile state and block sizes ----

void enter(KernelState& state) {
  static_assert(sizeof state.bytes == sizeof(TileConfig));
  TileConfig found;
  tile_save_config(found);
  __builtin_memcpy(state.bytes, &found, sizeof found);
  tile_configure(full_tiles());
}

void leave(const KernelState& state) {
  TileConfig found;
  __builtin_memcpy(&found, state.bytes, sizeof found);
  if (found.palette == 0)
    _tile_release();
  else
    tile_configure(found);
}

// Blocks around 256 x 192 keep a block's panels of one chunk and its sums within 1 MiB of L2. The chunk (kc) is short,
// so that the A panel (16 rows, all slices) stays in L1.
constexpr BlockSizes kDigits[kMaxSlices] = {{16, 32, 32, 16, 16, 256, 192, 256}, {16, 32, 32, 16, 16, 256, 192, 256},
                                            {16, 32, 32, 16, 16, 256, 192, 128}, {16, 16, 32, 16, 16, 256, 192, 128},
                                            {16, 16, 32, 16, 16, 256, 192, 128}, {16, 16, 32, 16, 16, 256, 192, 64},
                                            {16, 16, 32, 16, 16, 192, 128, 64},  {16, 16, 32, 16, 16, 192, 128, 64}};
constexpr BlockSizes kResidualBlocks = {32, 32, 32, 16, 16, 256, 192, kResidualPanel};
constexpr BlockSizes kResiduals[3] = {kResidualBlocks, kResidualBlocks, kResidualBlocks};

constexpr Engine<double> digit_engine(const OperandKernels<double>& operands) {
  return {kDigits, run_digits, &operands, Encoding::floats, enter, leave};
}
constexpr Engine<float> residual_engine(const OperandKernels<float>& operands) {
  return {kResiduals, run_residuals, &operands, Encoding::floats, enter, leave};
}

}  // namespace
}  // namespace amx::detail
