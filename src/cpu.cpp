// Detection of AMX. Start at amx_unusable(queries): the questions in order, from cheap and certain to a trial.
#include "cpu.hpp"

#include <atomic>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#endif

namespace amx::detail {

const char* amx_unusable(const CpuQueries& queries) {
  constexpr std::uint32_t kTile = 1u << 24, kBf16 = 1u << 22;            // CPUID.7.0:EDX
  constexpr std::uint32_t kOsxsave = 1u << 27;                           // CPUID.1:ECX
  constexpr std::uint64_t kTileConfig = 1u << 17, kTileData = 1u << 18;  // XCR0
  constexpr std::uint64_t kAvx = 0x6;
  if (queries.cpuid(0, 0).eax < 0x1d) return "the processor has no AMX (CPUID has no leaf 1DH)";
  const CpuQueries::Registers features = queries.cpuid(7, 0);
  if (!(features.edx & kTile)) return "the processor has no AMX (CPUID leaf 7, AMX-TILE), or a hypervisor hides it";
  if (!(features.edx & kBf16)) return "the processor has AMX but not AMX-BF16 (CPUID leaf 7)";
  const std::uint32_t basic = queries.cpuid(1, 0).ecx;
  if (!(features.ebx & (1u << 5)) || !(basic & (1u << 12)))
    return "the processor has no AVX2 or no FMA (CPUID leaves 7 and 1), or a hypervisor hides them";
  if (!(basic & kOsxsave)) return "the operating system does not use XSAVE";
  const std::uint64_t xcr0 = queries.xgetbv();
  if ((xcr0 & kAvx) != kAvx) return "the operating system has not enabled AVX state (XCR0 bits 1 and 2)";
  if (!(xcr0 & kTileConfig) || !(xcr0 & kTileData))
    return "the operating system has not enabled tile state (XCR0 bits 17 and 18): Linux 5.16 or later is needed";
  if (queries.cpuid(0x1d, 0).eax < 1) return "the processor reports no tile palette (CPUID leaf 1DH)";
  const CpuQueries::Registers palette = queries.cpuid(0x1d, 1);
  if ((palette.eax >> 16) < 1024 || (palette.ebx >> 16) < 8 || (palette.ebx & 0xffff) < 64 ||
      (palette.ecx & 0xffff) < 16)
    return "tile palette 1 is not 8 tiles of 16 rows of 64 bytes (CPUID leaf 1DH)";
  if (queries.request_tile_data() != 0)
    return "the kernel refused permission for tile data (arch_prctl ARCH_REQ_XCOMP_PERM); containers and seccomp "
           "filters do that";
  if (!(queries.permitted_features() & kTileData))
    return "permission for tile data was granted but is not in force (arch_prctl ARCH_GET_XCOMP_PERM)";
  if (!queries.tile_instruction_runs())
    return "AMX instructions fault although processor and system announce them; some hypervisors do that";
  return nullptr;
}

#if defined(__x86_64__) && defined(__linux__)
namespace {

CpuQueries::Registers machine_cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
  CpuQueries::Registers r{};
  __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
  return r;
}

std::uint64_t machine_xgetbv() {
  std::uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

constexpr int kGetPermission = 0x1022, kRequestPermission = 0x1023, kTileDataFeature = 18;

int machine_request() { return syscall(SYS_arch_prctl, kRequestPermission, kTileDataFeature) == 0 ? 0 : errno; }

std::uint64_t machine_permitted() {
  std::uint64_t features = 0;
  return syscall(SYS_arch_prctl, kGetPermission, &features) == 0 ? features : 0;
}

/// In a child process, so that a fault meets nobody else's signal handler and kills nothing of value.
bool machine_runs_tiles() {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    signal(SIGILL, SIG_DFL);
    signal(SIGSEGV, SIG_DFL);
    asm volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0xc0");  // TILERELEASE: this file is compiled without AMX
    _exit(0);
  }
  int status = 1;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

const char* ask_machine() {
  return amx_unusable({machine_cpuid, machine_xgetbv, machine_request, machine_permitted, machine_runs_tiles});
}

}  // namespace

#else

namespace {
const char* ask_machine() { return "AMX needs an x86-64 processor and Linux"; }
}  // namespace
#endif

// The compiler's run-time library asks CPUID and XCR0, so "supports" includes the operating system.
#if defined(__x86_64__) && defined(__GNUC__)
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

const char* avx512_bf16_unusable() {
  if (!has_avx512()) return "the processor or the operating system has no AVX-512 (F, BW, DQ, VL)";
  if (!__builtin_cpu_supports("avx512vnni")) return "the processor has AVX-512 but not AVX512_VNNI (CPUID leaf 7)";
  if (!__builtin_cpu_supports("avx512bf16")) return "the processor has AVX-512 but not AVX512_BF16 (CPUID leaf 7.1)";
  return nullptr;
}

const char* avx2_unusable() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
             ? nullptr
             : "the processor or the operating system has no AVX2 or no FMA";
}
#else
bool has_avx512() { return false; }
const char* avx512_bf16_unusable() { return "AVX-512 needs an x86-64 processor"; }
const char* avx2_unusable() { return "AVX2 needs an x86-64 processor"; }
#endif

namespace {

const char* machine_answer() {
  static const char* const answer = ask_machine();
  return answer;
}

std::atomic<bool> overridden{false};
std::atomic<const char*> override_reason{nullptr};

}  // namespace

const char* amx_unusable() { return overridden ? override_reason.load() : machine_answer(); }

void override_amx_unusable(const char* reason) {
  override_reason = reason;
  overridden = true;
}

}  // namespace amx::detail
