// Prints the AMX instructions of one block as they were executed, one a line, for timing models:
//
//     L tile address | D c a b | S tile address | Z tile
//
//     amx_print_stream double|float PRODUCTS M N K
#include "cpu.hpp"
#include "support/amx_trap.hpp"

#include <amx/gemm.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

template <class T>
bool run(int products, std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k) {
  const std::vector<T> a(static_cast<std::size_t>(m * k), T(0.5)), b(static_cast<std::size_t>(k * n), T(0.5));
  std::vector<T> c(static_cast<std::size_t>(m * n));
  amx::Options options;
  options.backend = amx::Backend::amx_bf16;
  options.threads = 1;
  return amx::gemm(m, n, k, T(1), a.data(), 1, m, b.data(), 1, k, T(0), c.data(), 1, m, products, options) ==
         amx::Verdict::in_range;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6 || amx_trap::install() != amx_trap::Mode::kTrapping) {
    std::fprintf(stderr, "usage: amx_print_stream double|float PRODUCTS M N K, on a machine without AMX\n");
    return 2;
  }
  amx::detail::override_amx_unusable(nullptr);
  amx_trap::start_recording(std::size_t{1} << 22);
  const auto size = [&](int i) { return std::strtoll(argv[i], nullptr, 10); };
  const bool ok = std::string(argv[1]) == "double" ? run<double>(static_cast<int>(size(2)), size(3), size(4), size(5))
                                                   : run<float>(static_cast<int>(size(2)), size(3), size(4), size(5));
  for (const amx_trap::Record& r : amx_trap::stop_recording()) {
    const auto address = static_cast<unsigned long long>(r.address);
    switch (r.kind) {
      case amx_trap::Kind::kTileloadd: std::printf("L %d %llu\n", r.dest, address); break;
      case amx_trap::Kind::kTilestored: std::printf("S %d %llu\n", r.dest, address); break;
      case amx_trap::Kind::kTilezero: std::printf("Z %d\n", r.dest); break;
      case amx_trap::Kind::kTdpbf16ps: std::printf("D %d %d %d\n", r.dest, r.src1, r.src2); break;
      default: break;
    }
  }
  return ok ? 0 : 1;
}
