// The AMX backend: TDPBF16PS on the packed panels, FP64 digits and FP32 residuals.
//
// Both kernels are one stream of tile products over all micro-tiles of a block. An accumulator that is due is stored just
// before its next use in the stream and drained between the products that follow (amx_drain.hpp). What is multiplied in
// which order is data (amx_order.hpp, schedule_data.hpp), unrolled at compile time because tile numbers are part of the
// instructions. docs/numerics.md proves that the FP64 sums are exact whatever the order of draining.
#include "amx_bf16.hpp"

#include "../panel.hpp"
#include "amx_drain.hpp"
#include "amx_order.hpp"
#include "amx_tiles.hpp"

#include <utility>

namespace amx::detail {
namespace {

constexpr int kTileElements = 512;  // BF16 elements of an operand tile, A or B

constexpr double kWeights[kMaxSlices] = {0x1p-16, 0x1p-25, 0x1p-34, 0x1p-43, 0x1p-52, 0x1p-61, 0x1p-70, 0x1p-79};
static_assert(diagonal_weight(0) == -16 && diagonal_weight(kMaxSlices - 1) == -79);

// ---- FP64 -------------------------------------------------------------------------------------------------------

/// The stream of one pass: `Order` is a constexpr TileOrder.
template <const auto& Order>
class DigitStream {
 public:
  explicit DigitStream(const KernelJob<double>& job) : job_(job) {
    zero(std::make_index_sequence<static_cast<std::size_t>(Order.accumulators)>());
  }

  void run() {
    // One column tile: the A panel stays in L1 while B streams. Two: the panel of B is the larger one and stays.
    if constexpr (Order.columns == 1) {
      for (int i = 0; i < job_.m_panels; ++i)
        for (int j = 0; j < job_.n_panels; ++j) micro_tile(i, j);
    } else {
      for (int j = 0; j < job_.n_panels; ++j)
        for (int i = 0; i < job_.m_panels; ++i) micro_tile(i, j);
    }
    drain_all(std::make_index_sequence<static_cast<std::size_t>(Order.kCount)>());
    queue_.finish();
  }

 private:
  static constexpr auto kPlan = plan_operands(Order);
  static constexpr int kCols = 16 * Order.columns;
  static constexpr int kStepA = Order.slices * kTileElements, kStepB = Order.slices * kTileElements * Order.columns;

  template <std::size_t... Tile>
  void zero(std::index_sequence<Tile...>) {
    (tile_zero<static_cast<int>(Tile)>(), ...);
  }

  void micro_tile(int i, int j) {
    const bf16* a = job_.a + i * job_.a_stride;
    const bf16* b = job_.b + j * job_.b_stride;
    for (int step = 0; step < job_.k_steps; ++step, a += kStepA, b += kStepB) {
      this->step(a, b, std::make_index_sequence<static_cast<std::size_t>(Order.kCount)>());
      due_sum_ = job_.c + i * job_.c_row_stride + j * job_.c_tile_stride;
      steps_done_ = step + 1 == job_.k_steps ? 0 : step + 1;
    }
  }

  template <std::size_t... P>
  void step(const bf16* a, const bf16* b, std::index_sequence<P...>) {
    (product<P>(a, b), ...);
  }

  template <std::size_t P>
  void product(const bf16* a, const bf16* b) {
    constexpr TileProduct kProduct = Order.products[P];
    constexpr TileOperands kOperands = kPlan.at[P];
    if constexpr (kOperands.load_a) tile_load<kOperands.a_tile>(a + kProduct.a * kTileElements);
    if constexpr (kOperands.load_b)
      tile_load<kOperands.b_tile>(b + (kProduct.b * Order.columns + kProduct.column) * kTileElements);
    if constexpr (kOperands.first_use) drain_if_due<P>();
    tile_multiply<kProduct.accumulator, kOperands.a_tile, kOperands.b_tile>();
    queue_.work();
  }

  /// After steps_done_ steps of the chunk (0: after its end), stores and clears the accumulator if its cadence says so.
  template <std::size_t P>
  void drain_if_due() {
    constexpr TileProduct kProduct = Order.products[P];
    constexpr int kDiagonal = kProduct.a + kProduct.b;
    if (!due_sum_ || steps_done_ % drain_cadence(kDiagonal, 32) != 0) return;
    double* sum = due_sum_ + accumulator_set(kDiagonal) * 16 * kCols + 16 * kProduct.column;
    tile_store<kProduct.accumulator>(queue_.push(sum, kCols, kWeights[kDiagonal]));
    tile_zero<kProduct.accumulator>();
  }

  template <std::size_t... P>
  void drain_all(std::index_sequence<P...>) {
    (drain_last<P>(), ...);
  }
  template <std::size_t P>
  void drain_last() {
    if constexpr (kPlan.at[P].first_use) drain_if_due<P>();
  }

  const KernelJob<double>& job_;
  DrainQueue<double> queue_;
  double* due_sum_ = nullptr;  // of the micro-tile of the previous step
  int steps_done_ = 0;         // of its chunk; 0 if that was the last one
};

template <const auto& Order>
void run_pass(const KernelJob<double>& job) {
  DigitStream<Order>(job).run();
}

void run_digits(const KernelJob<double>& job) {
  tile_memory_barrier();  // the panels were written by this thread
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

// ---- FP32 -------------------------------------------------------------------------------------------------------

/// 32 x 32: accumulators 0..3 for the tiles (0,0) (0,1) (1,0) (1,1), A in tiles 4 and 6, B in tiles 5 and 7.
class ResidualStream {
 public:
  explicit ResidualStream(const KernelJob<float>& job) : job_(job) {
    tile_zero<0>();
    tile_zero<1>();
    tile_zero<2>();
    tile_zero<3>();
  }

  template <std::size_t SmallCount>
  void run(const SlicePair (&small)[SmallCount]) {
    for (int i = 0; i < job_.m_panels; ++i)
      for (int j = 0; j < job_.n_panels; ++j) {
        panel(i, j, small, SmallCount);
        panel(i, j, kLeading, 1);
        due_sum_ = job_.c + i * job_.c_row_stride + j * job_.c_tile_stride;
      }
    drain();
  }

  void run_leading() {
    for (int i = 0; i < job_.m_panels; ++i)
      for (int j = 0; j < job_.n_panels; ++j) {
        panel(i, j, kLeading, 1);
        due_sum_ = job_.c + i * job_.c_row_stride + j * job_.c_tile_stride;
      }
    drain();
  }

 private:
  static constexpr int kSlice = 2 * kTileElements;

  void panel(int i, int j, const SlicePair* pairs, std::size_t count) {
    const bf16* a = job_.a + i * job_.a_stride;
    const bf16* b = job_.b + j * job_.b_stride;
    const index_t step_elements = index_t{job_.schedule->slices} * kSlice;
    for (int step = 0; step < job_.k_steps; ++step, a += step_elements, b += step_elements) {
      int a_held = -1, b_held = -1;
      for (std::size_t q = 0; q < count; ++q) {
        multiply(a + pairs[q].a * kSlice, pairs[q].a != a_held, b + pairs[q].b * kSlice, pairs[q].b != b_held);
        a_held = pairs[q].a;
        b_held = pairs[q].b;
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
    queue_.work();
  }

  template <int Tile>
  void store() {
    tile_store<Tile>(queue_.push(due_sum_ + Tile / 2 * 16 * 32 + Tile % 2 * 16, 32, 1.0f));
    tile_zero<Tile>();
  }

  void drain() {
    if (due_sum_) {
      store<0>();
      store<1>();
      store<2>();
      store<3>();
    }
    queue_.finish();
  }

  const KernelJob<float>& job_;
  DrainQueue<float> queue_;
  float* due_sum_ = nullptr;  // of the previous micro-tile, until its accumulators have been stored
};

void run_residuals(const KernelJob<float>& job) {
  tile_memory_barrier();
  ResidualStream stream(job);
  switch (job.schedule->products) {
    case 1: stream.run_leading(); break;
    case 3: stream.run(kResiduals3); break;
    case 6: stream.run(kResiduals6); break;
    case 9: stream.run(kResiduals9); break;
  }
}

// ---- Tile state and block sizes ----------------------------------------------------------------------------------

void enter(KernelState& state) {
  static_assert(sizeof state.bytes == sizeof(TileConfig));
  TileConfig found;
  tile_save_config(found);
  __builtin_memcpy(state.bytes, &found, sizeof found);
  TileConfig config;
  config.palette = 1;
  for (int i = 0; i < 8; ++i) {
    config.rows[i] = 16;
    config.row_bytes[i] = 64;
  }
  tile_configure(config);
}

void leave(const KernelState& state) {
  TileConfig found;
  __builtin_memcpy(&found, state.bytes, sizeof found);
  if (found.palette == 0)
    _tile_release();
  else
    tile_configure(found);
}

// Blocks around 256 x 192 keep a block's panels of one chunk and its sums within 1 MiB of L2. The chunk (kc) is short, so
// that the A panel (16 rows, all slices) stays in L1.
constexpr BlockSizes kDigits[kMaxSlices] = {
    {16, 32, 32, 16, 16, 256, 192, 256}, {16, 32, 32, 16, 16, 256, 192, 256}, {16, 32, 32, 16, 16, 256, 192, 128},
    {16, 16, 32, 16, 16, 256, 192, 128}, {16, 16, 32, 16, 16, 256, 192, 128}, {16, 16, 32, 16, 16, 256, 192, 64},
    {16, 16, 32, 16, 16, 192, 128, 64},  {16, 16, 32, 16, 16, 192, 128, 64}};
constexpr BlockSizes kResidualBlocks = {32, 32, 32, 16, 16, 256, 192, kResidualPanel};
constexpr BlockSizes kResiduals[3] = {kResidualBlocks, kResidualBlocks, kResidualBlocks};

}  // namespace

const Engine<double> kAmxDigits = {kDigits, run_digits, enter, leave};
const Engine<float> kAmxResiduals = {kResiduals, run_residuals, enter, leave};

}  // namespace amx::detail
