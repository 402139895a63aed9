// The height fields of a model.
#pragma once

#include "model/build/meshes.h"

namespace stiction::model {

// Reads their files. A field whose file is missing is marked and gets no rows; an invalid file throws
// ModelError.
void load_hfields(Spec& spec, const AssetFiles& files);

// build_tree.cpp: their arrays.
void add_hfields(const Spec& spec, Model& m);

}  // namespace stiction::model
