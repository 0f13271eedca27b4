// The portable backend: the engine of portable_engine.hpp in the AMX tile layouts.
#include "portable.hpp"

#include "operand_tables.hpp"
#include "portable_engine.hpp"

namespace amx::detail {
namespace {

using DigitShape = TileShape<16, 16, 32, 16, 16>;
using ResidualShape = TileShape<32, 32, 32, 16, 16>;

// Blocks of 64 x 64 keep a block's panels of one chunk and its sums in a typical L2 (256 KiB) for every slice count.
constexpr BlockSizes kDigitBlocks = {16, 16, 32, 16, 16, 64, 64, 256};
constexpr BlockSizes kResidualBlocks = {32, 32, 32, 16, 16, 64, 64, kResidualPanel};

constexpr BlockSizes kDigits[kMaxSlices] = {kDigitBlocks, kDigitBlocks, kDigitBlocks, kDigitBlocks,
                                            kDigitBlocks, kDigitBlocks, kDigitBlocks, kDigitBlocks};
constexpr BlockSizes kResiduals[3] = {kResidualBlocks, kResidualBlocks, kResidualBlocks};

}  // namespace

const Engine<double> kPortableDigits = {kDigits, run_digits<DigitShape>, &kPortableDoubles};
const Engine<float> kPortableResiduals = {kResiduals, run_residuals<ResidualShape>, &kPortableFloats};

}  // namespace amx::detail
