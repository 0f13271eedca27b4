// The blocked loop nest: super-blocks of C and of k are packed by all threads, then shared between them block by block.
// gemm_plain() in driver.cpp defines what it computes.
#include "driver.hpp"
#include "pack.hpp"
#include "rounding.hpp"
#include "tile_store.hpp"
#include "workspace.hpp"

#include <chrono>
#include <cstdlib>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace amx::detail {
namespace {

using Clock = std::chrono::steady_clock;

/// The packing of lines [first, end) in tasks. Where lines lie side by side in memory, a task takes several panels, so
/// that it reads long runs.
template <class T>
class PackTasks {
 public:
  PackTasks(const LineView<T>& source, const PanelLayout& layout, index_t first, index_t end)
      : source_(source), layout_(layout), first_(first), panels_(ceil_div(end - first, layout.lines)) {
    constexpr index_t kRunBytes = 2048;
    const bool side_by_side = std::abs(source.line_stride) < std::abs(source.k_stride);
    per_task_ = side_by_side ? std::max<index_t>(kRunBytes / static_cast<index_t>(sizeof(T)) / layout.lines, 1) : 1;
    count = ceil_div(panels_, per_task_);
  }
  PackJob<T> job(index_t task, index_t k_begin, index_t k_end, bf16* panels, index_t stride) const {
    const index_t panel = task * per_task_;
    return {&source_, &layout_, first_ + panel * layout_.lines, std::min(per_task_, panels_ - panel),
            k_begin,  k_end,    panels + panel * stride,        stride};
  }

  index_t count;

 private:
  const LineView<T>& source_;
  const PanelLayout& layout_;
  index_t first_, panels_, per_task_;
};

/// The blocked loops. All threads run work(), sharing its loops.
template <class T>
class Blocked {
 public:
  Blocked(const Problem<T>& problem, int threads, const SuperBlockSizes& sizes)
      : pipe_(problem),
        super_m_(round_down(sizes.m, pipe_.blocks.mc)),
        super_n_(round_down(sizes.n, pipe_.blocks.nc)),
        super_k_(sizes.k ? sizes.k : pipe_.blocks.super_k) {
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
    const PackTasks a(pipe_.a, pipe_.a_panel, s.i, s.i_end), b(pipe_.b, pipe_.b_panel, s.j, s.j_end);
    share(a.count + b.count, [&](index_t t) {
      if (t < a.count)
        pack_(a.job(t, s.p, s.p_end, a_, a_stride_));
      else
        pack_(b.job(t - a.count, s.p, s.p_end, b_, b_stride_));
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
    if (close)
      for (index_t r = 0; r < m_panels; ++r)
        for (index_t q = 0; q < n_panels; ++q) pipe_.close_super_panel(c + r * c_row_stride_ + q * sums);
    if (last) reconstruct(c, i, m_panels, j, n_panels);
  }

  /// Sums of a block to C.
  void reconstruct(T* c, index_t i, index_t m_panels, index_t j, index_t n_panels) {
    const Clock::time_point start = Clock::now();
    for (index_t r = 0; r < m_panels; ++r)
      for (index_t q = 0; q < n_panels; ++q)
        store_(c + r * c_row_stride_ + q * pipe_.sums_elements(), i + r * pipe_.blocks.mr, j + q * pipe_.blocks.nr);
    if (first_thread()) stats_.reconstruct_seconds += seconds_since(start);
  }

  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  bool first_thread() const {
#ifdef _OPENMP
    if (threads_ > 1) return omp_get_thread_num() == 0;
#endif
    return true;
  }

  /// Phases end in barriers, so one thread's clock tells the time of all. Blocks are shared evenly, so its share of the
  /// reconstruction tells that of all, too.
  void add_times(Clock::time_point start, Clock::time_point packed) {
    if (!first_thread()) return;
    stats_.threads = 1;
#ifdef _OPENMP
    if (threads_ > 1) stats_.threads = omp_get_num_threads();
#endif
    stats_.pack_seconds += std::chrono::duration<double>(packed - start).count();
    multiply_seconds_ += seconds_since(packed);
    stats_.product_seconds = multiply_seconds_ - stats_.reconstruct_seconds;
  }

  const Pipeline<T> pipe_;
  const TileStore<T> store_{pipe_};
  const decltype(OperandKernels<T>::pack) pack_ =
      pipe_.problem.engine.operands ? pipe_.problem.engine.operands->pack : pack_panels<T>;
  const index_t super_m_, super_n_, super_k_;
  int threads_;
  bf16 *a_ = nullptr, *b_ = nullptr;
  T* c_ = nullptr;
  index_t a_stride_ = 0, b_stride_ = 0, c_row_stride_ = 0;
  DriverStats stats_;
  double multiply_seconds_ = 0;  // products and reconstruction
};

}  // namespace

template <class T>
DriverStats gemm_blocked(const Problem<T>& problem, int threads, const SuperBlockSizes& sizes) {
  return Blocked<T>(problem, threads, sizes).run();
}

template DriverStats gemm_blocked(const Problem<float>&, int, const SuperBlockSizes&);
template DriverStats gemm_blocked(const Problem<double>&, int, const SuperBlockSizes&);

}  // namespace amx::detail
