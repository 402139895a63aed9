// Paths of the files that an element names.
#pragma once

#include <vector>

#include "model/xml/xml.h"

namespace stiction::model {

// Settings of <compiler> for the files of one kind of assets.
struct AssetFolder {
  std::string directory;  // of the model's main file, or of an attached one
  std::string folder;     // meshdir or texturedir; "": none
  bool strippath = false;
};

// Converts a path to the separators of this system.
std::string with_slashes(std::string path);

std::string lower_case(std::string text);

// Returns the absolute paths that were searched, for messages: "/robots/m.stl, /robots/sub/m.stl".
std::string whole_paths(const std::vector<std::filesystem::path>& places);

// A candidate path of a file: among the assets `relative`, below `directory` or not; on the disk below `directory`.
struct AssetPath {
  std::filesystem::path directory, relative;
  std::filesystem::path path() const { return directory / relative; }
};

// Returns the candidate paths of file `name` of element `e`, best first: below the folder of the main file and of
// <compiler>; if <compiler> names none, also beside the file in which the element is written. As in MuJoCo.
std::vector<AssetPath> asset_paths(const Element& e, const std::string& name,
                                   const AssetFolder& where);

// Returns the default name of an asset: "chair" for "dir/chair.stl".
std::string stem(const std::string& path);

}  // namespace stiction::model
