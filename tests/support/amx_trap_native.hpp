// What the processor executes of AMX itself.
#pragma once

namespace amx_trap {

/// kInPart: LDTILECFG would execute and a later instruction fault, so that a trap would see half of the program.
enum class NativeAmx { kNone, kInPart, kAll };

NativeAmx native_amx();

}  // namespace amx_trap
