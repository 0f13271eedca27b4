// The bytes of the eight AMX instructions: VEX prefix, opcode, ModRM, SIB, displacement (Intel SDM, volume 2, chapter
// 2).
#pragma once

#include "amx_trap.hpp"

#include <cstring>

namespace amx_trap {

/// General-purpose registers in the order of their numbers: rax rcx rdx rbx rsp rbp rsi rdi r8 .. r15.
struct Registers {
  std::uint64_t of[16];
};

struct Instruction {
  Kind kind;
  int length;             // bytes
  int tile, src1, src2;   // -1: none
  std::uint64_t address;  // of the memory operand, without the index for tile loads and stores
  std::int64_t stride;    // index * scale
  const char* fault;      // null, or why the encoding is invalid
};

/// The memory operand at `modrm`. Returns its length in bytes, ModRM included; `end` is the address of the next
/// instruction less that length (for addresses relative to it).
inline int decode_address(const std::uint8_t* modrm, std::uint64_t begin, int before, bool x, bool b,
                          const Registers& registers, bool split_index, Instruction& out) {
  const int mod = modrm[0] >> 6, rm = modrm[0] & 7;
  int length = 1;
  bool has_base = true;
  int base = rm | (b ? 8 : 0);
  if (rm == 4) {
    const std::uint8_t sib = modrm[length++];
    const int index = (sib >> 3 & 7) | (x ? 8 : 0);
    base = (sib & 7) | (b ? 8 : 0);
    if (index != 4) out.stride = static_cast<std::int64_t>(registers.of[index] << (sib >> 6));
    has_base = !((sib & 7) == 5 && mod == 0);
  } else {
    if (split_index) out.fault = "a tile load or store needs a SIB byte";
    has_base = !(rm == 5 && mod == 0);
  }
  std::int64_t displacement = 0;
  if (mod == 1) {
    displacement = static_cast<std::int8_t>(modrm[length]);
    length += 1;
  } else if (mod == 2 || !has_base) {
    std::int32_t wide;
    std::memcpy(&wide, modrm + length, sizeof wide);
    displacement = wide;
    length += 4;
  }
  out.address = static_cast<std::uint64_t>(displacement);
  if (has_base) out.address += registers.of[base];
  if (rm == 5 && mod == 0)
    out.address += begin + static_cast<std::uint64_t>(before + length);  // relative to the next one
  if (!split_index) out.address += static_cast<std::uint64_t>(out.stride);
  return length;
}

/// Decodes the instruction at `code`; false if it is none of the eight.
inline bool decode(const std::uint8_t* code, const Registers& registers, Instruction& out) {
  if (code[0] != 0xc4 || (code[1] & 0x1f) != 2) return false;  // three-byte VEX, map 0F38
  const bool x = (code[1] & 0x40) == 0, b = (code[1] & 0x20) == 0;
  const int vvvv = ~(code[2] >> 3) & 15, prefix = code[2] & 3;
  if ((code[2] & 0x84) != 0) return false;  // W and L must be zero
  const std::uint8_t opcode = code[3];
  const std::uint8_t* modrm = code + 4;
  const bool memory = modrm[0] >> 6 != 3;
  const int reg = modrm[0] >> 3 & 7;
  out = {Kind::tilerelease, 5, -1, -1, -1, 0, 0, nullptr};
  if (opcode == 0x49 && !memory && prefix == 0 && modrm[0] == 0xc0) return true;
  if (opcode == 0x49 && !memory && prefix == 3 && (modrm[0] & 7) == 0) {
    out.kind = Kind::tilezero;
    out.tile = reg;
    return true;
  }
  if (opcode == 0x5c && !memory && prefix == 2) {
    out.kind = Kind::tdpbf16ps;
    out.tile = reg;
    out.src1 = modrm[0] & 7;
    out.src2 = vvvv;
    if (vvvv > 7) out.fault = "TDPBF16PS: tile number above 7";
    return true;
  }
  if (!memory) return false;
  const bool of_tile = opcode == 0x4b && prefix != 0;
  if (!of_tile && !(opcode == 0x49 && prefix <= 1 && reg == 0)) return false;
  if (of_tile) {
    out.kind = prefix == 3 ? Kind::tileload : prefix == 1 ? Kind::tileloadt1 : Kind::tilestore;
    out.tile = reg;
  } else {
    out.kind = prefix == 0 ? Kind::ldtilecfg : Kind::sttilecfg;
  }
  out.length = 4 + decode_address(modrm, reinterpret_cast<std::uint64_t>(code), 4, x, b, registers, of_tile, out);
  return true;
}

}  // namespace amx_trap
