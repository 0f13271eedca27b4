// Whether the AMX instructions execute here, entirely, in part or not at all.
#include "amx_trap_native.hpp"

#if defined(__x86_64__) && defined(__linux__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace amx_trap {
namespace {

constexpr unsigned kAmxBf16 = 1u << 22, kAmxTile = 1u << 24;  // CPUID.(7,0):EDX
constexpr unsigned kOsxsave = 1u << 27;                       // CPUID.1:ECX
constexpr std::uint64_t kTileStates = 3u << 17;               // XCR0: TILECFG, TILEDATA
constexpr int kGetPermission = 0x1022, kRequestPermission = 0x1023, kTileDataFeature = 18;

std::uint64_t xcr0() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kOsxsave)) return 0;
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

bool has_permission() {
  syscall(SYS_arch_prctl, kRequestPermission, kTileDataFeature);
  std::uint64_t permitted = 0;
  return syscall(SYS_arch_prctl, kGetPermission, &permitted) == 0 && (permitted >> kTileDataFeature & 1u);
}

}  // namespace

NativeAmx native_amx() {
  unsigned a, b, c, d;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & kAmxTile)) return NativeAmx::kNone;
  if ((xcr0() & kTileStates) != kTileStates) return NativeAmx::kNone;  // every AMX instruction is #UD then
  return (d & kAmxBf16) && has_permission() ? NativeAmx::kAll : NativeAmx::kInPart;
}

}  // namespace amx_trap

#endif
