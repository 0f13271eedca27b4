// Where the time of an emulated product goes: scan, split and pack, component products, reconstruction, as shares of
// their sum, and the scan against a plain read of the same bytes.
#include "peak.hpp"
#include "peers.hpp"
#include "samples.hpp"

#include <amx/emulated.hpp>

#include <string>

namespace {

using bench::Matrix;
using bench::Samples;

template <class T, int Products>
void phases(benchmark::State& state, Eigen::Index n, int threads, amx::Backend backend) {
  const Matrix<T> a = Matrix<T>::Random(n, n), b = Matrix<T>::Random(n, n);
  Matrix<T> c(n, n);
  amx::Report report;
  amx::Options options;
  options.backend = backend;
  options.threads = threads;
  options.report = &report;
  c.noalias() = amx::emulated<Products>(a, options) * b;
  const double bytes = static_cast<double>(a.size() + b.size()) * sizeof(T);
  Samples scan, pack, products, reconstruct, total, read;
  for (auto _ : state) {
    c.noalias() = amx::emulated<Products>(a, options) * b;
    const double sum = report.scan_seconds + report.pack_seconds + report.product_seconds + report.reconstruct_seconds;
    state.SetIterationTime(sum);
    scan.add(report.scan_seconds / sum);
    pack.add(report.pack_seconds / sum);
    products.add(report.product_seconds / sum);
    reconstruct.add(report.reconstruct_seconds / sum);
    if (threads == 1) {
      const double bandwidth = bench::read_bandwidth(a.data(), static_cast<long>(sizeof(T)) * a.size());
      read.add(bytes / report.scan_seconds / bandwidth);
    }
  }
  state.counters["scan"] = scan.median();
  state.counters["pack"] = pack.median();
  state.counters["products"] = products.median();
  state.counters["reconstruct"] = reconstruct.median();
  if (threads == 1) state.counters["scan_of_read"] = read.median();
  state.SetLabel(std::string(report.backend));
}

template <class T, int Products>
void add(const char* scalar) {
  for (const amx::BackendInfo& info : amx::backends())
    for (const int threads : bench::thread_counts())
      for (const Eigen::Index n : {256, 512, 1024, 2048, 4096})
        if (info.usable)
          benchmark::RegisterBenchmark(
              (std::string(info.name) + "/" + scalar + "/" + std::to_string(Products) + "/" + std::to_string(n) +
               "/threads:" + std::to_string(threads))
                  .c_str(),
              [=, backend = info.backend](benchmark::State& state) { phases<T, Products>(state, n, threads, backend); })
              ->Iterations(10)
              ->UseManualTime()
              ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  add<float, 6>("float");
  add<double, 6>("double");
  add<double, 10>("double");
  add<double, 15>("double");
  add<double, 21>("double");
  return bench::run(argc, argv);
}
