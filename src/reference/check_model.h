// What a step cannot compute.
#pragma once

#include "stiction/model.h"
#include "stiction/options.h"

namespace stiction::reference {

// Throws ArgumentError where a model asks for something that a step can't compute.
void check_model(const Model& m, const Options& o);

}  // namespace stiction::reference
