// Emulated against native products, interleaved: every round runs the emulated product, each peer and the peak loop of
// the engine's instruction, and the counters are medians over the rounds. bench/README.md explains them.
#include "peak.hpp"
#include "peers.hpp"
#include "samples.hpp"

#include <amx/emulated.hpp>

#include <string>

namespace {

using bench::Matrix;
using bench::Samples;

struct Shape {
  Eigen::Index m, n, k;
};

template <class T, int Products>
void gemm(benchmark::State& state, Shape shape, int threads, amx::Backend backend) {
  const Matrix<T> a = Matrix<T>::Random(shape.m, shape.k), b = Matrix<T>::Random(shape.k, shape.n);
  Matrix<T> c(shape.m, shape.n), d(shape.m, shape.n);
  amx::Options options;
  options.backend = backend;
  options.threads = threads;
  const auto emulated = [&] { c.noalias() = amx::emulated<Products>(a, options) * b; };
  const auto peers = bench::peers<T>();
  bench::set_peer_threads(threads);
  emulated();  // allocates the workspace
  for (const auto& peer : peers) peer.gemm(a, b, d);

  const double flops = 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  const std::string name(to_string(backend));
  const long calls = bench::calls_for(flops);
  Samples whole, products, peak;
  std::vector<Samples> ratios(peers.size());
  for (auto _ : state) {
    const double time = bench::time_of(calls, emulated);
    state.SetIterationTime(time);
    whole.add(time);
    products.add(amx::last_report().product_seconds);
    peak.add(bench::engine_peak(name, sizeof(T) == 8) * threads);
    for (std::size_t i = 0; i < peers.size(); ++i)
      ratios[i].add(bench::time_of(calls, [&] { peers[i].gemm(a, b, d); }) / time);
  }
  state.counters["useful_gflops"] = flops * 1e-9 / whole.median();
  state.counters["engine_gflops"] = Products * flops * 1e-9 / whole.median();
  if (peak.median() > 0) {
    state.counters["of_peak"] = Products * flops * 1e-9 / whole.median() / peak.median();
    state.counters["products_of_peak"] = Products * flops * 1e-9 / products.median() / peak.median();
    state.counters["peak_gflops"] = peak.median();
  }
  for (std::size_t i = 0; i < peers.size(); ++i)
    state.counters["over_" + std::string(peers[i].name)] = ratios[i].median();
  state.SetLabel(std::string(amx::last_report().backend));
}

template <class T, int Products>
void add(const char* scalar, const std::vector<Shape>& shapes, const std::vector<int>& threads) {
  for (const amx::BackendInfo& info : amx::backends())
    for (const int count : threads)
      for (const Shape& s : shapes)
        if (info.usable)
          benchmark::RegisterBenchmark(
              (std::string(info.name) + "/" + scalar + "/" + std::to_string(Products) + "/" + std::to_string(s.m) +
               "x" + std::to_string(s.n) + "x" + std::to_string(s.k) + "/threads:" + std::to_string(count))
                  .c_str(),
              [=, backend = info.backend](benchmark::State& state) { gemm<T, Products>(state, s, count, backend); })
              ->Iterations(10)
              ->UseManualTime()
              ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Shape> shapes;
  for (const Eigen::Index n : {4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096}) shapes.push_back({n, n, n});
  shapes.push_back({712, 712, 1850});  // A^T A of a survey problem
  shapes.push_back({4096, 4096, 64});  // short k
  shapes.push_back({16384, 64, 64});   // tall and skinny
  shapes.push_back({64, 16384, 512});  // flat
  shapes.push_back({4096, 1, 4096});   // as gemv
  const std::vector<int> threads = bench::thread_counts();
  add<float, 6>("float", shapes, threads);
  add<double, 6>("double", shapes, threads);
  add<double, 10>("double", shapes, threads);
  add<double, 15>("double", shapes, threads);
  add<double, 21>("double", shapes, threads);
  return bench::run(argc, argv);
}
