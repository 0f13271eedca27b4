// Where a finished report goes: Options::report, last_report() and, with AMX_VERBOSE=1, stderr.
#pragma once

#include <amx/options.hpp>
#include <amx/report.hpp>

#include <string>

namespace amx::detail {

/// The shortest decimal form that reads back as `value`.
std::string shortest(double value);

void publish(const Report& report, const Options& options);

}  // namespace amx::detail
