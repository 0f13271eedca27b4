// The SIGILL handler and its bookkeeping. Everything the handler touches is atomic, thread-local or preallocated.
#include "amx_trap.hpp"

#if defined(__x86_64__) && defined(__linux__)

#include "amx_decode.hpp"
#include "amx_tiles_model.hpp"

#include <xmmintrin.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace amx_trap {
namespace {

#define AMX_TRAP_TLS thread_local __attribute__((tls_model("initial-exec")))
AMX_TRAP_TLS Tiles tiles;
AMX_TRAP_TLS Record* records = nullptr;
AMX_TRAP_TLS std::size_t record_count = 0, record_capacity = 0;

std::atomic<long> totals[kKinds];
std::atomic<bool> faulted{false};
std::atomic<const char*> fault_text{nullptr};
std::atomic<std::uint64_t> fault_address{0};
struct sigaction previous;

const char* execute(const Instruction& i) {
  void* const memory = reinterpret_cast<void*>(i.address);
  std::uint8_t* const bytes = static_cast<std::uint8_t*>(memory);
  switch (i.kind) {
    case Kind::ldtilecfg: return tiles.load_config(memory);
    case Kind::sttilecfg: tiles.store_config(memory); return nullptr;
    case Kind::tilerelease: tiles.release(); return nullptr;
    case Kind::tilezero: return tiles.zero(i.tile);
    case Kind::tileload:
    case Kind::tileloadt1: return tiles.load(i.tile, bytes, i.stride);
    case Kind::tilestore: return tiles.store(i.tile, bytes, i.stride);
    case Kind::tdpbf16ps: return tiles.multiply(i.tile, i.src1, i.src2);
  }
  return nullptr;
}

Registers registers_of(const ucontext_t& context) {
  constexpr int kOrder[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  Registers registers;
  for (int i = 0; i < 16; ++i) registers.of[i] = static_cast<std::uint64_t>(context.uc_mcontext.gregs[kOrder[i]]);
  return registers;
}

/// An illegal instruction that is not ours: the handler found at install() gets it, or the default action on return.
void pass_on(int signal, siginfo_t* info, void* context) {
  if (previous.sa_flags & SA_SIGINFO)
    previous.sa_sigaction(signal, info, context);
  else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
    previous.sa_handler(signal);
  else
    sigaction(SIGILL, &previous, nullptr);  // the instruction faults again, without us
}

void handle(int signal, siginfo_t* info, void* raw) {
  ucontext_t& context = *static_cast<ucontext_t*>(raw);
  const std::uint64_t address = static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  Instruction instruction;
  if (!decode(reinterpret_cast<const std::uint8_t*>(address), registers_of(context), instruction)) {
    pass_on(signal, info, raw);
    return;
  }
  const unsigned mode = _mm_getcsr();
  _mm_setcsr(
      0x1f80);  // TDPBF16PS does not consult MXCSR: to nearest even, nothing trapped; flushing is done by the model
  const char* fault = instruction.fault ? instruction.fault : execute(instruction);
  _mm_setcsr(mode);
  if (fault && !faulted.exchange(true)) {
    fault_address = address;
    fault_text = fault;
  }
  totals[static_cast<int>(instruction.kind)].fetch_add(1, std::memory_order_relaxed);
  if (record_count < record_capacity)
    records[record_count++] = {instruction.kind, instruction.tile, instruction.src1, instruction.src2,
                               instruction.address};
  context.uc_mcontext.gregs[REG_RIP] += instruction.length;
}

bool has_amx() {
  unsigned a = 7, b, c = 0, d;
  asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  constexpr unsigned kTileAndBf16 = 1u << 24 | 1u << 22;
  return (d & kTileAndBf16) == kTileAndBf16 && syscall(SYS_arch_prctl, 0x1023, 18) == 0;
}

}  // namespace

State install() {
  static const State state = [] {
    if (has_amx()) return State::native;
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;  // NODEFER: a fault inside, on a bad address say, must not be lost
    sigaction(SIGILL, &action, &previous);
    return State::trapping;
  }();
  return state;
}

Counts counts() {
  Counts result;
  for (int i = 0; i < kKinds; ++i) result.of[i] = totals[i].load();
  return result;
}
void reset_counts() {
  for (std::atomic<long>& total : totals) total = 0;
}

std::string first_fault() {
  if (!faulted) return {};
  char address[32];
  std::snprintf(address, sizeof address, " at %#llx", static_cast<unsigned long long>(fault_address.load()));
  return std::string(fault_text.load()) + address;
}
void clear_fault() { faulted = false; }

void start_recording(std::size_t capacity) {
  records = static_cast<Record*>(std::malloc(capacity * sizeof(Record)));
  record_count = 0;
  record_capacity = records ? capacity : 0;
}
std::vector<Record> stop_recording() {
  const std::vector<Record> result(records, records + record_count);
  record_capacity = record_count = 0;
  std::free(records);
  records = nullptr;
  return result;
}

}  // namespace amx_trap

#else

namespace amx_trap {
State install() { return State::unsupported; }
Counts counts() { return {}; }
void reset_counts() {}
std::string first_fault() { return {}; }
void clear_fault() {}
void start_recording(std::size_t) {}
std::vector<Record> stop_recording() { return {}; }
}  // namespace amx_trap

#endif
