// Ellipsoids of the fluid model.
#pragma once

#include "model/spec/specs.h"

namespace stiction::model {

// Returns the row of Model::geom_fluid: zeros unless the geom uses the ellipsoid model.
std::array<double, 12> fluid_coefficients(const GeomSpec& g);

}  // namespace stiction::model
