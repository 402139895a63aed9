// Elevations in files: PNG, and MuJoCo's own format of a height field.
#pragma once

#include <string>
#include <vector>

namespace stiction::model {

// Rows along y, columns along x.
struct Elevations {
  int nrow = 0, ncol = 0;
  std::vector<double> data;
};

inline constexpr int kMaxHfieldNodes = 100'000'000;  // of all fields of a model

// Reads `content`: a PNG, whose red values count and whose last row has the smallest y, or the counts of rows and
// columns as 32-bit integers and then floats, the smallest y first. Throws ModelError with what is wrong in the file.
Elevations read_elevations(const std::string& content);

// Throws ModelError unless there are at least 2 x 2 numbers, as many as that says, all finite.
void check_elevations(const Elevations& e);

// Moved and scaled to 0 ... 1, in single precision as MuJoCo; what is flat becomes 0.
void normalize(Elevations& e);

}  // namespace stiction::model
