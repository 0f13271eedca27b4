// Entry points of the vector kernels. Only call them where cpu.hpp finds no reason against it.
#pragma once

#include "../kernel.hpp"

namespace amx::detail {

extern const Engine<double> kAvx512Digits, kAvx2Digits;
extern const Engine<float> kAvx512Residuals, kAvx2Residuals;

}  // namespace amx::detail
