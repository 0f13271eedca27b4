// Reads a Matrix Market file into a dense matrix, or says what is wrong with it and where.
//
// Eigen's own reader (unsupported/Eigen/SparseExtra) skips entries that it cannot place, so it cannot be used where a
// damaged file must not pass for a smaller matrix.
#pragma once

#include <Eigen/Core>

#include <stdexcept>
#include <string>

namespace examples {

/// What is wrong with a file, as "FILE:LINE: what; what to do".
struct MatrixMarketError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Coordinate and array format; real, double and integer fields; general, symmetric and skew-symmetric (expanded).
/// \throws MatrixMarketError
Eigen::MatrixXd read_matrix_market(const std::string& path);

}  // namespace examples
