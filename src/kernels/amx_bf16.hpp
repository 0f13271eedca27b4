// Entry points of the AMX kernels. Only call them where cpu.hpp finds no reason against it.
#pragma once

#include "../kernel.hpp"

namespace amx::detail {

extern const Engine<double> kAmxDigits;
extern const Engine<float> kAmxResiduals;

}  // namespace amx::detail
