// Ellipsoids in a medium.
#pragma once

#include "model/spec/specs.h"

namespace stiction::model {

// The row of Model::geom_fluid: zeros unless the geom is an ellipsoid in the medium.
std::array<double, 12> fluid_coefficients(const GeomSpec& g);

}  // namespace stiction::model
