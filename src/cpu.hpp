// Whether this machine can run the kernels of a backend, and if not, why: each "no" has its own reason.
#pragma once

#include <cstdint>

namespace amx::detail {

/// What is asked of processor and system. The tests answer for them.
struct CpuQueries {
  struct Registers {
    std::uint32_t eax, ebx, ecx, edx;
  };
  Registers (*cpuid)(std::uint32_t leaf, std::uint32_t subleaf);
  std::uint64_t (*xgetbv)();  // XCR0
  /// arch_prctl(ARCH_REQ_XCOMP_PERM, 18): 0 or an errno.
  int (*request_tile_data)();
  /// arch_prctl(ARCH_GET_XCOMP_PERM): the permitted features.
  std::uint64_t (*permitted_features)();
  /// Executes an AMX instruction where a fault can be survived; false if it faulted.
  bool (*tile_instruction_runs)();
};

/// Null if the AMX kernels can run, else why not. Asks for permission to use tile data (once granted, it holds for the
/// whole process).
const char* amx_unusable(const CpuQueries& queries);

/// The answer for this machine, found at the first call.
const char* amx_unusable();

/// Whether processor and system have AVX-512 F, BW, DQ and VL.
bool has_avx512();

/// Null if the kernels of the backend can run on this machine, else why not.
const char* avx512_bf16_unusable();
const char* avx2_unusable();

/// Replaces the machine's answer: tests that execute AMX instructions by other means set null.
void override_amx_unusable(const char* reason);

}  // namespace amx::detail
