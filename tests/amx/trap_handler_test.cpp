// The trap around the instructions: decoding of literal bytes, counts, recording, zeroing that no instruction shows,
// and signals that are not the trap's.
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <thread>

#include "support/amx_trap_testing.hpp"

namespace {

using amx_trap::Instruction;
using amx_trap::Kind;
using trap_testing::Config;
using trap_testing::counted_bytes;
using trap_testing::memory_barrier;
using trap_testing::TrapOnlyTest;
using trap_testing::TrapTest;

// ---- zeroing beyond the configured shape, which no instruction shows ------------------------------------------------

TEST(TrapTiles, WritesZeroBeyondTheConfiguredShape) {
  const auto from = counted_bytes(1024);
  auto state = std::make_unique<amx_trap::TileState>();
  std::memset(state->tiles, 0xff, sizeof state->tiles);  // NaNs wherever a row or a column is not zeroed
  state->config = Config{{3, 8}, {3, 8}, {2, 8}};
  for (const std::uint8_t tile : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{2}}) {
    Instruction load;
    load.kind = Kind::kTileloadd;
    load.dest = tile;
    load.memory.has_sib = true;
    ASSERT_FALSE(amx_trap::execute(load, {reinterpret_cast<std::uintptr_t>(from.data()), 64}, amx_trap::dot_reference,
                                   state.get()));
  }
  const auto expect_zero_outside = [&](int tile) {
    for (int row = 0; row < 16; ++row)
      for (int byte = 0; byte < 64; ++byte)
        if (row >= state->config.rows[tile] || byte >= 8) {
          EXPECT_EQ(state->tiles[tile].row[row][byte], 0) << tile << ' ' << row << ' ' << byte;
        }
  };
  for (const int tile : {0, 1, 2}) expect_zero_outside(tile);
  std::memset(state->tiles, 0xff, sizeof state->tiles);
  Instruction product;
  product.kind = Kind::kTdpbf16ps;
  product.src1 = 1;
  product.src2 = 2;
  const auto dot = amx_trap::has_avx2_fma() ? amx_trap::dot_avx2 : amx_trap::dot_reference;
  ASSERT_FALSE(amx_trap::execute(product, {}, dot, state.get()));
  expect_zero_outside(0);
}

// ---- counts and records ---------------------------------------------------------------------------------------------

/// 1 of LDTILECFG, 2 loads, 1 hinted load, 1 zero, 3 products, 1 store, 1 STTILECFG, 1 release.
void run_each_kind(std::uint8_t* memory) {
  const Config config{{16, 64}, {16, 64}, {16, 64}, {16, 64}};
  Config to;
  TRAP_LDTILECFG(&config);
  TRAP_TILELOADD(1, memory, 64);
  TRAP_TILELOADD(2, memory + 1024, 64);
  memory_barrier();
  _tile_stream_loadd(3, memory, 32);
  _tile_zero(0);
  _tile_dpbf16ps(0, 1, 2);
  _tile_dpbf16ps(0, 2, 3);
  _tile_dpbf16ps(0, 3, 1);
  TRAP_TILESTORED(0, memory, 128);
  TRAP_STTILECFG(&to);
  _tile_release();
}

constexpr std::uint64_t kExpected[amx_trap::kKinds] = {1, 1, 1, 1, 2, 1, 1, 3};

TEST_F(TrapOnlyTest, CountsOfAllThreads) {
  constexpr std::uint64_t kThreads = 4, kRounds = 50;
  amx_trap::reset_counts();
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t)
    threads.emplace_back([] {
      std::vector<std::uint8_t> memory(4096);
      for (std::uint64_t round = 0; round < kRounds; ++round) run_each_kind(memory.data());
    });
  for (std::thread& thread : threads) thread.join();
  const amx_trap::Counts counts = amx_trap::counts();
  for (std::size_t kind = 0; kind < amx_trap::kKinds; ++kind)
    EXPECT_EQ(counts.by_kind[kind], kThreads * kRounds * kExpected[kind])
        << amx_trap::mnemonic(static_cast<Kind>(kind));
  EXPECT_EQ(counts.total(), kThreads * kRounds * 11);
  amx_trap::reset_counts();
  EXPECT_EQ(amx_trap::counts().total(), 0u);
}

TEST_F(TrapOnlyTest, RecordsOfThisThreadInOrder) {
  std::vector<std::uint8_t> memory(4096);
  const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
  amx_trap::start_recording(100);
  std::thread([] { _tile_release(); }).join();
  run_each_kind(memory.data());
  const std::vector<amx_trap::Record> records = amx_trap::stop_recording();
  _tile_release();
  ASSERT_EQ(records.size(), 11u);
  EXPECT_EQ(amx_trap::recording_dropped(), 0u);
  struct Expected {
    Kind kind;
    int dest, src1, src2;
    std::uint64_t address;
    std::int64_t stride;
  };
  const Expected middle[] = {{Kind::kTileloadd, 1, 0, 0, at, 64},   {Kind::kTileloadd, 2, 0, 0, at + 1024, 64},
                             {Kind::kTileloaddt1, 3, 0, 0, at, 32}, {Kind::kTilezero, 0, 0, 0, 0, 0},
                             {Kind::kTdpbf16ps, 0, 1, 2, 0, 0},     {Kind::kTdpbf16ps, 0, 2, 3, 0, 0},
                             {Kind::kTdpbf16ps, 0, 3, 1, 0, 0},     {Kind::kTilestored, 0, 0, 0, at, 128}};
  EXPECT_EQ(records[0].kind, Kind::kLdtilecfg);
  EXPECT_EQ(records[9].kind, Kind::kSttilecfg);
  EXPECT_EQ(records[10].kind, Kind::kTilerelease);
  for (std::size_t i = 0; i < 8; ++i) {
    const amx_trap::Record& record = records[i + 1];
    EXPECT_EQ(record.kind, middle[i].kind) << i;
    EXPECT_EQ(record.dest, middle[i].dest) << i;
    EXPECT_EQ(record.src1, middle[i].src1) << i;
    EXPECT_EQ(record.src2, middle[i].src2) << i;
    EXPECT_EQ(record.address, middle[i].address) << i;
    EXPECT_EQ(record.stride, middle[i].stride) << i;
    EXPECT_GT(record.rip, records[i].rip) << i;
  }
}

TEST_F(TrapOnlyTest, RecordingEndsAtItsCapacity) {
  std::vector<std::uint8_t> memory(4096);
  amx_trap::start_recording(5);
  run_each_kind(memory.data());
  EXPECT_EQ(amx_trap::recording_dropped(), 6u);
  EXPECT_EQ(amx_trap::stop_recording().size(), 5u);
  run_each_kind(memory.data());
  EXPECT_TRUE(amx_trap::stop_recording().empty());
}

// ---- the interrupted code's stack -----------------------------------------------------------------------------------

TEST_F(TrapTest, RedZoneSurvives) {
  const Config config{{16, 64}};
  std::uint64_t nearest, farthest;
  TRAP_LDTILECFG(&config);
  asm volatile(
      "lea -128(%%rsp), %%rsp\n\t"  // first leave what the compiler may keep there
      "movq $0x1234567, -8(%%rsp)\n\tmovq $0x7654321, -128(%%rsp)\n\ttilezero %%tmm0\n\t"
      "mov -8(%%rsp), %0\n\tmov -128(%%rsp), %1\n\tlea 128(%%rsp), %%rsp"
      : "=&r"(nearest), "=&r"(farthest)::"memory");
  EXPECT_EQ(nearest, 0x1234567u);
  EXPECT_EQ(farthest, 0x7654321u);
}

TEST_F(TrapTest, RunsOnAnAlternateStack) {
  std::thread([] {
    std::vector<char> memory(1 << 16);
    stack_t stack = {}, saved = {};
    stack.ss_sp = memory.data();
    stack.ss_size = memory.size();
    ASSERT_EQ(sigaltstack(&stack, &saved), 0);
    const Config config{{16, 64}, {16, 64}, {16, 64}};
    std::vector<float> c(256, 1.0f);
    TRAP_LDTILECFG(&config);
    TRAP_TILELOADD(0, c.data(), 64);
    _tile_dpbf16ps(0, 1, 2);
    std::fill(c.begin(), c.end(), 0.0f);
    TRAP_TILESTORED(0, c.data(), 64);
    EXPECT_EQ(c, std::vector<float>(256, 1.0f));
    _tile_release();
    sigaltstack(&saved, nullptr);
  }).join();
}

// ---- signals that are not the trap's --------------------------------------------------------------------------------

volatile sig_atomic_t foreign_signals = 0;

/// Steps over ud2 (2 bytes) and TDPBSSD (5 bytes).
void count_foreign(int, siginfo_t* info, void* context) {
  foreign_signals = foreign_signals + 1;
  if (info->si_code <= 0) return;
  auto& rip = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  rip += *reinterpret_cast<const std::uint8_t*>(rip) == 0xc4 ? 5 : 2;
}

class TrapForeignSignal : public testing::Test {
 protected:
  void SetUp() override {
    if (amx_trap::has_real_amx()) GTEST_SKIP() << "this processor executes AMX itself: no handler is installed";
    struct sigaction action = {};
    action.sa_sigaction = count_foreign;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGILL, &action, &saved_);
    foreign_signals = 0;
  }
  void TearDown() override {
    if (!IsSkipped()) sigaction(SIGILL, &saved_, nullptr);
  }

 private:
  struct sigaction saved_;
};

TEST_F(TrapForeignSignal, ReachesThePreviousHandler) {
  const amx_trap::Installed trap, nested;
  amx_trap::reset_counts();
  asm volatile("ud2");
  EXPECT_EQ(foreign_signals, 1);
  asm volatile(".byte 0xc4, 0xe2, 0x6b, 0x5e, 0xcb");  // tdpbssd
  EXPECT_EQ(foreign_signals, 2);
  raise(SIGILL);
  EXPECT_EQ(foreign_signals, 3);
  _tile_release();
  EXPECT_EQ(foreign_signals, 3);
  EXPECT_EQ(amx_trap::counts().total(), 1u);
}

TEST_F(TrapForeignSignal, PreviousHandlerIsBackAfterUninstalling) {
  { const amx_trap::Installed trap; }
  _tile_release();  // five bytes
  EXPECT_EQ(foreign_signals, 1);
}

TEST(TrapForeignSignalDeathTest, DefaultActionStillKills) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const amx_trap::Installed trap;
        asm volatile("ud2");
      },
      testing::KilledBySignal(SIGILL), "");
  EXPECT_EXIT(
      {
        const amx_trap::Installed trap;
        raise(SIGILL);
      },
      testing::KilledBySignal(SIGILL), "");
}

}  // namespace
