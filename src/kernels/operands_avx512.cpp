// Scan and packing, compiled for AVX-512 (F, BW, DQ, VL).
#include "operand_tables.hpp"
#include "operands.hpp"

namespace amx::detail {

const OperandKernels<double> kAvx512Doubles = {scan_lines<double>, pack_lines<double>};
const OperandKernels<float> kAvx512Floats = {scan_lines<float>, pack_lines<float>};

}  // namespace amx::detail
