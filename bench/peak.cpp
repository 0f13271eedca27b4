#include "peak.hpp"

#include <chrono>
#include <cstdint>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kSeconds = 4e-3;

/// Calls loop(), which does `operations`, until some time has passed; the best rate of several such intervals.
template <class Loop>
double rate(double operations, const Loop& loop) {
  double best = 0;
  for (int trial = 0; trial < 3; ++trial) {
    const Clock::time_point start = Clock::now();
    long calls = 0;
    double seconds;
    do {
      for (int i = 0; i < 16; ++i) loop();
      calls += 16;
      seconds = std::chrono::duration<double>(Clock::now() - start).count();
    } while (seconds < kSeconds);
    const double found = operations * static_cast<double>(calls) / seconds;
    if (found > best) best = found;
  }
  return best * 1e-9;
}

#if defined(__x86_64__) && defined(__GNUC__)
constexpr int kRounds = 100;

// Independent accumulators, enough for latency times rate; asm, so that nothing is folded or hoisted.
#define AMX_BENCH_4(op, r, x, y, a, b, c, d)                                                                      \
  op " " y ", " x ", " r a "\n\t" op " " y ", " x ", " r b "\n\t" op " " y ", " x ", " r c "\n\t" op " " y ", " x \
     ", " r d "\n\t"
#define AMX_BENCH_12(op, r, x, y)              \
  AMX_BENCH_4(op, r, x, y, "0", "1", "2", "3") \
  AMX_BENCH_4(op, r, x, y, "4", "5", "6", "7") AMX_BENCH_4(op, r, x, y, "8", "9", "10", "11")
#define AMX_BENCH_24(op, r, x, y)                  \
  AMX_BENCH_12(op, r, x, y)                        \
  AMX_BENCH_4(op, r, x, y, "12", "13", "14", "15") \
  AMX_BENCH_4(op, r, x, y, "16", "17", "18", "19") AMX_BENCH_4(op, r, x, y, "20", "21", "22", "23")
#define AMX_BENCH_CLOBBERS \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11"
#define AMX_BENCH_CLOBBERS_24                                                                                   \
  AMX_BENCH_CLOBBERS, "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", \
      "xmm22", "xmm23"

__attribute__((target("avx512f"))) void dpbf16_loop() {
  for (int i = 0; i < kRounds; ++i)
    asm volatile(AMX_BENCH_24("vdpbf16ps", "%%zmm", "%%zmm24", "%%zmm25")::: AMX_BENCH_CLOBBERS_24);
}
__attribute__((target("avx512f"))) void dpwssd_loop() {
  for (int i = 0; i < kRounds; ++i)
    asm volatile(AMX_BENCH_24("vpdpwssd", "%%zmm", "%%zmm24", "%%zmm25")::: AMX_BENCH_CLOBBERS_24);
}
__attribute__((target("avx2"))) void fma_loop() {
  for (int i = 0; i < kRounds; ++i)
    asm volatile(AMX_BENCH_12("vfmadd231ps", "%%ymm", "%%ymm12", "%%ymm13")::: AMX_BENCH_CLOBBERS);
}
/// VPMADDWD and the addition that has to follow it.
__attribute__((target("avx2"))) void madd_loop() {
#define AMX_BENCH_MADD(t, r) "vpmaddwd %%ymm14, %%ymm13, %%ymm" t "\n\tvpaddd %%ymm" t ", %%ymm" r ", %%ymm" r "\n\t"
  for (int i = 0; i < kRounds; ++i)
    asm volatile(AMX_BENCH_MADD("6", "0") AMX_BENCH_MADD("7", "1") AMX_BENCH_MADD("8", "2") AMX_BENCH_MADD("9", "3")
                     AMX_BENCH_MADD("10", "4") AMX_BENCH_MADD("11", "5")::
                         : AMX_BENCH_CLOBBERS);
}

/// One configuration, 16 rows of 64 bytes in every tile. Encoded by hand, because assemblers before 2.34 know no AMX.
double tile_peak() {
  alignas(64) std::uint8_t config[64] = {1};
  for (int tile = 0; tile < 8; ++tile) {
    config[16 + 2 * tile] = 64;
    config[48 + tile] = 16;
  }
  asm volatile("ldtilecfg %0" ::"m"(config));
  const double found = rate(kRounds * 4 * 2.0 * 16 * 16 * 32, [] {
    for (int i = 0; i < kRounds; ++i)
      asm volatile(
          "tdpbf16ps %tmm5, %tmm4, %tmm0\n\ttdpbf16ps %tmm5, %tmm6, %tmm1\n\t"
          "tdpbf16ps %tmm7, %tmm4, %tmm2\n\ttdpbf16ps %tmm7, %tmm6, %tmm3");
  });
  asm volatile("tilerelease");
  return found;
}
#endif

}  // namespace

double engine_peak([[maybe_unused]] std::string_view backend, [[maybe_unused]] bool digits) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (backend == "amx_bf16") return tile_peak();
  if (backend == "avx512_bf16") return rate(kRounds * 24 * 64.0, digits ? dpwssd_loop : dpbf16_loop);
  if (backend == "avx2") return digits ? rate(kRounds * 6 * 32.0, madd_loop) : rate(kRounds * 12 * 16.0, fma_loop);
#endif
  return 0;
}

double read_bandwidth(const void* memory, long bytes) {
  const auto* const words = static_cast<const std::uint64_t*>(memory);
  const long count = bytes / 8;
  volatile std::uint64_t sink;
  double best = 0;
  for (int trial = 0; trial < 5; ++trial) {
    const Clock::time_point start = Clock::now();
    std::uint64_t sum[32] = {};
    for (long i = 0; i + 32 <= count; i += 32)
      for (int j = 0; j < 32; ++j) sum[j] |= words[i + j];
    for (const std::uint64_t part : sum) sink = part;
    const double found = static_cast<double>(bytes) / std::chrono::duration<double>(Clock::now() - start).count();
    if (found > best) best = found;
  }
  (void)sink;
  return best;
}

}  // namespace bench
