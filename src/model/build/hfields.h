// The height fields of a model.
#pragma once

#include "model/build/meshes.h"

namespace stiction::model {

// Opens their files. One whose file is not there is marked and has no rows; one that is wrong throws
// ModelError.
void load_hfields(Spec& spec, const AssetFiles& files);

// build_tree.cpp: their arrays.
void add_hfields(const Spec& spec, Model& m);

}  // namespace stiction::model
