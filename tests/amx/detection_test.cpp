// Detection of AMX with injected answers: every "no" has its own reason, in the order of the questions.
#include "cpu.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace {

using amx::detail::CpuQueries;

// The answers of a machine with AMX; each test spoils one.
struct Answers {
  std::uint32_t max_leaf = 0x20, features_ebx = 1u << 5, features_edx = 1u << 24 | 1u << 22,
                features_ecx = 1u << 27 | 1u << 12;
  std::uint64_t xcr0 = 0x602e7;
  std::uint32_t palettes = 1, palette_eax = 0x04002000, palette_ebx = 0x00080040, palette_ecx = 16;
  int permission_error = 0;
  std::uint64_t permitted = 0x602e7;
  bool runs = true;
  int asked_permission = 0, tried = 0;
} answers;

CpuQueries::Registers cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
  if (leaf == 0) return {answers.max_leaf, 0, 0, 0};
  if (leaf == 1) return {0, 0, answers.features_ecx, 0};
  if (leaf == 7) return {0, answers.features_ebx, 0, answers.features_edx};
  if (leaf == 0x1d && subleaf == 0) return {answers.palettes, 0, 0, 0};
  if (leaf == 0x1d && subleaf == 1) return {answers.palette_eax, answers.palette_ebx, answers.palette_ecx, 0};
  return {0, 0, 0, 0};
}
std::uint64_t xgetbv() { return answers.xcr0; }
int request() {
  ++answers.asked_permission;
  return answers.permission_error;
}
std::uint64_t permitted() { return answers.permitted; }
bool runs() {
  ++answers.tried;
  return answers.runs;
}

const char* ask() { return amx::detail::amx_unusable({cpuid, xgetbv, request, permitted, runs}); }

TEST(Detection, EveryNoHasItsReason) {
  answers = Answers();
  EXPECT_EQ(nullptr, ask());
  EXPECT_EQ(1, answers.asked_permission);
  EXPECT_EQ(1, answers.tried);
  std::set<std::string> reasons;
  const auto expect = [&](const char* part, bool asks, bool tries, const auto& spoil) {
    answers = Answers();
    spoil();
    const char* const reason = ask();
    ASSERT_NE(nullptr, reason) << part;
    EXPECT_NE(nullptr, std::strstr(reason, part)) << reason;
    EXPECT_TRUE(reasons.insert(reason).second) << reason;
    EXPECT_EQ(asks ? 1 : 0, answers.asked_permission) << part;
    EXPECT_EQ(tries ? 1 : 0, answers.tried) << part;
  };
  expect("no leaf 1DH", false, false, [] { answers.max_leaf = 0x1c; });
  expect("AMX-TILE", false, false, [] { answers.features_edx = 1u << 22; });
  expect("not AMX-BF16", false, false, [] { answers.features_edx = 1u << 24; });
  expect("no AVX2", false, false, [] { answers.features_ebx = 0; });
  expect("does not use XSAVE", false, false, [] { answers.features_ecx = 1u << 12; });
  expect("AVX state", false, false, [] { answers.xcr0 = 0x60000; });
  expect("tile state", false, false, [] { answers.xcr0 = 0x7; });
  expect("no tile palette", false, false, [] { answers.palettes = 0; });
  expect("palette 1 is not 8 tiles", false, false, [] { answers.palette_ebx = 0x00040040; });
  expect("refused permission", true, false, [] { answers.permission_error = 1; });
  expect("not in force", true, false, [] { answers.permitted = 0x7; });
  expect("fault although", true, true, [] { answers.runs = false; });
  answers = Answers();
  answers.xcr0 = 0x202e7;  // tile configuration without tile data
  EXPECT_NE(nullptr, std::strstr(ask(), "tile state"));
}

TEST(Detection, ThisMachineAnswersWithoutDying) {
  const char* const reason = amx::detail::amx_unusable();
  std::cout << "this machine: " << (reason ? reason : "AMX is usable") << '\n';
  EXPECT_EQ(reason, amx::detail::amx_unusable());
}

}  // namespace
