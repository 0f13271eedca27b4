// Decoding by the opcode tables and chapter 2 of volume 2 of Intel's SDM: three-byte VEX, ModRM, SIB, displacement.
#include "amx_trap_decode.hpp"

#include <cstring>

namespace amx_trap {
namespace {

/// The fields of C4 RXBmmmmm WvvvvLpp, inverted ones the right way round.
struct Vex {
  bool r, x, b;
  std::uint8_t vvvv;
  std::uint8_t prefix;  // 0 none, 1 66, 2 F3, 3 F2
};

/// VEX.128.0F38.W0, the only form that AMX instructions have.
bool read_vex(const std::uint8_t* code, Vex* vex) {
  if (code[0] != 0xc4) return false;
  const std::uint8_t first = code[1];
  if ((first & 0x1f) != 0x02) return false;
  const std::uint8_t second = code[2];
  if (second & 0x84) return false;  // W, L
  vex->r = !(first & 0x80);
  vex->x = !(first & 0x40);
  vex->b = !(first & 0x20);
  vex->vvvv = static_cast<std::uint8_t>(~second >> 3 & 0x0f);
  vex->prefix = second & 0x03;
  return true;
}

std::int8_t extended(unsigned low_bits, bool extension) {
  return static_cast<std::int8_t>(low_bits | (extension ? 8u : 0u));
}

/// Returns the number of bytes from ModRM to the end of the displacement. SDM volume 2, tables 2-2 and 2-3.
std::uint8_t read_memory_operand(const std::uint8_t* modrm, const Vex& vex, MemoryOperand* memory) {
  const unsigned mod = *modrm >> 6u, rm = *modrm & 7u;
  std::uint8_t size = 1;
  unsigned displacement_bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;
  memory->has_sib = rm == 4;
  if (memory->has_sib) {
    const unsigned sib = modrm[size++];
    const unsigned index = sib >> 3u & 7u, base = sib & 7u;
    memory->shift = static_cast<std::uint8_t>(sib >> 6u);
    if (index != 4 || vex.x) memory->index = extended(index, vex.x);  // 4 is "none", but r12 is an index
    if (base == 5 && mod == 0)
      displacement_bytes = 4;  // no base
    else
      memory->base = extended(base, vex.b);
  } else if (rm == 5 && mod == 0) {
    memory->base = kInstructionPointer;
    displacement_bytes = 4;
  } else {
    memory->base = extended(rm, vex.b);
  }
  if (displacement_bytes == 1) {
    memory->displacement = static_cast<std::int8_t>(modrm[size]);
  } else if (displacement_bytes == 4) {
    std::memcpy(&memory->displacement, modrm + size, 4);
  }
  return static_cast<std::uint8_t>(size + displacement_bytes);
}

/// Opcode 49: configuration, TILERELEASE, TILEZERO. Opcode 4B: loads and stores.
bool find_kind(std::uint8_t opcode, std::uint8_t prefix, std::uint8_t modrm, Kind* kind) {
  const bool registers = modrm >> 6u == 3;
  if (opcode == 0x5c && registers && prefix == 2) return *kind = Kind::kTdpbf16ps, true;
  if (opcode == 0x4b && !registers && prefix != 0) {
    *kind = prefix == 1 ? Kind::kTileloaddt1 : prefix == 2 ? Kind::kTilestored : Kind::kTileloadd;
    return true;
  }
  if (opcode != 0x49) return false;
  if (registers && prefix == 3 && (modrm & 7u) == 0) return *kind = Kind::kTilezero, true;
  if (registers && prefix == 0 && (modrm & 0x3fu) == 0) return *kind = Kind::kTilerelease, true;
  if (registers || (modrm >> 3u & 7u) != 0 || prefix > 1) return false;
  *kind = prefix == 0 ? Kind::kLdtilecfg : Kind::kSttilecfg;
  return true;
}

}  // namespace

bool decode(const std::uint8_t* code, Instruction* instruction) {
  Vex vex;
  if (!read_vex(code, &vex)) return false;
  const std::uint8_t opcode = code[3];
  if (opcode != 0x49 && opcode != 0x4b && opcode != 0x5c) return false;
  const std::uint8_t modrm = code[4];
  Instruction result;
  if (!find_kind(opcode, vex.prefix, modrm, &result.kind)) return false;
  // There are eight tiles: an encoding that names a ninth is #UD on every processor (SDM volume 2, 2.10), and so is a
  // VEX.vvvv that the instruction does not use.
  const bool product = result.kind == Kind::kTdpbf16ps;
  if (vex.r || (product ? vex.b || vex.vvvv > 7 : vex.vvvv != 0)) return false;
  result.dest = modrm >> 3u & 7u;
  if (product) {
    result.src1 = modrm & 7u;
    result.src2 = vex.vvvv;
  }
  result.length = 5;
  if (has_memory_operand(result.kind))
    result.length = static_cast<std::uint8_t>(4 + read_memory_operand(code + 4, vex, &result.memory));
  *instruction = result;
  return true;
}

}  // namespace amx_trap
