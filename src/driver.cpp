// The loop that defines the product: one micro-tile after the other, operands packed by the plain loop of pack.cpp.
// blocked.cpp has the same loop, blocked and shared between threads; the tests compare the two bit for bit.
#include "driver.hpp"

#include "pipeline.hpp"
#include "rounding.hpp"

#include <vector>

namespace amx::detail {

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

template void scale_c(const GemmArguments<float>&);
template void scale_c(const GemmArguments<double>&);
template void gemm_plain(const Problem<float>&);
template void gemm_plain(const Problem<double>&);

}  // namespace amx::detail
