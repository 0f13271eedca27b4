// The ordered list of backends: what is built, what this machine can run, what was asked for.
#pragma once

#include "kernel.hpp"

#include <amx/options.hpp>

namespace amx::detail {

/// A backend of this library. `digits` and `residuals` are not called if it is not usable.
struct BackendEntry {
  Backend id;
  const char* name;
  const Engine<double>& (*digits)();
  const Engine<float>& (*residuals)();
  const char* (*unusable)();  // null if usable on this machine, else the reason; asked once per process
  bool beats_native;          // expected to be faster than the native product (Policy::when_faster)

  template <class T>
  const Engine<T>& engine() const;
};

/// The backend for a product; `requested` is not Backend::native.
/// \throws std::runtime_error with the reason if one was requested by name that is not usable
const BackendEntry& choose_backend(Backend requested);

}  // namespace amx::detail
