// Command line of the least_squares example.
#pragma once

#include <Eigen/Core>

#include <string>
#include <vector>

namespace examples {

struct LeastSquaresOptions {
  std::string matrix_path, right_hand_path;  // empty: made by the program
  std::vector<int> products = {0, 1, 3, 6, 10, 15, 21, 28, 36};
  int steps = 4;
  bool set = false;  // --set ROW,COL,VALUE
  Eigen::Index set_row = 0, set_col = 0;
  double set_value = 0;
  bool help = false;
};

extern const char* const kLeastSquaresUsage;

/// \throws std::invalid_argument with a sentence for the user
LeastSquaresOptions parse_least_squares_options(int argc, char** argv);

}  // namespace examples
