// The signal handler of the AMX trap and its bookkeeping. Start at handle_sigill().
//
// Everything the handler calls is safe in a signal handler: no allocation, no lock, no stdio; thread-local data is
// trivial and in the initial-exec model, so that touching it never allocates. The kernel saves and restores all
// registers of the interrupted code (vectors and MXCSR included) around the handler and leaves its red zone alone.
#include "amx_trap.hpp"

#include <numeric>

#include "amx_trap_faults.hpp"
#include "amx_trap_native.hpp"
#include "amx_trap_tiles.hpp"

namespace amx_trap {

const char* mnemonic(Kind kind) {
  static constexpr const char* kNames[kKinds] = {"ldtilecfg", "sttilecfg",   "tilerelease", "tilezero",
                                                 "tileloadd", "tileloaddt1", "tilestored",  "tdpbf16ps"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::uint64_t Counts::total() const { return std::accumulate(by_kind.begin(), by_kind.end(), std::uint64_t{0}); }

}  // namespace amx_trap

#if defined(__x86_64__) && defined(__linux__)

#include <ucontext.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <type_traits>

namespace amx_trap {
namespace {

struct Recorder {
  Record* records;
  std::size_t size, capacity, dropped;
};
static_assert(std::is_trivial_v<TileState> && std::is_trivial_v<Recorder>);

thread_local __attribute__((tls_model("initial-exec"))) TileState tile_state;
thread_local __attribute__((tls_model("initial-exec"))) Recorder recorder;

std::atomic<std::uint64_t> executed[kKinds];
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

DotFunction dot = dot_reference;
struct sigaction previous_action;

// ---- the handler ----------------------------------------------------------------------------------------------------

std::uint64_t register_value(const ucontext_t& context, int number) {
  static constexpr int kPlace[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                     REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<std::uint64_t>(context.uc_mcontext.gregs[kPlace[number]]);
}

Address effective_address(const ucontext_t& context, std::uint64_t rip, const Instruction& instruction) {
  const MemoryOperand& memory = instruction.memory;
  Address address;
  address.start = static_cast<std::uint64_t>(std::int64_t{memory.displacement});
  if (memory.base == kInstructionPointer)
    address.start += rip + instruction.length;
  else if (memory.base != kNoRegister)
    address.start += register_value(context, memory.base);
  if (memory.index == kNoRegister) return address;
  const std::uint64_t index = register_value(context, memory.index) << memory.shift;
  if (has_strided_operand(instruction.kind))
    address.stride = index;
  else
    address.start += index;
  return address;
}

void record(const Instruction& instruction, const Address& address, std::uint64_t rip) {
  if (!recorder.records) return;
  if (recorder.size == recorder.capacity) {
    ++recorder.dropped;
    return;
  }
  recorder.records[recorder.size++] = {instruction.kind,
                                       instruction.dest,
                                       instruction.src1,
                                       instruction.src2,
                                       address.start,
                                       static_cast<std::int64_t>(address.stride),
                                       rip};
}

/// False if the context is not at an instruction that the trap knows.
bool run_instruction(ucontext_t* context) {
  auto& instruction_pointer = context->uc_mcontext.gregs[REG_RIP];
  const auto rip = static_cast<std::uint64_t>(instruction_pointer);
  Instruction instruction;
  if (!decode(reinterpret_cast<const std::uint8_t*>(rip), &instruction)) return false;
  Address address;
  if (has_memory_operand(instruction.kind)) address = effective_address(*context, rip, instruction);
  if (const Violation violation = execute(instruction, address, dot, &tile_state)) {
    note_fault(violation, instruction, rip, address, tile_state.config);
  } else {
    executed[static_cast<std::size_t>(instruction.kind)].fetch_add(1, std::memory_order_relaxed);
    record(instruction, address, rip);
  }
  instruction_pointer += instruction.length;
  return true;
}

/// To the action that was in force before. The default action is reinstated and meets the same instruction again, so
/// that the process dies where it would have died without the trap.
void pass_on(int signal, siginfo_t* info, void* context) {
  if (previous_action.sa_flags & SA_SIGINFO) return previous_action.sa_sigaction(signal, info, context);
  const bool sent = info->si_code <= 0;  // by kill() or the like
  if (previous_action.sa_handler == SIG_IGN && sent) return;
  if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN)
    return previous_action.sa_handler(signal);
  struct sigaction default_action = {};
  default_action.sa_handler = SIG_DFL;
  sigaction(signal, &default_action, nullptr);
  if (sent) raise(signal);
}

/// Runs the AMX instructions that follow too, because the kernel's way here and back costs far more than they do.
bool run_instructions(ucontext_t* context) {
  if (!run_instruction(context)) return false;
  while (run_instruction(context)) {
  }
  return true;
}

void handle_sigill(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const bool done = info->si_code > 0 && run_instructions(static_cast<ucontext_t*>(context));
  errno = saved_errno;
  if (!done) pass_on(signal, info, context);
}

// ---- installation ---------------------------------------------------------------------------------------------------

std::mutex installation;
int installed = 0;

/// SA_ONSTACK: where a thread has an alternate stack (sanitizers, tests of stack overflow), use it; it must have room
/// for the signal frame, up to 3.5 KiB with AVX-512, and 4 KiB more. No SA_NODEFER: an illegal instruction in the
/// handler itself is then fatal at once instead of a recursion.
void set_handler() {
  sigaction(SIGILL, nullptr, &previous_action);  // known before the first instruction can trap
  struct sigaction action = {};
  action.sa_sigaction = handle_sigill;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGILL, &action, nullptr);
}

NativeAmx native() {
  static const NativeAmx answer = native_amx();
  return answer;
}

}  // namespace

bool has_real_amx() { return native() == NativeAmx::kAll; }

Mode install() {
  if (native() == NativeAmx::kAll) return Mode::kNative;
  if (native() == NativeAmx::kInPart) return Mode::kUnsupported;
  const std::lock_guard<std::mutex> lock(installation);
  if (installed++ == 0) {
    dot = has_avx2_fma() ? dot_avx2 : dot_reference;
    set_handler();
  }
  return Mode::kTrapping;
}

void uninstall() {
  const std::lock_guard<std::mutex> lock(installation);
  if (installed == 0 || --installed != 0) return;
  struct sigaction current = {};
  sigaction(SIGILL, nullptr, &current);
  const bool ours = (current.sa_flags & SA_SIGINFO) && current.sa_sigaction == handle_sigill;
  if (ours) sigaction(SIGILL, &previous_action, nullptr);  // else someone has replaced it since
}

Counts counts() {
  Counts result;
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    result.by_kind[kind] = executed[kind].load(std::memory_order_relaxed);
  return result;
}

void reset_counts() {
  for (auto& count : executed) count.store(0, std::memory_order_relaxed);
}

void start_recording(std::size_t capacity) {
  stop_recording();
  Record* const records = new Record[capacity];
  recorder.size = recorder.dropped = 0;
  recorder.capacity = capacity;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  recorder.records = records;
}

std::size_t recording_dropped() { return recorder.dropped; }

std::vector<Record> stop_recording() {
  Record* const records = recorder.records;
  recorder.records = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (!records) return {};
  std::vector<Record> result(records, records + recorder.size);
  delete[] records;
  return result;
}

}  // namespace amx_trap

#else

namespace amx_trap {

bool has_real_amx() { return false; }
Mode install() { return Mode::kUnsupported; }
void uninstall() {}
Counts counts() { return {}; }
void reset_counts() {}
void start_recording(std::size_t) {}
std::size_t recording_dropped() { return 0; }
std::vector<Record> stop_recording() { return {}; }

}  // namespace amx_trap

#endif
