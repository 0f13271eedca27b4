// The one table of backends, in order of preference. A new backend is a line here, its kernels a file under kernels/.
#include "backend_list.hpp"

#include "cpu.hpp"
#include "kernels/portable.hpp"
#ifdef AMX_EMULATED_HAVE_AMX
#include "kernels/amx_bf16.hpp"
#endif
#ifdef AMX_EMULATED_HAVE_SIMD
#include "kernels/simd.hpp"
#endif

#include <stdexcept>
#include <string>

namespace amx {
namespace detail {
namespace {

const char* usable() { return nullptr; }

const Engine<double>& portable_digits() { return kPortableDigits; }
const Engine<float>& portable_residuals() { return kPortableResiduals; }

#ifdef AMX_EMULATED_HAVE_AMX
const char* no_amx() { return amx_unusable(); }
const Engine<double>& amx_digits() { return has_avx512() ? kAmxAvx512Digits : kAmxAvx2Digits; }
const Engine<float>& amx_residuals() { return has_avx512() ? kAmxAvx512Residuals : kAmxAvx2Residuals; }
#else
const char* no_amx() { return "not built: the compiler has no AMX intrinsics, or AMX_EMULATED_PORTABLE_ONLY is set"; }
constexpr auto amx_digits = portable_digits;
constexpr auto amx_residuals = portable_residuals;
#endif

#ifdef AMX_EMULATED_HAVE_SIMD
const Engine<double>& avx512_digits() { return kAvx512Digits; }
const Engine<float>& avx512_residuals() { return kAvx512Residuals; }
const Engine<double>& avx2_digits() { return kAvx2Digits; }
const Engine<float>& avx2_residuals() { return kAvx2Residuals; }
const char* no_avx512() { return avx512_bf16_unusable(); }
const char* no_avx2() { return avx2_unusable(); }
#else
const char* no_simd() { return "not built: the compiler does not target x86-64, or AMX_EMULATED_PORTABLE_ONLY is set"; }
constexpr auto no_avx512 = no_simd, no_avx2 = no_simd;
constexpr auto avx512_digits = portable_digits, avx2_digits = portable_digits;
constexpr auto avx512_residuals = portable_residuals, avx2_residuals = portable_residuals;
#endif

const BackendEntry kBackends[] = {
    {Backend::amx_bf16, "amx_bf16", amx_digits, amx_residuals, no_amx, true},
    {Backend::avx512_bf16, "avx512_bf16", avx512_digits, avx512_residuals, no_avx512, false},
    {Backend::avx2, "avx2", avx2_digits, avx2_residuals, no_avx2, false},
    {Backend::portable, "portable", portable_digits, portable_residuals, usable, false},
};

}  // namespace

template <>
const Engine<double>& BackendEntry::engine<double>() const {
  return digits();
}
template <>
const Engine<float>& BackendEntry::engine<float>() const {
  return residuals();
}

const BackendEntry& choose_backend(Backend requested) {
  for (const BackendEntry& entry : kBackends) {
    const char* const reason = entry.unusable();
    if (requested == Backend::automatic && !reason) return entry;
    if (requested != entry.id) continue;
    if (!reason) return entry;
    throw std::runtime_error("amx: backend " + std::string(entry.name) + " is not usable: " + reason +
                             " (amx::backends() lists what is; Backend::automatic takes the first of them)");
  }
  throw std::runtime_error("amx: no usable backend");  // not reached: portable always is
}

}  // namespace detail

std::vector<BackendInfo> backends() {
  std::vector<BackendInfo> list;
  for (const detail::BackendEntry& entry : detail::kBackends) {
    const char* const reason = entry.unusable();
    list.push_back({entry.id, entry.name, !reason, reason ? reason : ""});
  }
  return list;
}

}  // namespace amx
