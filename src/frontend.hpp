// The front end: scan, verdict, backend, driver, report. Called by the Eigen layer (dispatch.hpp) and by amx::gemm().
#pragma once

#include <amx/detail/dispatch.hpp>

namespace amx::detail {

/// Shape and counts of a report that has yet to happen.
template <class T>
Report start_report(const GemmArguments<T>& arguments);

/// Computes C on the backend that `options` (resolved, not Backend::native) ask for and publishes the report, or
/// returns false with the verdict in `report`. \throws as amx::gemm()
template <class T>
bool emulate_in_range(const GemmArguments<T>& arguments, const Options& options, Report& report);

}  // namespace amx::detail
