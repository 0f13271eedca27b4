// Emulated against native product, as ratios: each iteration runs both, in turn, and the counters hold
// native time / emulated time (1: equal, above 1: emulation is faster). Single runs of
// `product --benchmark_repetitions=10 --benchmark_report_aggregates_only` give medians.
#include <amx/emulated.hpp>

#include <benchmark/benchmark.h>

#include <chrono>

namespace {

double seconds(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class T, int Products>
void product(benchmark::State& state) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const Eigen::Index n = state.range(0);
  const Matrix a = Matrix::Random(n, n), b = Matrix::Random(n, n);
  Matrix c(n, n), d(n, n);
  c.noalias() = amx::emulated<Products>(a) * b;  // allocates the workspace
  double native = 0, emulated = 0;
  for (auto _ : state) {
    auto start = std::chrono::steady_clock::now();
    d.noalias() = a * b;
    native += seconds(start);
    start = std::chrono::steady_clock::now();
    c.noalias() = amx::emulated<Products>(a) * b;
    const double time = seconds(start);
    emulated += time;
    state.SetIterationTime(time);
    benchmark::DoNotOptimize(c.data());
    benchmark::DoNotOptimize(d.data());
  }
  const amx::Report report = amx::last_report();
  state.counters["native/emulated"] = native / emulated;
  state.counters["packing"] =
      report.pack_seconds / (report.pack_seconds + report.product_seconds + report.scan_seconds);
  // Multiply-adds of all component products, two operations each.
  state.counters["Gflop/s"] =
      benchmark::Counter(2e-9 * Products * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n),
                         benchmark::Counter::kIsIterationInvariantRate);
  state.SetLabel(std::string(report.backend));
}

template <class T, int Products>
void sizes(const char* name) {
  benchmark::RegisterBenchmark(name, product<T, Products>)->Arg(64)->Arg(256)->Arg(512)->UseManualTime();
}

}  // namespace

int main(int argc, char** argv) {
  sizes<float, 6>("float/6");
  sizes<double, 6>("double/6");
  sizes<double, 10>("double/10");
  sizes<double, 15>("double/15");
  sizes<double, 21>("double/21");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
