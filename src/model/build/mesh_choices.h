// Meshes that environments may choose for a geom, as arrays of the Model.
#pragma once

#include "model/spec/specs.h"

namespace stiction::model {

// Adds Model::geom_mesh of one geom, in the order of the model. Throws ModelError if a mesh is missing.
void add_mesh_choice(const Spec& spec, const GeomSpec& g, Model& m);

}  // namespace stiction::model
