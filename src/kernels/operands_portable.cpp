// Scan and packing, compiled for the baseline of the platform.
#include "operand_tables.hpp"
#include "operands.hpp"

namespace amx::detail {

const OperandKernels<double> kPortableDoubles = {scan_lines<double>, pack_lines<double>};
const OperandKernels<float> kPortableFloats = {scan_lines<float>, pack_lines<float>};

}  // namespace amx::detail
