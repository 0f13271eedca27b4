// What a kernel is: its job, its block sizes, its entry points. Kernels know this file, operand.hpp, panel.hpp and
// schedule.hpp, and nothing above. backend_list.cpp has the table of backends.
#pragma once

#include "operand.hpp"
#include "schedule.hpp"

namespace amx::detail {

/// Block sizes of a kernel for one slice count, in the vocabulary of BLIS. A micro-tile of C is mr x nr, made of tiles
/// of tile_rows x tile_cols; one kernel call computes a block of at most mc x nc over at most kc of k; super_k of k are
/// packed at once.
struct BlockSizes {
  int mr, nr, kr;
  int tile_rows, tile_cols;
  int mc, nc, kc;     // multiples of mr, nr, kr; kc at most 2048 (docs/numerics.md, section 3.2)
  int super_k = 512;  // divides kSuperPanel; a multiple of kResidualPanel, and of kc unless kr does not divide it
};

/// One kernel call: for all micro-tiles (i, j) of a block, add the products of `k_steps` k steps to the sums in c.
///
/// double: each micro-tile has accumulator_sets(slices) sums of mr * nr doubles; diagonal l is added to set l / 3 with
/// weight 2^diagonal_weight(l), exactly. float: one sum of mr * nr floats; the call is one panel of at most
/// kResidualPanel, accumulated by the rule of the engine (docs/numerics.md, section 4) and added to c once.
template <class T>
struct KernelJob {
  int m_panels, n_panels, k_steps;
  const Schedule* schedule;
  const BlockSizes* blocks;
  const bf16* a;  // packed panels, panel.hpp; panel i at a + i * a_stride
  index_t a_stride;
  const bf16* b;
  index_t b_stride;
  T* c;  // micro-tile (i, j) at c + i * c_row_stride + j * c_tile_stride
  index_t c_row_stride;
  index_t c_tile_stride;
};

/// What a kernel found in the thread and puts back (a tile configuration).
struct KernelState {
  alignas(64) unsigned char bytes[64];
};

/// An implementation for one scalar type. No entry can fail.
template <class T>
struct Engine {
  const BlockSizes* blocks_by_slices;  // [slices - 1]
  void (*run)(const KernelJob<T>&);
  const OperandKernels<T>* operands = nullptr;  // null: the plain loops
  Encoding encoding = Encoding::floats;         // integers: double only
  void (*enter)(KernelState&) = nullptr;  // once per thread before its first run(), and after its last; may be null
  void (*leave)(const KernelState&) = nullptr;

  const BlockSizes& blocks(int slices) const { return blocks_by_slices[slices - 1]; }
};

}  // namespace amx::detail
