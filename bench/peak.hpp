// The limit of an engine: its multiply-add instruction on registers, in a loop that does nothing else.
#pragma once

#include <string_view>

namespace bench {

/// Gflop/s of one thread (two operations per multiply-add of 16-bit elements), measured now, for some milliseconds; 0
/// for a backend that has no such instruction. `digits`: the FP64 path (VPDPWSSD and VPMADDWD instead of VDPBF16PS and
/// FMA).
double engine_peak(std::string_view backend, bool digits);

/// Bytes per second of one thread that reads `bytes` of memory in order: the limit of the range scan.
double read_bandwidth(const void* memory, long bytes);

}  // namespace bench
