// Entry points of the portable kernels.
#pragma once

#include "../kernel.hpp"

namespace amx::detail {

extern const Engine<double> kPortableDigits;
extern const Engine<float> kPortableResiduals;

}  // namespace amx::detail
