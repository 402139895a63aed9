// Locates the mesh files of a URDF.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/urdf/urdf.h"

namespace stiction::model {

class MeshFinder {
 public:
  // Searches the folders of `search_path` and `directory`, the folder of the file, as MuJoCo does; for package://NAME/
  // a folder NAME in one of these, or the one that contains `directory`. Files outside of these and of the parent of
  // `directory` are not read.
  MeshFinder(const std::vector<std::string>& search_path, const std::string& directory,
             FindFile find);

  // <mujoco><compiler>: with `strippath`, which is the default there, meshes are in `meshdir` by
  // their bare names.
  void compiler(const std::optional<std::string>& meshdir, std::optional<bool> strippath);

  // Adds a <mesh> for this element of URDF, one per file and scale, and returns its name.
  std::string add(Element& e, Element& assets);

 private:
  struct Place;
  std::vector<Place> places(const std::string& filename) const;
  std::filesystem::path find(Element& e, const std::string& filename) const;

  std::vector<std::filesystem::path> folders_;
  std::filesystem::path directory_;
  FindFile there_;
  std::optional<std::string> meshdir_;
  bool strippath_ = true;
  std::vector<std::pair<std::string, std::string>> known_;  // file and scale -> name
};

}  // namespace stiction::model
