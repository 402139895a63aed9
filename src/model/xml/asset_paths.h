// Where the files are that an element names.
#pragma once

#include <vector>

#include "model/xml/xml.h"

namespace stiction::model {

// What <compiler> says about the files of a kind of assets.
struct AssetFolder {
  std::string directory;  // of the model's main file, or of an attached one
  std::string folder;     // meshdir or texturedir; "": none
  bool strippath = false;
};

// A path as it is written, with the slashes of this system.
std::string with_slashes(std::string path);

std::string lower_case(std::string text);

// Where files were looked for, from the root on, for messages: "/robots/m.stl, /robots/sub/m.stl".
std::string whole_paths(const std::vector<std::filesystem::path>& places);

// A place of a file: among the assets by `relative`, below `directory` or not; on the disk below `directory`.
struct AssetPath {
  std::filesystem::path directory, relative;
  std::filesystem::path path() const { return directory / relative; }
};

// Where the file `name` of element `e` may be, the first place first: below the folder of the main file and of <compiler>,
// and where <compiler> names none, beside the file in which the element is written. As in MuJoCo.
std::vector<AssetPath> asset_paths(const Element& e, const std::string& name,
                                   const AssetFolder& where);

// "dir/chair.stl" names an asset "chair" when it has no name of its own.
std::string stem(const std::string& path);

}  // namespace stiction::model
