// The memory of the first fault, written in the signal handler and read as text by faults() of amx_trap.hpp.
#pragma once

#include <cstdint>

#include "amx_trap_tiles.hpp"

namespace amx_trap {

/// Safe in a signal handler. `config` is what the thread has configured.
void note_fault(const Violation& violation, const Instruction& instruction, std::uint64_t rip, const Address& address,
                const TileConfig& config);

}  // namespace amx_trap
