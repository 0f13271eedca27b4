// Intel AMX on machines that have none: on x86-64 Linux a SIGILL handler decodes and executes the AMX-TILE and AMX-BF16
// instructions, so that the machine code that ships runs in tests.
//
//   amx_trap::Installed trap;                 // does nothing where the processor has AMX
//   ... code with AMX instructions ...
//   EXPECT_EQ(amx_trap::faults(), "");        // what the processor would have answered with #UD or #GP
//
// Start reading at handle_sigill() in amx_trap.cpp. amx_trap_decode.hpp has the instruction format, amx_trap_tiles.hpp
// the tile state and what each instruction does to it, amx_trap_dot.hpp the arithmetic of TDPBF16PS.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace amx_trap {

enum class Kind : std::uint8_t {
  kLdtilecfg,
  kSttilecfg,
  kTilerelease,
  kTilezero,
  kTileloadd,
  kTileloaddt1,
  kTilestored,
  kTdpbf16ps,
};
inline constexpr std::size_t kKinds = 8;

const char* mnemonic(Kind kind);

enum class Mode {
  kNative,       // the processor executes AMX; nothing was installed
  kTrapping,     // the handler is installed
  kUnsupported,  // neither: not x86-64 Linux, or AMX that executes in part (no AMX-BF16, no permission for tile data)
};

/// Whether processor and system execute AMX: CPUID leaf 7 bits AMX-TILE and AMX-BF16, XCR0 bits 17 and 18, and the
/// permission for tile data, which is asked for.
bool has_real_amx();

/// Installs the handler unless the processor has AMX. Calls nest; each needs its uninstall(). Not for use while another
/// thread changes the action of SIGILL.
Mode install();
void uninstall();

class Installed {
 public:
  Installed() : mode_(install()) {}
  ~Installed() { uninstall(); }
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;
  Mode mode() const { return mode_; }

 private:
  Mode mode_;
};

/// Instructions executed by the handler, of all threads; those that fault are not among them.
struct Counts {
  std::array<std::uint64_t, kKinds> by_kind{};
  std::uint64_t of(Kind kind) const { return by_kind[static_cast<std::size_t>(kind)]; }
  std::uint64_t total() const;
};
Counts counts();
void reset_counts();

/// One executed instruction. Fields that the instruction does not have are zero.
struct Record {
  Kind kind;
  std::uint8_t dest;  // the tile loaded, stored, zeroed or accumulated to
  std::uint8_t src1, src2;
  std::uint64_t address;  // of the memory operand's first row
  std::int64_t stride;    // between its rows
  std::uint64_t rip;      // of the instruction
};

/// Records what the calling thread executes, in order, the first `capacity` instructions of it.
void start_recording(std::size_t capacity);
/// Instructions since start_recording() that no longer fitted.
std::size_t recording_dropped();
std::vector<Record> stop_recording();

/// The first fault of any thread since reset_faults(): exception, instruction, address and the rule violated; empty if
/// there was none. Execution went on behind the instruction, which had no effect.
std::string faults();
std::size_t fault_count();
void reset_faults();

}  // namespace amx_trap
