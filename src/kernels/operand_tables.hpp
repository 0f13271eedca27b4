// Scan and packing loops as compiled for each instruction set; kernels/operands.hpp has the code. Only use those that
// the processor can run.
#pragma once

#include "../operand.hpp"

namespace amx::detail {

extern const OperandKernels<double> kPortableDoubles, kAvx2Doubles, kAvx512Doubles;
extern const OperandKernels<float> kPortableFloats, kAvx2Floats, kAvx512Floats;

}  // namespace amx::detail
