// The five ways of MJCF to write a rotation.
#pragma once

#include <string>

#include "model/xml/xml.h"

namespace stiction::model {

// What <compiler> says about angles. Rotations in capitals of eulerseq are about fixed axes.
struct AngleSettings {
  bool degree = true;
  std::string eulerseq = "xyz";
  double radians(double angle) const;
};

// Reads quat, axisangle, euler, xyaxes or zaxis into `q`; false if none is given.
// Throws on more than one of them and on degenerate axes.
bool read_orientation(const AngleSettings& settings, Element& e, Quat& q);

// The shortest rotation that takes z to `v` (any length > 0).
Quat rotation_from_z(const Vec3& v);

// Throws unless the sequence is three letters of x y z X Y Z.
void check_eulerseq(const Element& e, const std::string& sequence);

}  // namespace stiction::model
