// From a list of slice products to the tile operations of one k step, at compile time: which accumulator tile each
// product uses, when an operand tile has to be loaded, and into which tile.
//
// Products may be in any order; good ones keep products on one accumulator at least four apart (latency 52 cycles, one
// product every 16) and share operand tiles between neighbours.
#pragma once

#include "../limits.hpp"
#include "../schedule_data.hpp"

#include <cstddef>

namespace amx::detail {
namespace {

struct TileProduct {
  int a, b;         // slices
  int column;       // column tile of the micro-tile
  int accumulator;  // tile 0..5
};

template <std::size_t Count>
struct TileOrder {
  static constexpr int kCount = static_cast<int>(Count);
  TileProduct products[Count] = {};
  int slices = 0, columns = 1, accumulators = 0;
};

/// Gives each (diagonal, column) an accumulator in order of appearance; the diagonals in the bit set `split` get two,
/// used in turn, so that their products may follow each other more closely.
template <std::size_t Count>
constexpr void assign_accumulators(TileOrder<Count>& order, unsigned split) {
  int first[2 * kMaxSlices][2] = {}, uses[2 * kMaxSlices][2] = {};
  for (TileProduct& product : order.products) {
    const int l = product.a + product.b, c = product.column;
    const bool two = (split >> l & 1u) != 0;
    if (uses[l][c] == 0) {
      first[l][c] = order.accumulators;
      order.accumulators += two ? 2 : 1;
    }
    product.accumulator = first[l][c] + (two ? uses[l][c] % 2 : 0);
    ++uses[l][c];
  }
}

template <std::size_t Count>
constexpr TileOrder<Count> one_column(const SlicePair (&pairs)[Count], int slices, unsigned split = 0) {
  TileOrder<Count> order;
  for (std::size_t i = 0; i < Count; ++i) order.products[i] = {pairs[i].a, pairs[i].b, 0, 0};
  order.slices = slices;
  assign_accumulators(order, split);
  return order;
}

struct ColumnPair {
  int a, b, column;
};

template <std::size_t Count>
constexpr TileOrder<Count> two_columns(const ColumnPair (&pairs)[Count], int slices, unsigned split = 0) {
  TileOrder<Count> order;
  for (std::size_t i = 0; i < Count; ++i) order.products[i] = {pairs[i].a, pairs[i].b, pairs[i].column, 0};
  order.slices = slices;
  order.columns = 2;
  assign_accumulators(order, split);
  return order;
}

/// Before product i: which operands have to be loaded, and where they are.
struct TileOperands {
  bool load_a, load_b;
  int a_tile, b_tile;
};

template <std::size_t Count>
struct OperandPlan {
  TileOperands at[Count] = {};
};

/// When an accumulator that is due after a step is stored: before product `slot` of the same step, or of the next one,
/// at least four products after its last product where its next use allows. Then the store does not wait.
struct StoreSlot {
  int slot;
  bool next_step;
  int diagonal, column;
};

template <std::size_t Count>
struct StorePlan {
  StoreSlot of[6] = {};
  int ready = 0;  // all are stored before this product of the next step
};

template <std::size_t Count>
constexpr StorePlan<Count> plan_stores(const TileOrder<Count>& order) {
  StorePlan<Count> plan;
  for (int a = 0; a < order.accumulators; ++a) {
    int first = -1, last = -1;
    for (int i = 0; i < order.kCount; ++i)
      if (order.products[i].accumulator == a) {
        if (first < 0) first = i;
        last = i;
      }
    const int slot = last + 4, wrapped = slot - order.kCount;
    plan.of[a] = {wrapped < 0       ? slot
                  : wrapped < first ? wrapped
                                    : first,
                  wrapped >= 0, order.products[last].a + order.products[last].b, order.products[last].column};
    if (plan.of[a].next_step && plan.of[a].slot > plan.ready) plan.ready = plan.of[a].slot;
  }
  return plan;
}

/// Index of the next product from `from` on that uses this slice of A (or slice and column of B), Count if there is
/// none.
template <std::size_t Count>
constexpr std::size_t next_use(const TileOrder<Count>& order, std::size_t from, bool of_a, int slice, int column) {
  for (std::size_t i = from; i < Count; ++i) {
    const TileProduct& product = order.products[i];
    if (of_a ? product.a == slice : product.b == slice && product.column == column) return i;
  }
  return Count;
}

/// The tiles that hold operands of one matrix. Of two, the one whose content is needed again last is replaced (Belady).
struct OperandTiles {
  int count;
  int slice[2] = {-1, -1}, column[2] = {-1, -1};

  constexpr int find(int wanted, int wanted_column) const {
    for (int t = 0; t < count; ++t)
      if (slice[t] == wanted && column[t] == wanted_column) return t;
    return -1;
  }
  template <std::size_t Count>
  constexpr int replace(const TileOrder<Count>& order, std::size_t i, bool of_a) const {
    if (count == 1 || slice[0] < 0) return 0;
    if (slice[1] < 0) return 1;
    return next_use(order, i, of_a, slice[0], column[0]) >= next_use(order, i, of_a, slice[1], column[1]) ? 0 : 1;
  }
};

/// Operand tiles are 6, 7 and what the accumulators leave free: 5 for B from five accumulators down, 4 for A from four.
template <std::size_t Count>
constexpr OperandPlan<Count> plan_operands(const TileOrder<Count>& order) {
  OperandPlan<Count> plan;
  OperandTiles a{order.accumulators <= 4 ? 2 : 1}, b{order.accumulators <= 5 ? 2 : 1};
  for (std::size_t i = 0; i < Count; ++i) {
    const TileProduct& product = order.products[i];
    int a_at = a.find(product.a, 0), b_at = b.find(product.b, product.column);
    plan.at[i].load_a = a_at < 0;
    plan.at[i].load_b = b_at < 0;
    if (a_at < 0) a_at = a.replace(order, i, true);
    if (b_at < 0) b_at = b.replace(order, i, false);
    a.slice[a_at] = product.a;
    a.column[a_at] = 0;
    b.slice[b_at] = product.b;
    b.column[b_at] = product.column;
    plan.at[i].a_tile = a_at == 0 ? 6 : 4;
    plan.at[i].b_tile = b_at == 0 ? 7 : 5;
  }
  return plan;
}

// The orders of the FP64 kernels. One column tile from ten products on; below, two, to have enough accumulators in
// flight.
constexpr ColumnPair kTwoColumns1[] = {{0, 0, 0}, {0, 0, 1}};
constexpr ColumnPair kTwoColumns3[] = {{0, 1, 0}, {0, 1, 1}, {0, 0, 1}, {0, 0, 0}, {1, 0, 0}, {1, 0, 1}};
constexpr ColumnPair kTwoColumns6[] = {{0, 2, 1}, {0, 1, 1}, {0, 1, 0}, {1, 1, 0}, {1, 1, 1}, {1, 0, 1},
                                       {1, 0, 0}, {2, 0, 0}, {2, 0, 1}, {0, 0, 1}, {0, 0, 0}, {0, 2, 0}};

constexpr auto kOrder1 = two_columns(kTwoColumns1, 1);
constexpr auto kOrder3 = two_columns(kTwoColumns3, 2, 1u << 1);
constexpr auto kOrder6 = two_columns(kTwoColumns6, 3);
constexpr auto kOrder10 = one_column(kDigits10, 4, 1u << 3);
constexpr auto kOrder15 = one_column(kDigits15, 5);
constexpr auto kOrder21 = one_column(kDigits21, 6);
constexpr auto kOrder28High = one_column(kDigits28High, 7, 1u << 4 | 1u << 5 | 1u << 6);
constexpr auto kOrder28Low = one_column(kDigitsLow, 7, 1u << 3);
constexpr auto kOrder36High = one_column(kDigits36High, 8, 1u << 4 | 1u << 5);
constexpr auto kOrder36Low = one_column(kDigitsLow, 8, 1u << 3);

}  // namespace
}  // namespace amx::detail
