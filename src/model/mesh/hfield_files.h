// Elevations from files: PNG, and MuJoCo's own format of a height field.
#pragma once

#include <string>
#include <vector>

namespace stiction::model {

// Rows along y, columns along x.
struct Elevations {
  int nrow = 0, ncol = 0;
  std::vector<double> data;
};

inline constexpr int kMaxHfieldNodes = 100'000'000;  // over all fields of a model

// Reads `content`: a PNG, whose red channel is used and whose last row has the smallest y, or the numbers of rows and
// columns as 32-bit integers followed by floats, the smallest y first. Throws ModelError naming what is wrong.
Elevations read_elevations(const std::string& content);

// Throws ModelError unless there are at least 2 x 2 numbers, as many as nrow and ncol say, all finite.
void check_elevations(const Elevations& e);

// Shifts and scales to 0 ... 1, in single precision as MuJoCo does; a flat field becomes 0.
void normalize(Elevations& e);

}  // namespace stiction::model
