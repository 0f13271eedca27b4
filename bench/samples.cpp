#include "samples.hpp"

#include "peers.hpp"

#include <amx/options.hpp>

#include <fstream>
#include <iostream>
#include <string>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace bench {
namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string usable_backends() {
  std::string list;
  for (const amx::BackendInfo& info : amx::backends())
    if (info.usable) list += (list.empty() ? "" : " ") + std::string(info.name);
  return list;
}

}  // namespace

std::vector<int> thread_counts() {
#ifdef _OPENMP
  if (omp_get_max_threads() > 1) return {1, omp_get_max_threads()};
#endif
  return {1};
}

int run(int argc, char** argv) {
  benchmark::AddCustomContext("processor", processor());
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::AddCustomContext("peers", describe_peers());
  benchmark::AddCustomContext("backends", usable_backends());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace bench
