// Timed calls and their medians.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace bench {

/// Samples of one quantity.
class Samples {
 public:
  void add(double x) { values_.push_back(x); }
  double median() const {
    if (values_.empty()) return 0;
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

 private:
  std::vector<double> values_;
};

/// Seconds per call, over `calls` of them.
template <class Call>
double time_of(long calls, const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  for (long i = 0; i < calls; ++i) call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(calls);
}

/// Calls of a product that together take long enough for the clock.
inline long calls_for(double flops) { return std::max(1l, static_cast<long>(2e7 / (flops + 1e4))); }

/// 1, and all that OpenMP gives.
std::vector<int> thread_counts();

/// main() of a benchmark program: names machine and peers in the output, runs what is registered.
int run(int argc, char** argv);

}  // namespace bench
