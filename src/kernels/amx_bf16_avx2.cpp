// The AMX kernels with AVX2 vectors for draining.
#include "amx_bf16.hpp"
#include "amx_engine.hpp"
#include "operand_tables.hpp"

namespace amx::detail {

const Engine<double> kAmxAvx2Digits = digit_engine(kAvx2Doubles);
const Engine<float> kAmxAvx2Residuals = residual_engine(kAvx2Floats);

}  // namespace amx::detail
