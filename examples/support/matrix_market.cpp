// The reader, one line at a time so that every error has a line number. Start at read_matrix_market().
#include "matrix_market.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

namespace examples {
namespace {

constexpr double kMaxBytes = 2.0 * 1024 * 1024 * 1024;  // of the dense matrix: these examples are not sparse codes

class Lines {
 public:
  explicit Lines(const std::string& path) : path_(path), stream_(path) {
    if (!stream_) throw MatrixMarketError(path + ": cannot be opened; check the name and the permissions");
  }

  /// The next line that is neither empty nor a comment; false at the end of the file.
  bool next(std::string& line) {
    while (next_raw(line))
      if (line.find_first_not_of(" \t") != std::string::npos && line[0] != '%') return true;
    return false;
  }
  bool next_raw(std::string& line) {
    if (!std::getline(stream_, line)) return false;
    ++number_;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return true;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw MatrixMarketError(path_ + ":" + std::to_string(number_) + ": " + what);
  }

 private:
  std::string path_;
  std::ifstream stream_;
  long number_ = 0;
};

struct Header {
  bool coordinate, symmetric, skew;
};

Header read_header(Lines& lines) {
  std::string line, banner, object, format, field, symmetry;
  if (!lines.next_raw(line)) lines.fail("the file is empty; a Matrix Market file begins with %%MatrixMarket");
  std::istringstream words(line);
  words >> banner >> object >> format >> field >> symmetry;
  for (std::string* word : {&object, &format, &field, &symmetry})
    std::transform(word->begin(), word->end(), word->begin(), [](unsigned char c) { return std::tolower(c); });
  if (banner != "%%MatrixMarket")
    lines.fail("not a Matrix Market file: the first line must be '%%MatrixMarket matrix FORMAT FIELD SYMMETRY'");
  if (object != "matrix") lines.fail("object '" + object + "' is not a matrix");
  if (format != "coordinate" && format != "array")
    lines.fail("format '" + format + "' is neither coordinate nor array");
  if (field == "complex")
    lines.fail("complex entries; emulated products are real: store real and imaginary part apart");
  if (field == "pattern") lines.fail("a pattern has no values; write the matrix with field 'real'");
  if (field != "real" && field != "double" && field != "integer") lines.fail("unknown field '" + field + "'");
  if (symmetry != "general" && symmetry != "symmetric" && symmetry != "skew-symmetric")
    lines.fail("symmetry '" + symmetry + "' is neither general, symmetric nor skew-symmetric");
  return {format == "coordinate", symmetry != "general", symmetry == "skew-symmetric"};
}

/// The numbers of a line, exactly `count` of them.
std::vector<double> numbers(const Lines& lines, const std::string& line, std::size_t count, const char* expected) {
  std::vector<double> values;
  const char* at = line.c_str();
  for (;;) {
    while (std::isspace(static_cast<unsigned char>(*at))) ++at;
    if (!*at) break;
    char* end = nullptr;
    values.push_back(std::strtod(at, &end));
    if (end == at || (*end && !std::isspace(static_cast<unsigned char>(*end))) || values.size() > count)
      lines.fail("'" + line + "': expected " + expected);
    at = end;
  }
  if (values.size() != count) lines.fail("'" + line + "': expected " + expected);
  return values;
}

Eigen::Index whole(const Lines& lines, double value, double low, double high, const char* what) {
  if (!(value >= low && value <= high) || value != std::floor(value)) {
    std::ostringstream text;
    text.precision(17);
    text << what << ' ' << value << " is not a whole number from " << low << " to " << high;
    lines.fail(text.str());
  }
  return static_cast<Eigen::Index>(value);
}

void put(Eigen::MatrixXd& matrix, const Header& header, Eigen::Index row, Eigen::Index col, double value) {
  matrix(row, col) += value;  // repeated entries are summed, as the format says
  if (header.symmetric && row != col) matrix(col, row) += header.skew ? -value : value;
}

void read_coordinates(Lines& lines, const Header& header, Eigen::Index entries, Eigen::MatrixXd& matrix) {
  std::string line;
  for (Eigen::Index e = 0; e < entries; ++e) {
    if (!lines.next(line))
      lines.fail("the file ends after " + std::to_string(e) + " of " + std::to_string(entries) +
                 " entries; it is cut off");
    const std::vector<double> entry = numbers(lines, line, 3, "'row column value'");
    const Eigen::Index row = whole(lines, entry[0], 1, static_cast<double>(matrix.rows()), "row");
    const Eigen::Index col = whole(lines, entry[1], 1, static_cast<double>(matrix.cols()), "column");
    put(matrix, header, row - 1, col - 1, entry[2]);
  }
}

void read_array(Lines& lines, const Header& header, Eigen::MatrixXd& matrix) {
  std::string line;
  for (Eigen::Index col = 0; col < matrix.cols(); ++col)
    for (Eigen::Index row = header.symmetric ? col + header.skew : 0; row < matrix.rows(); ++row) {
      if (!lines.next(line)) lines.fail("the file ends before the last entry; it is cut off");
      put(matrix, header, row, col, numbers(lines, line, 1, "one value")[0]);
    }
}

}  // namespace

Eigen::MatrixXd read_matrix_market(const std::string& path) {
  Lines lines(path);
  const Header header = read_header(lines);
  std::string line;
  if (!lines.next(line)) lines.fail("the line with the sizes is missing; the file is cut off");
  const std::vector<double> sizes = header.coordinate ? numbers(lines, line, 3, "the sizes 'rows columns entries'")
                                                      : numbers(lines, line, 2, "the sizes 'rows columns'");
  constexpr double kMaxIndex = 9007199254740992.0;
  const Eigen::Index rows = whole(lines, sizes[0], 1, kMaxIndex, "number of rows");
  const Eigen::Index cols = whole(lines, sizes[1], 1, kMaxIndex, "number of columns");
  if (sizes[0] * sizes[1] * sizeof(double) > kMaxBytes)
    lines.fail("a dense matrix of these sizes needs more than 2 GiB; take a smaller one");
  if (header.symmetric && rows != cols) lines.fail("a symmetric matrix must be square");
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(rows, cols);
  if (header.coordinate)
    read_coordinates(lines, header, whole(lines, sizes[2], 0, sizes[0] * sizes[1], "number of entries"), matrix);
  else
    read_array(lines, header, matrix);
  if (lines.next(line)) lines.fail("'" + line + "': more entries than the sizes announce");
  return matrix;
}

}  // namespace examples
