// AMX_BACKEND and AMX_VERBOSE, read once.
#pragma once

#include <amx/options.hpp>

#include <string>

namespace amx::detail {

struct Environment {
  Backend backend = Backend::automatic;
  bool verbose = false;
  std::string error;  // what is wrong with the variables; empty if nothing
};

/// The values as strings (null: not set) to what they mean. An empty string counts as not set.
Environment parse_environment(const char* backend, const char* verbose);

/// The process environment at the first call.
/// \throws std::invalid_argument at every call if a variable holds a value that does not exist
const Environment& environment();

/// Options with AMX_BACKEND filled in where the backend is automatic.
/// \throws std::invalid_argument if an enumerator is out of its range, threads negative, or as environment()
Options resolve(Options options);

}  // namespace amx::detail
