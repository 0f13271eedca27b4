// The first fault of all threads is kept; note_fault() keeps it, faults() makes a text of it.
#include "amx_trap_faults.hpp"

#include <atomic>
#include <cstdio>
#include <cstring>

namespace amx_trap {
namespace {

enum class FirstFault : int { kNone, kBeingWritten, kKnown };

struct Fault {
  Violation violation;
  Instruction instruction;
  std::uint64_t rip;
  Address address;
  TileConfig config;
};

Fault first_fault;
std::atomic<FirstFault> first_fault_state{FirstFault::kNone};
std::atomic<std::size_t> fault_total{0};

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string tile_name(int tile) { return "tmm" + std::to_string(tile); }

std::string operands(const Instruction& instruction, const Address& address) {
  switch (instruction.kind) {
    case Kind::kTilerelease: return "";
    case Kind::kLdtilecfg:
    case Kind::kSttilecfg: return " [" + hexadecimal(address.start) + "]";
    case Kind::kTilezero: return " " + tile_name(instruction.dest);
    case Kind::kTdpbf16ps:
      return " " + tile_name(instruction.dest) + ", " + tile_name(instruction.src1) + ", " +
             tile_name(instruction.src2);
    default:
      return " " + tile_name(instruction.dest) + ", [" + hexadecimal(address.start) + "], stride " +
             std::to_string(static_cast<std::int64_t>(address.stride));
  }
}

std::string shape(const TileConfig& config, int tile) {
  return tile_name(tile) + " has " + std::to_string(config.rows[tile]) + " rows of " +
         std::to_string(config.colsb[tile]) + " bytes";
}

std::string shapes(const Fault& fault) {
  const TileConfig& config = fault.config;
  if (config.palette != 1)
    return fault.instruction.kind == Kind::kLdtilecfg ? "palette " + std::to_string(config.palette) : "";
  if (fault.violation.tile >= 0) return shape(config, fault.violation.tile);
  if (fault.instruction.kind != Kind::kTdpbf16ps) return "";
  return shape(config, fault.instruction.dest) + ", " + shape(config, fault.instruction.src1) + ", " +
         shape(config, fault.instruction.src2);
}

}  // namespace

void note_fault(const Violation& violation, const Instruction& instruction, std::uint64_t rip, const Address& address,
                const TileConfig& config) {
  fault_total.fetch_add(1);
  FirstFault none = FirstFault::kNone;
  if (!first_fault_state.compare_exchange_strong(none, FirstFault::kBeingWritten)) return;
  first_fault = {violation, instruction, rip, address, config};
  if (instruction.kind == Kind::kLdtilecfg)  // the one that was refused says more
    std::memcpy(&first_fault.config, reinterpret_cast<const void*>(address.start), sizeof first_fault.config);
  first_fault_state.store(FirstFault::kKnown, std::memory_order_release);
}

std::string faults() {
  while (first_fault_state.load(std::memory_order_acquire) == FirstFault::kBeingWritten) {
  }
  if (first_fault_state.load(std::memory_order_acquire) == FirstFault::kNone) return "";
  const Fault& fault = first_fault;
  std::string text = std::string(fault.violation.exception) + " in " + mnemonic(fault.instruction.kind) +
                     operands(fault.instruction, fault.address) + " at RIP " + hexadecimal(fault.rip) + ": " +
                     fault.violation.rule;
  const std::string details = shapes(fault);
  if (!details.empty()) text += " (" + details + ")";
  if (fault_total > 1) text += "; and " + std::to_string(fault_total - 1) + " later faults";
  return text;
}

std::size_t fault_count() { return fault_total; }

void reset_faults() {
  fault_total = 0;
  first_fault_state = FirstFault::kNone;
}

}  // namespace amx_trap
