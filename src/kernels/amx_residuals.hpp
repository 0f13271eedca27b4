// The FP32 kernel on AMX tiles.
#pragma once

#include "../kernel.hpp"
#include "amx_drain.hpp"
#include "amx_tiles.hpp"

namespace amx::detail {
namespace {

/// Stored FP32 tiles on their way to the sums of a micro-tile, first in, first out.
class ResidualDrain {
 public:
  /// Where to store a tile whose 16 x 16 floats shall be added to sum[32 r + c].
  float* push(float* sum) {
    if (count_ == kSlots) finish_oldest();
    const int slot = (oldest_ + count_++) % kSlots;
    sums_[slot] = sum;
    return tiles_[slot];
  }
  void work() {
    if (count_ != 0) add_rows(2);
  }
  void finish() {
    while (count_ != 0) finish_oldest();
  }

 private:
  static constexpr int kSlots = 8;

  void finish_oldest() { add_rows(16 - row_); }
  void add_rows(int rows) {
    const float* tile = tiles_[oldest_] + row_ * 16;
    float* sum = sums_[oldest_] + row_ * 32;
    for (int r = 0; r < rows; ++r, tile += 16, sum += 32)
      for (int c = 0; c < 16; c += kFloats) store(sum + c, add(load(sum + c), load(tile + c)));
    row_ += rows;
    if (row_ == 16) {
      row_ = 0;
      oldest_ = (oldest_ + 1) % kSlots;
      --count_;
    }
  }

  alignas(64) float tiles_[kSlots][kTileFloats];
  float* sums_[kSlots];
  int oldest_ = 0, count_ = 0;
  int row_ = 0;  // rows of the oldest tile already added
};

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

}  // namespace
}  // namespace amx::detail
