// Executes AMX instructions on x86-64 Linux machines that have none: a SIGILL handler decodes and performs them.
//
// So the machine code that ships is what the tests run. The semantics are those of Intel's Software Developer's Manual,
// volume 2 (LDTILECFG, STTILECFG, TILERELEASE, TILEZERO, TILELOADD, TILELOADDT1, TILESTORED, TDPBF16PS); each
// instruction is counted, and what the processor would answer with a fault is recorded for the test to see. Reading
// order: this file, amx_trap.cpp (the handler), amx_decode.hpp (instruction bytes), amx_tiles_model.hpp (what the
// instructions do).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace amx_trap {

enum class Kind { ldtilecfg, sttilecfg, tilerelease, tilezero, tileload, tileloadt1, tilestore, tdpbf16ps };
inline constexpr int kKinds = 8;

enum class State {
  trapping,    // instructions are executed by the handler
  native,      // the processor has AMX: nothing is trapped, counted or recorded
  unsupported  // neither is possible here (not x86-64 Linux)
};

/// Installs the handler for the process, once. Other illegal instructions go to the handler found before.
State install();

/// Instructions executed by all threads since reset_counts().
struct Counts {
  long of[kKinds] = {};
  long operator[](Kind kind) const { return of[static_cast<int>(kind)]; }
};
Counts counts();
void reset_counts();

/// What the processor would have faulted on, first one only; empty if nothing. Such an instruction does nothing.
std::string first_fault();
void clear_fault();

struct Record {
  Kind kind;
  int tile, src1, src2;   // -1: none
  std::uint64_t address;  // of memory operands
};
/// Records the calling thread's instructions, at most `capacity` of them, until stop_recording() returns them.
void start_recording(std::size_t capacity);
std::vector<Record> stop_recording();

}  // namespace amx_trap
