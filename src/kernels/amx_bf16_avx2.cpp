// The AMX kernels with AVX2 vectors for draining.
#include "amx_bf16.hpp"
#include "amx_engine.hpp"

namespace amx::detail {

const Engine<double> kAmxAvx2Digits = kDigitEngine;
const Engine<float> kAmxAvx2Residuals = kResidualEngine;

}  // namespace amx::detail
