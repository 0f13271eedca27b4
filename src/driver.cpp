// The loop nest. gemm_plain() below is the definition: everything else in this file is the same loop, blocked and
// shared between threads.
#include "driver.hpp"

#include "reconstruct.hpp"
#include "rounding.hpp"
#include "workspace.hpp"

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace amx::detail {
namespace {

/// Scope in which a thread may run the kernel.
template <class T>
class KernelScope {
 public:
  explicit KernelScope(const Engine<T>& engine) : engine_(engine) {
    if (engine_.enter) engine_.enter(state_);
  }
  ~KernelScope() {
    if (engine_.leave) engine_.leave(state_);
  }
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;

 private:
  const Engine<T>& engine_;
  KernelState state_;
};

constexpr index_t ceil_div(index_t x, index_t y) { return (x + y - 1) / y; }

/// Narrows the columns [first, last) of row `row` to those that belong to the part of C that is computed.
void clip(Fill fill, index_t row, index_t& first, index_t& last) {
  switch (fill) {
    case Fill::full: break;
    case Fill::lower: last = std::min(last, row + 1); break;
    case Fill::strictly_lower: last = std::min(last, row); break;
    case Fill::upper: first = std::max(first, row); break;
    case Fill::strictly_upper: first = std::max(first, row + 1); break;
  }
}

/// What both loops share: layouts, sources, the sums of a micro-tile and their way to C.
template <class T>
struct Pipeline {
  explicit Pipeline(const Problem<T>& given)
      : problem(given),
        args(given.arguments),
        blocks(given.engine.blocks(given.slices)),
        a_panel(a_layout(blocks.mr, blocks.tile_rows, blocks.kr, given.slices)),
        b_panel(b_layout(blocks.nr, blocks.tile_cols, blocks.kr, given.slices)),
        a(a_lines(args, given.a_exponents)),
        b(b_lines(args, given.b_exponents)),
        kernel_sets(std::is_same_v<T, double> ? accumulator_sets(given.slices) : 1),
        several_super_panels(std::is_same_v<T, double> && args.k > kSuperPanel) {}

  index_t tile_elements() const { return index_t{blocks.mr} * blocks.nr; }
  /// Sums of one micro-tile: those of the kernel, and the running sum of rounded super-panels if there are several.
  index_t sums_elements() const { return tile_elements() * (kernel_sets + several_super_panels); }
  index_t steps(index_t k_count) const { return ceil_div(k_count, blocks.kr); }

  /// End of the part of k from `k` on that is at most `length` long and lies within one super-panel.
  index_t k_end(index_t k, index_t length) const {
    const index_t super_end = std::is_same_v<T, double> ? (k / kSuperPanel + 1) * kSuperPanel : args.k;
    return std::min({k + length, super_end, args.k});
  }

  /// At the end of a super-panel (one of several): its sums, rounded, join the running sum.
  void close_super_panel([[maybe_unused]] T* sums) const {
    if constexpr (std::is_same_v<T, double>) {
      const index_t size = tile_elements();
      T* running = sums + kernel_sets * size;
      for (index_t i = 0; i < size; ++i) running[i] += round_sum(sums + i, size, kernel_sets);
      std::fill(sums, running, T(0));
    }
  }

  T value(const T* sum, [[maybe_unused]] index_t row, [[maybe_unused]] index_t col) const {
    if constexpr (std::is_same_v<T, double>) {
      const double rounded =
          several_super_panels ? sum[kernel_sets * tile_elements()] : round_sum(sum, tile_elements(), kernel_sets);
      return scale_by_power(rounded, problem.a_exponents[row] + problem.b_exponents[col]);
    } else {
      return *sum;
    }
  }

  /// Whether C has elements in rows [row0, row1) and columns [col0, col1).
  bool wanted(index_t row0, index_t row1, index_t col0, index_t col1) const {
    const index_t extreme_row = args.fill == Fill::upper || args.fill == Fill::strictly_upper ? row0 : row1 - 1;
    clip(args.fill, extreme_row, col0, col1);
    return col0 < col1;
  }

  /// The micro-tile with first element (row0, col0), from its sums to C.
  void store(const T* sums, index_t row0, index_t col0) const {
    const index_t rows = std::min<index_t>(blocks.mr, args.m - row0);
    for (index_t r = 0; r < rows; ++r) {
      const index_t row = row0 + r;
      index_t first = col0, last = std::min<index_t>(col0 + blocks.nr, args.n);
      clip(args.fill, row, first, last);
      for (index_t col = first; col < last; ++col)
        update(args.c[row * args.c_row_stride + col * args.c_col_stride],
               value(sums + r * blocks.nr + (col - col0), row, col), args.alpha, args.beta);
    }
  }

  const Problem<T>& problem;
  const GemmArguments<T>& args;
  const BlockSizes& blocks;
  PanelLayout a_panel, b_panel;
  LineView<T> a, b;
  int kernel_sets;
  bool several_super_panels;
};

}  // namespace

template <class T>
void scale_c(const GemmArguments<T>& args) {
  for (index_t row = 0; row < args.m; ++row) {
    index_t first = 0, last = args.n;
    clip(args.fill, row, first, last);
    for (index_t col = first; col < last; ++col) {
      T& c = args.c[row * args.c_row_stride + col * args.c_col_stride];
      c = args.beta == T(0) ? T(0) : args.beta * c;
    }
  }
}

template <class T>
void gemm_plain(const Problem<T>& problem) {
  const RoundToNearest nearest;
  const Pipeline<T> pipe(problem);
  const BlockSizes& blocks = pipe.blocks;
  const index_t m = pipe.args.m, n = pipe.args.n, k = pipe.args.k;
  const index_t steps = pipe.steps(blocks.kc);
  std::vector<bf16> a(static_cast<std::size_t>(steps * pipe.a_panel.step_elements()));
  std::vector<bf16> b(static_cast<std::size_t>(steps * pipe.b_panel.step_elements()));
  std::vector<T> sums(static_cast<std::size_t>(pipe.sums_elements()));
  const KernelScope<T> scope(problem.engine);
  for (index_t i = 0; i < m; i += blocks.mr)
    for (index_t j = 0; j < n; j += blocks.nr) {
      std::fill(sums.begin(), sums.end(), T(0));
      for (index_t p = 0, p_end; p < k; p = p_end) {
        p_end = pipe.k_end(p, blocks.kc);
        pack_panel(pipe.a, pipe.a_panel, i, p, p_end, a.data());
        pack_panel(pipe.b, pipe.b_panel, j, p, p_end, b.data());
        problem.engine.run({1, 1, static_cast<int>(pipe.steps(p_end - p)), &problem.schedule, &blocks, a.data(), 0,
                            b.data(), 0, sums.data(), 0, 0});
        if (pipe.several_super_panels && (p_end % kSuperPanel == 0 || p_end == k)) pipe.close_super_panel(sums.data());
      }
      pipe.store(sums.data(), i, j);
    }
}

namespace {

using Clock = std::chrono::steady_clock;

/// The blocked loops. All threads run work(), sharing its loops.
template <class T>
class Blocked {
 public:
  Blocked(const Problem<T>& problem, int threads, const SuperBlockSizes& sizes)
      : pipe_(problem),
        super_m_(round_down(sizes.m, pipe_.blocks.mc)),
        super_n_(round_down(sizes.n, pipe_.blocks.nc)),
        super_k_(sizes.k) {
    const BlockSizes& blocks = pipe_.blocks;
    const index_t m = std::min(pipe_.args.m, super_m_), n = std::min(pipe_.args.n, super_n_);
    const index_t k = std::min(pipe_.args.k, super_k_);
    const index_t m_panels = ceil_div(m, blocks.mr), n_panels = ceil_div(n, blocks.nr);
    a_stride_ = pipe_.steps(k) * pipe_.a_panel.step_elements();
    b_stride_ = pipe_.steps(k) * pipe_.b_panel.step_elements();
    c_row_stride_ = n_panels * pipe_.sums_elements();
    const auto lay_out = [&](Arena& arena) {
      a_ = arena.take<bf16>(m_panels * a_stride_);
      b_ = arena.take<bf16>(n_panels * b_stride_);
      c_ = arena.take<T>(m_panels * c_row_stride_);
    };
    Arena measure;
    lay_out(measure);
    Arena memory(thread_workspace(WorkspacePart::panels, measure.used()));
    lay_out(memory);
    const index_t tasks = ceil_div(m, blocks.mc) * ceil_div(n, blocks.nc);
    threads_ = static_cast<int>(std::clamp<index_t>(tasks, 1, threads));
  }

  DriverStats run() {
    if (threads_ == 1) {
      work();  // not as a parallel region of one thread, for which some runtimes allocate memory
    } else {
#pragma omp parallel num_threads(threads_)
      work();
    }
    return stats_;
  }

 private:
  static index_t round_down(index_t size, index_t unit) { return std::max<index_t>(size / unit, 1) * unit; }

  struct SuperBlock {
    index_t i, i_end, j, j_end;  // of C
    index_t p, p_end;            // of k
  };

  /// What each thread does.
  void work() {
    const RoundToNearest nearest;
    const KernelScope<T> scope(pipe_.problem.engine);
    const GemmArguments<T>& args = pipe_.args;
    for (index_t j = 0; j < args.n; j += super_n_)
      for (index_t i = 0; i < args.m; i += super_m_) {
        SuperBlock s{i, std::min(i + super_m_, args.m), j, std::min(j + super_n_, args.n), 0, 0};
        if (!pipe_.wanted(s.i, s.i_end, s.j, s.j_end)) continue;
        for (; s.p < args.k; s.p = s.p_end) {
          s.p_end = pipe_.k_end(s.p, super_k_);
          const Clock::time_point start = Clock::now();
          pack(s);
          const Clock::time_point packed = Clock::now();
          multiply(s);
          add_times(start, packed);
        }
      }
  }

  /// body(0) .. body(count - 1), shared by the threads; all are done when any thread returns.
  template <class Body>
  void share(index_t count, const Body& body) {
    if (threads_ == 1) {  // the caller may be in a parallel region of its own, to which an "omp for" would belong
      for (index_t t = 0; t < count; ++t) body(t);
    } else {
#pragma omp for schedule(dynamic)
      for (index_t t = 0; t < count; ++t) body(t);
    }
  }

  void pack(const SuperBlock& s) {
    const BlockSizes& blocks = pipe_.blocks;
    const index_t m_panels = ceil_div(s.i_end - s.i, blocks.mr), n_panels = ceil_div(s.j_end - s.j, blocks.nr);
    share(m_panels + n_panels, [&](index_t t) {
      if (t < m_panels)
        pack_panel(pipe_.a, pipe_.a_panel, s.i + t * blocks.mr, s.p, s.p_end, a_ + t * a_stride_);
      else
        pack_panel(pipe_.b, pipe_.b_panel, s.j + (t - m_panels) * blocks.nr, s.p, s.p_end,
                   b_ + (t - m_panels) * b_stride_);
    });
  }

  void multiply(const SuperBlock& s) {
    const BlockSizes& blocks = pipe_.blocks;
    const index_t m_blocks = ceil_div(s.i_end - s.i, blocks.mc), n_blocks = ceil_div(s.j_end - s.j, blocks.nc);
    share(m_blocks * n_blocks, [&](index_t t) {
      const index_t i = s.i + t / n_blocks * blocks.mc, j = s.j + t % n_blocks * blocks.nc;
      const index_t i_end = std::min(i + blocks.mc, s.i_end), j_end = std::min(j + blocks.nc, s.j_end);
      if (pipe_.wanted(i, i_end, j, j_end)) multiply_block(s, i, i_end, j, j_end);
    });
  }

  /// One block of C over the packed part of k: zero the sums at its beginning, store C at the end of k.
  void multiply_block(const SuperBlock& s, index_t i, index_t i_end, index_t j, index_t j_end) {
    const BlockSizes& blocks = pipe_.blocks;
    const index_t a_first = (i - s.i) / blocks.mr, b_first = (j - s.j) / blocks.nr;
    const index_t m_panels = ceil_div(i_end - i, blocks.mr), n_panels = ceil_div(j_end - j, blocks.nr);
    const index_t sums = pipe_.sums_elements();
    T* c = c_ + a_first * c_row_stride_ + b_first * sums;
    if (s.p == 0)
      for (index_t r = 0; r < m_panels; ++r) std::fill_n(c + r * c_row_stride_, n_panels * sums, T(0));
    const index_t steps = pipe_.steps(s.p_end - s.p), chunk = blocks.kc / blocks.kr;
    for (index_t step = 0; step < steps; step += chunk)
      pipe_.problem.engine.run(
          {static_cast<int>(m_panels), static_cast<int>(n_panels), static_cast<int>(std::min(chunk, steps - step)),
           &pipe_.problem.schedule, &blocks, a_ + a_first * a_stride_ + step * pipe_.a_panel.step_elements(), a_stride_,
           b_ + b_first * b_stride_ + step * pipe_.b_panel.step_elements(), b_stride_, c, c_row_stride_, sums});
    const bool last = s.p_end == pipe_.args.k;
    const bool close = pipe_.several_super_panels && (last || s.p_end % kSuperPanel == 0);
    for (index_t r = 0; r < m_panels; ++r)
      for (index_t q = 0; q < n_panels; ++q) {
        T* tile = c + r * c_row_stride_ + q * sums;
        if (close) pipe_.close_super_panel(tile);
        if (last) pipe_.store(tile, i + r * blocks.mr, j + q * blocks.nr);
      }
  }

  /// Phases end in barriers, so one thread's clock tells the time of all.
  void add_times(Clock::time_point start, Clock::time_point packed) {
    const Clock::time_point end = Clock::now();
    int thread = 0, threads = 1;
#ifdef _OPENMP
    if (threads_ > 1) {
      thread = omp_get_thread_num();
      threads = omp_get_num_threads();
    }
#endif
    if (thread != 0) return;
    stats_.threads = threads;
    stats_.pack_seconds += std::chrono::duration<double>(packed - start).count();
    stats_.product_seconds += std::chrono::duration<double>(end - packed).count();
  }

  const Pipeline<T> pipe_;
  const index_t super_m_, super_n_, super_k_;
  int threads_;
  bf16 *a_ = nullptr, *b_ = nullptr;
  T* c_ = nullptr;
  index_t a_stride_ = 0, b_stride_ = 0, c_row_stride_ = 0;
  DriverStats stats_;
};

}  // namespace

template <class T>
DriverStats gemm_blocked(const Problem<T>& problem, int threads, const SuperBlockSizes& sizes) {
  return Blocked<T>(problem, threads, sizes).run();
}

template void scale_c(const GemmArguments<float>&);
template void scale_c(const GemmArguments<double>&);
template void gemm_plain(const Problem<float>&);
template void gemm_plain(const Problem<double>&);
template DriverStats gemm_blocked(const Problem<float>&, int, const SuperBlockSizes&);
template DriverStats gemm_blocked(const Problem<double>&, int, const SuperBlockSizes&);

}  // namespace amx::detail
