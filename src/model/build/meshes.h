// The meshes that a model needs: those that can touch, weigh, or that a primitive is fitted to.
#pragma once

#include <functional>

#include "model/spec/specs.h"

namespace stiction::model {

// Files of assets by the elements that name them, and their names there.
struct AssetFiles {
  std::function<bool(const Element&, const std::string&)> there;
  std::function<std::string(const Element&, const std::string&)> read;
  std::function<std::string(const Element&, const std::string&)> looked;  // paths, for messages
};

// Opens them, gives their geoms the frame of the mesh and fitted ones their sizes. A file that is not
// there is marked; one that is wrong throws ModelError.
void load_meshes(Spec& spec, const AssetFiles& files);

// build_tree.cpp: arrays of the hulls.
void add_meshes(const Spec& spec, Model& m);

}  // namespace stiction::model
