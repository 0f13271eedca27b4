// The AMX kernels with AVX-512 vectors for draining.
#include "amx_bf16.hpp"
#include "amx_engine.hpp"

namespace amx::detail {

const Engine<double> kAmxAvx512Digits = kDigitEngine;
const Engine<float> kAmxAvx512Residuals = kResidualEngine;

}  // namespace amx::detail
