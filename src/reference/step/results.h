// Public results, in doubles.
#pragma once

#include <array>

#include "reference/step/step.h"
#include "stiction/reference.h"

namespace stiction::reference {

inline std::array<double, 3> array3(const Vec3& v) {
  return {v.x(), v.y(), v.z()};
}

// Returns the geometry and material of a point; impulses are zero.
Contact contact(const Model& m, const ContactPoint& p);

StepResult step(const Model& m, const Options& o, const StepInputs& in);

}  // namespace stiction::reference
