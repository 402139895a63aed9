// URDF: conversion to equivalent MJCF.
#pragma once

#include <filesystem>
#include <functional>

#include "model/xml/xml.h"
#include "stiction/load.h"

namespace stiction::model {

// Whether a file or an asset exists at this path.
using FindFile = std::function<bool(const std::filesystem::path&)>;

// Returns the <mujoco> of a <robot>: its elements have the lines of those that they come from. Marks in
// `robot` what has no counterpart. `directory`: that of the file. Throws ModelError.
Element mjcf_of_urdf(Element& robot, const UrdfOptions& options, const std::string& directory,
                     const FindFile& find);

// Lists what became of every element and attribute of `robot`, then what of its MJCF is not
// computed.
void collect_urdf(Element& robot, Element& mjcf, LoadReport& report);

}  // namespace stiction::model
