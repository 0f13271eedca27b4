// The products to compare with: Eigen's own, OpenBLAS and oneMKL, the last two opened at run time where CMake found
// them.
#pragma once

#include <Eigen/Core>

#include <string>
#include <vector>

namespace bench {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// C = A B, column-major.
template <class T>
using Gemm = void (*)(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& c);

template <class T>
struct Peer {
  const char* name;
  Gemm<T> gemm;
};

/// Those that are there; Eigen always is, and comes first.
template <class T>
std::vector<Peer<T>> peers();

/// "eigen 3.4.0, openblas .. (path), mkl absent"
std::string describe_peers();

/// Threads of all peers.
void set_peer_threads(int threads);

}  // namespace bench
