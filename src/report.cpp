// Reports: names, the one-line form, publication.
#include <amx/report.hpp>

#include "environment.hpp"
#include "publish.hpp"

#include <amx/detail/dispatch.hpp>

#include <charconv>
#include <cstdio>
#include <ostream>
#include <sstream>

namespace amx {
namespace {

thread_local Report latest;

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::in_range: return "in_range";
    case Verdict::too_small: return "too_small";
    case Verdict::too_large: return "too_large";
    case Verdict::not_finite: return "not_finite";
    case Verdict::product_underflow: return "product_underflow";
    case Verdict::product_overflow: return "product_overflow";
  }
  return "?";
}

std::ostream& operator<<(std::ostream& stream, const Report& report) {
  std::ostringstream line;  // the caller's formatting state stays out of it
  line << "amx: " << report.m << " x " << report.n << " x " << report.k << ' '
       << (report.scalar.empty() ? "-" : report.scalar) << ", products " << report.products << ", backend "
       << report.backend << ", " << to_string(report.verdict);
  if (report.verdict != Verdict::in_range) {
    line << " (";
    if (report.operand)
      line << report.operand << '(' << report.row << ", " << report.col << ") = ";
    else
      line << "bound ";
    line << detail::shortest(report.value) << ')';
  }
  if (!report.reason.empty()) line << ": " << report.reason;
  line.precision(3);
  line << ", threads " << report.threads << ", scan " << report.scan_seconds << " s, pack " << report.pack_seconds
       << " s, product " << report.product_seconds << " s, reconstruct " << report.reconstruct_seconds << " s";
  return stream << line.str();
}

Report last_report() { return latest; }

namespace detail {

std::string shortest(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void publish(const Report& report, const Options& options) {
  latest = report;
  if (options.report) *options.report = report;
  if (!environment().verbose) return;
  std::ostringstream line;
  line << report << '\n';
  std::fputs(line.str().c_str(), stderr);  // one call, so that lines of several threads do not mix
}

void NativeRun::finish() {
  report_.product_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  publish(report_, options_);
}

}  // namespace detail
}  // namespace amx
