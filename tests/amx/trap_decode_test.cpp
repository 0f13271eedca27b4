// The decoder of the trap on literal bytes: those that assemblers write, and those that are none of its instructions.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "support/amx_trap_decode.hpp"

namespace {

using amx_trap::Instruction;
using amx_trap::Kind;

struct Encoding {
  const char* text;
  std::vector<std::uint8_t> bytes;
  Kind kind;
  int dest, src1, src2, base, index, shift, displacement;
};

const std::vector<Encoding>& encodings() {
  constexpr int kNone = amx_trap::kNoRegister, kRip = amx_trap::kInstructionPointer;
  static const std::vector<Encoding> kEncodings = {
      {"ldtilecfg (%rax)", {0xc4, 0xe2, 0x78, 0x49, 0x00}, Kind::kLdtilecfg, 0, 0, 0, 0, kNone, 0, 0},
      {"ldtilecfg 0x55(%rip)",
       {0xc4, 0xe2, 0x78, 0x49, 0x05, 0x55, 0, 0, 0},
       Kind::kLdtilecfg,
       0,
       0,
       0,
       kRip,
       kNone,
       0,
       0x55},
      {"ldtilecfg 0x1234",
       {0xc4, 0xe2, 0x78, 0x49, 0x04, 0x25, 0x34, 0x12, 0, 0},
       Kind::kLdtilecfg,
       0,
       0,
       0,
       kNone,
       kNone,
       0,
       0x1234},
      {"ldtilecfg 0x40(%rsp)",
       {0xc4, 0xe2, 0x78, 0x49, 0x44, 0x24, 0x40},
       Kind::kLdtilecfg,
       0,
       0,
       0,
       4,
       kNone,
       0,
       0x40},
      {"sttilecfg -0x40(%r13,%r12,4)",
       {0xc4, 0x82, 0x79, 0x49, 0x44, 0xa5, 0xc0},
       Kind::kSttilecfg,
       0,
       0,
       0,
       13,
       12,
       2,
       -0x40},
      {"tilerelease", {0xc4, 0xe2, 0x78, 0x49, 0xc0}, Kind::kTilerelease, 0, 0, 0, kNone, kNone, 0, 0},
      {"tilezero %tmm5", {0xc4, 0xe2, 0x7b, 0x49, 0xe8}, Kind::kTilezero, 5, 0, 0, kNone, kNone, 0, 0},
      {"tileloadd (%rax,%rbx,2), %tmm3", {0xc4, 0xe2, 0x7b, 0x4b, 0x1c, 0x58}, Kind::kTileloadd, 3, 0, 0, 0, 3, 1, 0},
      {"tileloadd 0x1000(%r13,%r14,8), %tmm3",
       {0xc4, 0x82, 0x7b, 0x4b, 0x9c, 0xf5, 0, 0x10, 0, 0},
       Kind::kTileloadd,
       3,
       0,
       0,
       13,
       14,
       3,
       0x1000},
      {"tileloadd (%rbp), %tmm3", {0xc4, 0xe2, 0x7b, 0x4b, 0x5c, 0x25, 0}, Kind::kTileloadd, 3, 0, 0, 5, kNone, 0, 0},
      {"tileloadd (,%rbx,1), %tmm3",
       {0xc4, 0xe2, 0x7b, 0x4b, 0x1c, 0x1d, 0, 0, 0, 0},
       Kind::kTileloadd,
       3,
       0,
       0,
       kNone,
       3,
       0,
       0},
      {"tileloaddt1 -8(%rsp,%r15,1), %tmm7",
       {0xc4, 0xa2, 0x79, 0x4b, 0x7c, 0x3c, 0xf8},
       Kind::kTileloaddt1,
       7,
       0,
       0,
       4,
       15,
       0,
       -8},
      {"tilestored %tmm1, (%r12,%r12,1)",
       {0xc4, 0x82, 0x7a, 0x4b, 0x0c, 0x24},
       Kind::kTilestored,
       1,
       0,
       0,
       12,
       12,
       0,
       0},
      {"tdpbf16ps %tmm3, %tmm2, %tmm1", {0xc4, 0xe2, 0x62, 0x5c, 0xca}, Kind::kTdpbf16ps, 1, 2, 3, kNone, kNone, 0, 0},
  };
  return kEncodings;
}

TEST(TrapDecode, BytesOfTheAssembler) {
  for (const Encoding& expected : encodings()) {
    SCOPED_TRACE(expected.text);
    Instruction found;
    ASSERT_TRUE(amx_trap::decode(expected.bytes.data(), &found));
    EXPECT_EQ(found.kind, expected.kind);
    EXPECT_EQ(found.length, expected.bytes.size());
    EXPECT_EQ(found.dest, expected.dest);
    EXPECT_EQ(found.src1, expected.src1);
    EXPECT_EQ(found.src2, expected.src2);
    EXPECT_EQ(found.memory.base, expected.base);
    EXPECT_EQ(found.memory.index, expected.index);
    EXPECT_EQ(found.memory.shift, expected.shift);
    EXPECT_EQ(found.memory.displacement, expected.displacement);
  }
}

TEST(TrapDecode, ReadsNoByteBehindTheInstruction) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const pages = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  std::uint8_t* const end = static_cast<std::uint8_t*>(pages) + page;
  ASSERT_EQ(mprotect(end, page, PROT_NONE), 0);
  Instruction found;
  for (const Encoding& encoding : encodings()) {
    std::uint8_t* const code = end - encoding.bytes.size();
    std::memcpy(code, encoding.bytes.data(), encoding.bytes.size());
    EXPECT_TRUE(amx_trap::decode(code, &found)) << encoding.text;
  }
  end[-2] = 0x0f;  // ud2
  end[-1] = 0x0b;
  EXPECT_FALSE(amx_trap::decode(end - 2, &found));
  munmap(pages, 2 * page);
}

TEST(TrapDecode, RefusesWhatIsNoAmxInstructionOfThese) {
  const std::vector<std::vector<std::uint8_t>> others = {
      {0x0f, 0x0b, 0, 0, 0},                    // ud2
      {0xc4, 0xe2, 0x6b, 0x5e, 0xcb},           // tdpbssd %tmm2, %tmm3, %tmm1
      {0xc4, 0xe2, 0x63, 0x5c, 0xca},           // F2 5C: tdpfp16ps
      {0xc4, 0xe2, 0xe2, 0x5c, 0xca},           // VEX.W1
      {0xc4, 0xe2, 0x66, 0x5c, 0xca},           // VEX.256
      {0xc4, 0xe3, 0x62, 0x5c, 0xca},           // another opcode map
      {0xc4, 0xe2, 0x62, 0x5c, 0x0a},           // memory as a factor
      {0xc4, 0xe2, 0x22, 0x5c, 0xca},           // tmm11 by VEX.vvvv
      {0xc4, 0xc2, 0x62, 0x5c, 0xca},           // tmm10 by VEX.B
      {0xc4, 0x62, 0x62, 0x5c, 0xca},           // tmm9 by VEX.R
      {0xc4, 0xe2, 0x70, 0x49, 0x00},           // ldtilecfg with a VEX.vvvv
      {0xc4, 0xe2, 0x78, 0x49, 0x08},           // ldtilecfg with another ModRM.reg
      {0xc4, 0xe2, 0x7b, 0x49, 0xe9},           // tilezero with another ModRM.rm
      {0xc4, 0xe2, 0x78, 0x4b, 0x04, 0x20},     // 4B without prefix
      {0xc4, 0xe2, 0x7b, 0x4b, 0xc0},           // tileloadd of a register
      {0x67, 0xc4, 0xe2, 0x78, 0x49, 0x00, 0},  // address size prefix
  };
  for (const auto& bytes : others) {
    Instruction found;
    EXPECT_FALSE(amx_trap::decode(bytes.data(), &found)) << testing::PrintToString(bytes);
  }
}

}  // namespace
