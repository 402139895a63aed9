// Checks for models that a step cannot compute.
#pragma once

#include "stiction/model.h"
#include "stiction/options.h"

namespace stiction::reference {

// Throws ArgumentError if the model needs something that a step cannot compute.
void check_model(const Model& m, const Options& o);

}  // namespace stiction::reference
