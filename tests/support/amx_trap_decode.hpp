// The decoder of the AMX trap: bytes of one AMX instruction to its operands. Start at decode().
#pragma once

#include <cstdint>

#include "amx_trap.hpp"

namespace amx_trap {

inline constexpr std::int8_t kNoRegister = -1;
inline constexpr std::int8_t kInstructionPointer = 16;

/// Registers are numbered as in the encoding: rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15.
struct MemoryOperand {
  std::int8_t base = kNoRegister;  // or kInstructionPointer: relative to the next instruction
  std::int8_t index = kNoRegister;
  std::uint8_t shift = 0;  // of the index
  bool has_sib = false;
  std::int32_t displacement = 0;
};

struct Instruction {
  Kind kind = Kind::kTilerelease;
  std::uint8_t length = 0;
  std::uint8_t dest = 0, src1 = 0, src2 = 0;  // tiles; `dest` is the source of TILESTORED
  MemoryOperand memory;
};

constexpr bool has_memory_operand(Kind kind) {
  return kind == Kind::kLdtilecfg || kind == Kind::kSttilecfg || kind == Kind::kTileloadd ||
         kind == Kind::kTileloaddt1 || kind == Kind::kTilestored;
}
/// TILELOADD, TILELOADDT1, TILESTORED: the index register is the distance of rows.
constexpr bool has_strided_operand(Kind kind) {
  return kind == Kind::kTileloadd || kind == Kind::kTileloaddt1 || kind == Kind::kTilestored;
}

/// False if this is no AMX instruction that the trap executes. Prefixes before the VEX byte (segments, address size)
/// are not accepted. Reads no byte behind the instruction, which may be the last of its page.
bool decode(const std::uint8_t* code, Instruction* instruction);

}  // namespace amx_trap
