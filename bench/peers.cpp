#include "peers.hpp"

#include <dlfcn.h>
#include <cstdlib>

namespace bench {
namespace {

/// Fortran GEMM with 32-bit integers.
template <class T>
using Fortran = void (*)(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*,
                         const T*, const int*, const T*, T*, const int*);

/// A BLAS in its own symbol scope.
struct Library {
  void* handle = nullptr;
  Fortran<float> sgemm = nullptr;
  Fortran<double> dgemm = nullptr;
  void (*set_threads)(int) = nullptr;
  std::string state = "absent";

  Library(const char* path, const char* thread_function) {
    if (!*path) return;
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char* const error = dlerror();
      state = std::string("absent (") + (error ? error : path) + ")";
      return;
    }
    sgemm = reinterpret_cast<Fortran<float>>(dlsym(handle, "sgemm_"));
    dgemm = reinterpret_cast<Fortran<double>>(dlsym(handle, "dgemm_"));
    set_threads = reinterpret_cast<void (*)(int)>(dlsym(handle, thread_function));
    state = sgemm && dgemm && set_threads ? path : "absent (no sgemm_, dgemm_)";
  }
  bool usable() const { return sgemm && dgemm && set_threads; }
};

Library& openblas() {
  static Library library(OPENBLAS_PATH, "openblas_set_num_threads");
  return library;
}
Library& mkl() {
  static Library library = [] {
    setenv("MKL_THREADING_LAYER", "GNU", 0);  // the OpenMP runtime that this program has already
    setenv("MKL_INTERFACE_LAYER", "LP64", 0);
    return Library(MKL_PATH, "MKL_Set_Num_Threads");
  }();
  return library;
}

template <class T>
void call(const Library& library, const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& c) {
  const int m = static_cast<int>(a.rows()), n = static_cast<int>(b.cols()), k = static_cast<int>(a.cols());
  const T one = 1, zero = 0;
  if constexpr (sizeof(T) == 8)
    library.dgemm("N", "N", &m, &n, &k, &one, a.data(), &m, b.data(), &k, &zero, c.data(), &m);
  else
    library.sgemm("N", "N", &m, &n, &k, &one, a.data(), &m, b.data(), &k, &zero, c.data(), &m);
}

}  // namespace

template <class T>
std::vector<Peer<T>> peers() {
  std::vector<Peer<T>> list = {
      {"eigen", [](const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& c) { c.noalias() = a * b; }}};
  if (openblas().usable())
    list.push_back(
        {"openblas", [](const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& c) { call(openblas(), a, b, c); }});
  if (mkl().usable())
    list.push_back({"mkl", [](const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& c) { call(mkl(), a, b, c); }});
  return list;
}
template std::vector<Peer<float>> peers();
template std::vector<Peer<double>> peers();

std::string describe_peers() {
  return "eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
         std::to_string(EIGEN_MINOR_VERSION) + " (" + Eigen::SimdInstructionSetsInUse() + "); openblas " +
         openblas().state + "; mkl " + mkl().state;
}

void set_peer_threads(int threads) {
  Eigen::setNbThreads(threads);
  if (openblas().usable()) openblas().set_threads(threads);
  if (mkl().usable()) mkl().set_threads(threads);
}

}  // namespace bench
