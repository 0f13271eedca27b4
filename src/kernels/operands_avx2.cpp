// Scan and packing, compiled for AVX2.
#include "operand_tables.hpp"
#include "operands.hpp"

namespace amx::detail {

const OperandKernels<double> kAvx2Doubles = {scan_lines<double>, pack_lines<double>};
const OperandKernels<float> kAvx2Floats = {scan_lines<float>, pack_lines<float>};

}  // namespace amx::detail
