// The five representations of a rotation in MJCF.
#pragma once

#include <string>

#include "model/xml/xml.h"

namespace stiction::model {

// Settings of <compiler> for angles. Capitals in eulerseq denote rotations about fixed axes.
struct AngleSettings {
  bool degree = true;
  std::string eulerseq = "xyz";
  double radians(double angle) const;
};

// Reads quat, axisangle, euler, xyaxes or zaxis into `q`; false if none is given.
// Throws if more than one is given, and on degenerate axes.
bool read_orientation(const AngleSettings& settings, Element& e, Quat& q);

// Returns the shortest rotation that takes z to `v` (any length > 0).
Quat rotation_from_z(const Vec3& v);

// Throws unless the sequence is three letters of x y z X Y Z.
void check_eulerseq(const Element& e, const std::string& sequence);

}  // namespace stiction::model
