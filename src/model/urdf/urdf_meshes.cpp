#include "model/urdf/urdf_meshes.h"

#include <algorithm>

#include "model/xml/asset_paths.h"

namespace stiction::model {
namespace {

namespace fs = std::filesystem;

fs::path whole_path(const fs::path& path) {
  std::error_code ec;
  return fs::absolute(path.empty() ? "." : path, ec);
}

// Returns whether `path` stays below `folder`, with links followed.
bool inside(const fs::path& path, const fs::path& folder) {
  std::error_code ec;
  const fs::path a = fs::weakly_canonical(whole_path(path), ec);
  const fs::path b = fs::weakly_canonical(whole_path(folder), ec);
  const auto [end, unused] = std::mismatch(b.begin(), b.end(), a.begin(), a.end());
  return end == b.end();
}

}  // namespace

MeshFinder::MeshFinder(const std::vector<std::string>& search_path, const std::string& directory,
                       FindFile find)
    : folders_(search_path.begin(), search_path.end()),
      directory_(directory),
      there_(std::move(find)) {
  if (folders_.empty()) folders_.push_back(directory_);
}

void MeshFinder::compiler(const std::optional<std::string>& meshdir,
                          std::optional<bool> strippath) {
  meshdir_ = meshdir;
  strippath_ = strippath.value_or(true);
}

// A candidate path of a mesh, and the folders from which files are read.
struct MeshFinder::Place {
  fs::path path;
  std::vector<fs::path> within;

  bool is_read() const {
    return std::any_of(within.begin(), within.end(),
                       [&](const fs::path& folder) { return inside(path, folder); });
  }
};

std::vector<MeshFinder::Place> MeshFinder::places(const std::string& filename) const {
  std::string name = with_slashes(filename);
  if (name.starts_with("file://")) name = name.substr(7);
  std::vector<Place> found;
  if (meshdir_) {
    const fs::path bare = strippath_ ? fs::path(name).filename() : fs::path(name);
    found.push_back({directory_ / *meshdir_ / bare, {directory_}});
  }
  fs::path own = whole_path(directory_).lexically_normal();
  if (!own.has_filename()) own = own.parent_path();  // "robots/arm/"
  constexpr std::string_view kPackage = "package://";
  if (name.starts_with(kPackage)) {
    const fs::path rest = name.substr(kPackage.size());
    const fs::path package = *rest.begin();
    for (const fs::path& f : folders_) {
      found.push_back({f / rest, {f}});
      found.push_back({f / rest.lexically_relative(package), {f}});
    }
    for (fs::path f = own; f.has_relative_path(); f = f.parent_path())
      if (f.filename() == package) found.push_back({f / rest.lexically_relative(package), {f}});
  } else {
    for (const fs::path& f : folders_) found.push_back({f / name, {f}});
    // robot/urdf/arm.urdf may name ../meshes/arm.stl, and files in the search path
    std::vector<fs::path> within = folders_;
    within.push_back(own.parent_path());
    found.push_back({directory_ / name, std::move(within)});
  }
  found.push_back({directory_ / fs::path(name).filename(), {directory_}});  // as in MuJoCo
  return found;
}

fs::path MeshFinder::find(Element& e, const std::string& filename) const {
  std::vector<fs::path> looked, outside;
  for (const Place& place : places(filename)) {
    if (!place.is_read())
      outside.push_back(place.path);
    else if (there_(place.path))
      return place.path;
    else
      looked.push_back(place.path);
  }
  std::erase_if(outside, [&](const fs::path& path) {
    return std::find(looked.begin(), looked.end(), path) != looked.end();
  });
  fail(e, "filename",
       "file not found: " + whole_paths(looked) +
           (outside.empty() ? ""
                            : "; outside of the search path and the folder around the file's, so "
                              "not read: " +
                                  whole_paths(outside)) +
           "; give the folders of meshes and packages as search_path");
}

std::string MeshFinder::add(Element& e, Element& assets) {
  const std::string filename = required_text(e, "filename");
  const fs::path path = find(e, filename);
  const std::string kind = lower_case(path.extension().string());
  if (kind != ".obj" && kind != ".stl" && kind != ".msh")
    fail(e, "filename", "can't be read; convert it to OBJ or STL, as MeshLab and trimesh do");
  Vec3 scale = Vec3::Ones();
  std::string scaled;
  if (exactly(e, "scale", scale)) scaled = *text(e, "scale");
  // as a path of MJCF: relative to the folder of the file
  fs::path file = directory_.empty() ? path : path.lexically_relative(directory_);
  if (file.empty()) file = fs::absolute(path);
  const std::string key = file.string() + " " + scaled;
  for (const auto& [k, name] : known_)
    if (k == key) return name;
  std::string name = path.stem().string();
  const auto taken = [&](const std::string& n) {
    return std::any_of(known_.begin(), known_.end(), [&](const auto& k) { return k.second == n; });
  };
  for (int i = 2; taken(name); ++i) name = path.stem().string() + "_" + std::to_string(i);
  known_.emplace_back(key, name);
  Element& mesh = add_child(assets, "mesh", e);
  set_attribute(mesh, "name", name), set_attribute(mesh, "file", file.string());
  if (!scaled.empty()) set_attribute(mesh, "scale", scaled);
  return name;
}

}  // namespace stiction::model
