// The meshes that a model needs: for contact, for mass, or for fitted primitives.
#pragma once

#include <functional>

#include "model/spec/specs.h"

namespace stiction::model {

// Access to the files of assets, by the elements that name them and the names given there.
struct AssetFiles {
  std::function<bool(const Element&, const std::string&)> there;
  std::function<std::string(const Element&, const std::string&)> read;
  std::function<std::string(const Element&, const std::string&)> looked;  // paths, for messages
};

// Reads them, sets the frames of their geoms and the sizes of fitted ones. A missing file is
// marked; an invalid one throws ModelError.
void load_meshes(Spec& spec, const AssetFiles& files);

// build_tree.cpp: adds the arrays of the hulls.
void add_meshes(const Spec& spec, Model& m);

}  // namespace stiction::model
