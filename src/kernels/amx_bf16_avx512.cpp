// The AMX kernels with AVX-512 vectors for draining.
#include "amx_bf16.hpp"
#include "amx_engine.hpp"
#include "operand_tables.hpp"

namespace amx::detail {

const Engine<double> kAmxAvx512Digits = digit_engine(kAvx512Doubles);
const Engine<float> kAmxAvx512Residuals = residual_engine(kAvx512Floats);

}  // namespace amx::detail
