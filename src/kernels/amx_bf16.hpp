// Entry points of the AMX kernels. Only call them where cpu.hpp finds no reason against it, and those with AVX-512
// where the processor has that, as all with AMX do unless a hypervisor hides it.
#pragma once

#include "../kernel.hpp"

namespace amx::detail {

extern const Engine<double> kAmxAvx512Digits, kAmxAvx2Digits;
extern const Engine<float> kAmxAvx512Residuals, kAmxAvx2Residuals;

}  // namespace amx::detail
