// Options: names, checks, process-wide defaults, environment.
#include <amx/options.hpp>

#include "environment.hpp"

#include <cstdlib>
#include <mutex>
#include <stdexcept>

namespace amx {
namespace {

struct NamedBackend {
  Backend backend;
  std::string_view name;
};

constexpr NamedBackend kNames[] = {{Backend::automatic, "automatic"},     {Backend::amx_bf16, "amx_bf16"},
                                   {Backend::avx512_bf16, "avx512_bf16"}, {Backend::avx2, "avx2"},
                                   {Backend::portable, "portable"},       {Backend::native, "native"}};

std::mutex default_mutex;
Options process_default;

void check(const Options& options) {
  if (options.backend < Backend::automatic || options.backend > Backend::native)
    throw std::invalid_argument("amx: Options::backend is not an enumerator of amx::Backend");
  if (options.out_of_range < OutOfRange::native || options.out_of_range > OutOfRange::error)
    throw std::invalid_argument("amx: Options::out_of_range is not an enumerator of amx::OutOfRange");
  if (options.policy < Policy::always || options.policy > Policy::when_faster)
    throw std::invalid_argument("amx: Options::policy is not an enumerator of amx::Policy");
  if (options.threads < 0)
    throw std::invalid_argument("amx: Options::threads is negative; 0 means the default number of threads");
}

}  // namespace

std::string_view to_string(Backend backend) {
  for (const NamedBackend& entry : kNames)
    if (entry.backend == backend) return entry.name;
  return "?";
}

namespace detail {

Environment parse_environment(const char* backend, const char* verbose) {
  Environment result;
  if (backend && *backend) {
    std::string names;
    bool found = false;
    for (const NamedBackend& entry : kNames) {
      if (entry.name == backend) {
        result.backend = entry.backend;
        found = true;
      }
      names += names.empty() ? "" : ", ";
      names += entry.name;
    }
    if (!found) result.error = "amx: AMX_BACKEND=" + std::string(backend) + " names no backend; it may be " + names;
  }
  if (verbose && *verbose) {
    const std::string_view value = verbose;
    result.verbose = value == "1";
    if (value != "0" && value != "1") result.error = "amx: AMX_VERBOSE=" + std::string(value) + "; it may be 0 or 1";
  }
  return result;
}

const Environment& environment() {
  static const Environment read = parse_environment(std::getenv("AMX_BACKEND"), std::getenv("AMX_VERBOSE"));
  if (!read.error.empty()) throw std::invalid_argument(read.error);
  return read;
}

Options resolve(Options options) {
  check(options);
  const Backend from_environment = environment().backend;
  if (options.backend == Backend::automatic) options.backend = from_environment;
  return options;
}

}  // namespace detail

void set_default_options(const Options& options) {
  check(options);
  if (options.report)
    throw std::invalid_argument(
        "amx: default options cannot hold a report pointer, which every thread would write; "
        "use amx::last_report(), or Options::report of one product");
  const std::lock_guard<std::mutex> lock(default_mutex);
  process_default = options;
}

Options default_options() {
  std::unique_lock<std::mutex> lock(default_mutex);
  const Options options = process_default;
  lock.unlock();
  return detail::resolve(options);
}

}  // namespace amx
