// Packing of one panel: gather a run of kr elements of a line, split it, scatter the slices.
#include "pack.hpp"

#include "split.hpp"

#include <algorithm>
#include <cstring>

namespace amx::detail {
namespace {

/// Element k of a slice to k_offset(k) of the layout: two interleaved halves.
void scatter(const bf16* slice, int half, int pair_stride, bf16* to) {
  for (int k = 0; k < half; ++k) {
    to[k * pair_stride] = slice[k];
    to[k * pair_stride + 1] = slice[half + k];
  }
}

/// Digits as BF16 become the same integers as int16.
void to_integers(bf16* digits, int count) {
  for (int i = 0; i < count; ++i) {
    const std::uint32_t bits = std::uint32_t{digits[i]} << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    digits[i] = static_cast<bf16>(static_cast<std::int16_t>(value));
  }
}

}  // namespace

template <class T>
void pack_panel(const LineView<T>& source, const PanelLayout& layout, index_t first, index_t k_begin, index_t k_end,
                bf16* panel) {
  const int kr = layout.kr, slices = layout.slices;
  T run[kMaxRun];
  bf16 split_run[kMaxSlices * kMaxRun];
  for (index_t k0 = k_begin; k0 < k_end; k0 += kr, panel += layout.step_elements()) {
    const int count = static_cast<int>(std::min<index_t>(kr, k_end - k0));
    for (int i = 0; i < layout.lines; ++i) {
      const index_t line = first + i;
      if (line < source.lines) {
        const T* x = source.line(line) + k0 * source.k_stride;
        for (int k = 0; k < count; ++k) run[k] = x[k * source.k_stride];
        std::fill(run + count, run + kr, T(0));
        split(run, kr, source.exponents ? source.exponents[line] : 0, slices, split_run);
        if (layout.encoding == Encoding::integers) to_integers(split_run, slices * kr);
      } else {
        std::fill(split_run, split_run + slices * kr, bf16{0});
      }
      for (int p = 0; p < slices; ++p)
        scatter(split_run + p * kr, kr / 2, layout.pair_stride,
                panel + p * layout.slice_elements() + layout.line_offset(i));
    }
  }
}

template <class T>
void pack_panels(const PackJob<T>& job) {
  for (index_t i = 0; i < job.panels; ++i)
    pack_panel(*job.source, *job.layout, job.first + i * job.layout->lines, job.k_begin, job.k_end,
               job.panel + i * job.stride);
}

template void pack_panels(const PackJob<float>&);
template void pack_panels(const PackJob<double>&);
template void pack_panel(const LineView<float>&, const PanelLayout&, index_t, index_t, index_t, bf16*);
template void pack_panel(const LineView<double>&, const PanelLayout&, index_t, index_t, index_t, bf16*);

}  // namespace amx::detail
