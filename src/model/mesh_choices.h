// Meshes that environments may choose for a geom:
//   <custom><tuple name="stiction_meshes/GEOM"> <element objtype="mesh" objname="MESH"/> ... </tuple></custom>
#pragma once

#include "model/specs.h"

namespace stiction::model {

// Reads a tuple of that name; false: it has another. Throws ModelError on an element that is no mesh.
bool read_mesh_choice(Element& tuple, Spec& spec);
// Gives each geom its choice, once all names are known. Throws ModelError on an unknown name and on a geom that is
// no mesh.
void resolve_mesh_choices(Spec& spec);
// Model::geom_mesh of one geom, in the order of the model. Throws ModelError where a mesh was not there.
void add_mesh_choice(const Spec& spec, const GeomSpec& g, Model& m);

}  // namespace stiction::model
