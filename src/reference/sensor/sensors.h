// Readings of the sensors after a step, with MuJoCo's definitions (docs/mjcf.md): accelerations,
// forces and contacts are of the interval, everything else of the state at its end.
#pragma once

#include "reference/step/results.h"

namespace stiction::reference {

// `s`: the result of the step from `in`. If the step was not taken, interval sensors read zero.
std::vector<double> sensors(const Model& m, const Options& o, const StepInputs& in,
                            const StepResult& s);

// Returns whether p, in the frame of the shape, is inside the shape.
bool inside(GeomType type, const Vec3& size, const Vec3& p);
// Returns whether p + t d for some t >= 0 lies in the shape; p and d in the frame of the shape.
bool ray_meets(GeomType type, const Vec3& size, const Vec3& p, const Vec3& d);

}  // namespace stiction::reference
