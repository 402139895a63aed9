// URDF: the MJCF that means the same.
#pragma once

#include <filesystem>
#include <functional>

#include "model/xml/xml.h"
#include "stiction/load.h"

namespace stiction::model {

// Where a mesh is: its path if a file or an asset of this name is there.
using FindFile = std::function<bool(const std::filesystem::path&)>;

// The <mujoco> of a <robot>: its elements have the lines of those that they come from. Marks in
// `robot` what has no counterpart. `directory`: of the file. Throws ModelError.
Element mjcf_of_urdf(Element& robot, const UrdfOptions& options, const std::string& directory,
                     const FindFile& find);

// Lists what became of every element and attribute of `robot`, then what of its MJCF is not
// computed.
void collect_urdf(Element& robot, Element& mjcf, LoadReport& report);

}  // namespace stiction::model
