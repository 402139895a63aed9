// Public results, in doubles.
#pragma once

#include "reference/step/step.h"
#include "stiction/reference.h"

namespace stiction::reference {

// Geometry and material of a point; impulses zero.
Contact contact(const Model& m, const ContactPoint& p);

StepResult step(const Model& m, const Options& o, const StepInputs& in);

}  // namespace stiction::reference
