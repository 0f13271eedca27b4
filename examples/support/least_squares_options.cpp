#include "least_squares_options.hpp"

#include <amx/products.hpp>

#include <getopt.h>

#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace examples {

const char* const kLeastSquaresUsage =
    R"(usage: least_squares [options] [MATRIX.mtx [RHS.mtx]]

Solves min |A x - b| by the normal equations, A^T A and A^T b formed by emulated products with each number of component
products, refined with residuals in FP64, and prints what each number of products gives.

  MATRIX.mtx            Matrix Market file; without it, a survey-like problem made from a fixed seed
  RHS.mtx               right-hand side; without it, b = A (1, ..., 1)^T plus an inconsistent part
  --products LIST       numbers of products, comma separated, 0 for native (default 0,1,3,6,10,15,21,28,36)
  --steps K             refinement steps (default 4)
  --set ROW,COL,VALUE   overrides one entry of A (counted from 1), to see what an operand out of range does
  --help
)";

namespace {

std::vector<double> numbers(const char* option, const std::string& text) {
  std::vector<double> values;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) {
    char* end = nullptr;
    values.push_back(std::strtod(word.c_str(), &end));
    if (word.empty() || *end) throw std::invalid_argument(std::string(option) + ": '" + word + "' is not a number");
  }
  return values;
}

void set_products(LeastSquaresOptions& options, const char* text) {
  options.products.clear();
  for (const double value : numbers("--products", text)) {
    const int products = value >= 0 && value <= 36 ? static_cast<int>(value) : -1;
    if (products != value || (products != 0 && amx::slices_for<double>(products) == 0))
      throw std::invalid_argument("--products: each must be 0 (native), 1, 3, 6, 10, 15, 21, 28 or 36");
    options.products.push_back(products);
  }
  if (options.products.empty()) throw std::invalid_argument("--products: the list is empty");
}

void set_steps(LeastSquaresOptions& options, const char* text) {
  const std::vector<double> values = numbers("--steps", text);
  if (values.size() != 1 || !(values[0] >= 0 && values[0] <= 20) || values[0] != static_cast<int>(values[0]))
    throw std::invalid_argument("--steps: a whole number from 0 to 20");
  options.steps = static_cast<int>(values[0]);
}

void set_entry(LeastSquaresOptions& options, const char* text) {
  const std::vector<double> values = numbers("--set", text);
  constexpr double kMax = 1e9;
  if (values.size() != 3 || !(values[0] >= 1 && values[0] <= kMax && values[1] >= 1 && values[1] <= kMax))
    throw std::invalid_argument("--set: expected ROW,COL,VALUE with row and column counted from 1");
  options.set = true;
  options.set_row = static_cast<Eigen::Index>(values[0]);
  options.set_col = static_cast<Eigen::Index>(values[1]);
  options.set_value = values[2];
}

}  // namespace

LeastSquaresOptions parse_least_squares_options(int argc, char** argv) {
  LeastSquaresOptions options;
  const option names[] = {{"products", required_argument, nullptr, 'p'},
                          {"steps", required_argument, nullptr, 's'},
                          {"set", required_argument, nullptr, 'e'},
                          {"help", no_argument, nullptr, 'h'},
                          {nullptr, 0, nullptr, 0}};
  opterr = 0;
  for (int c; (c = getopt_long(argc, argv, "h", names, nullptr)) != -1;) {
    switch (c) {
      case 'p': set_products(options, optarg); break;
      case 's': set_steps(options, optarg); break;
      case 'e': set_entry(options, optarg); break;
      case 'h': options.help = true; break;
      default: throw std::invalid_argument("unknown option or missing value: " + std::string(argv[optind - 1]));
    }
  }
  if (optind < argc) options.matrix_path = argv[optind++];
  if (optind < argc) options.right_hand_path = argv[optind++];
  if (optind < argc) throw std::invalid_argument("too many arguments, from '" + std::string(argv[optind]) + "' on");
  return options;
}

}  // namespace examples
