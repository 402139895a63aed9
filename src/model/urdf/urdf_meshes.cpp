#include "model/urdf/urdf_meshes.h"

#include <algorithm>

#include "stiction/text.h"

namespace stiction::model {
namespace {

namespace fs = std::filesystem;

// Whether `path` stays below `folder`, links followed.
bool inside(const fs::path& path, const fs::path& folder) {
  std::error_code ec;
  const fs::path a = fs::weakly_canonical(path, ec), b = fs::weakly_canonical(folder, ec);
  const auto [end, unused] = std::mismatch(b.begin(), b.end(), a.begin(), a.end());
  return end == b.end();
}

std::string lower_case(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return std::tolower(c); });
  return s;
}

}  // namespace

MeshFinder::MeshFinder(const std::vector<std::string>& search_path, const std::string& directory,
                       FindFile find)
    : folders_(search_path.begin(), search_path.end()),
      directory_(directory),
      there_(std::move(find)) {
  given_ = !folders_.empty();
  if (!given_) folders_.push_back(directory_);
}

void MeshFinder::compiler(const std::optional<std::string>& meshdir,
                          std::optional<bool> strippath) {
  meshdir_ = meshdir;
  strippath_ = strippath.value_or(true);
}

fs::path MeshFinder::find(Element& e, const std::string& filename) const {
  std::string name = filename;
  if (name.starts_with("file://")) name = name.substr(7);
  std::vector<std::pair<fs::path, fs::path>> places;  // path, and the folder that it may not leave
  if (meshdir_) {
    const fs::path bare = strippath_ ? fs::path(name).filename() : fs::path(name);
    places.emplace_back(directory_ / *meshdir_ / bare, directory_);
  }
  constexpr std::string_view kPackage = "package://";
  if (name.starts_with(kPackage)) {
    const fs::path rest = name.substr(kPackage.size());
    const fs::path package = *rest.begin();
    for (const fs::path& f : folders_) {
      places.emplace_back(f / rest, f);
      places.emplace_back(f / rest.lexically_relative(package), f);
    }
    std::error_code ec;
    for (fs::path around = fs::absolute(directory_, ec); around.has_relative_path();
         around = around.parent_path())
      if (around.filename() == package)
        places.emplace_back(around / rest.lexically_relative(package), around);
  } else {
    for (const fs::path& f : folders_) places.emplace_back(f / name, f);
    // robot/urdf/arm.urdf may name ../meshes/arm.stl
    std::error_code ec;
    if (!given_ && name.starts_with("../"))
      places.emplace_back(directory_ / name,
                          fs::absolute(directory_, ec).lexically_normal().parent_path());
  }
  places.emplace_back(directory_ / fs::path(name).filename(), directory_);  // as MuJoCo
  bool left = false;
  for (const auto& [path, folder] : places) {
    if (!inside(path, folder))
      left = true;
    else if (there_(path))
      return path;
  }
  std::string looked;
  for (const fs::path& f : folders_)
    looked += (looked.empty() ? "\"" : "\", \"") + visible(f.string());
  fail(e, "filename",
       "file not found; looked in " + looked + "\"" +
           (left ? "; what lies outside of the search path is not read" : "") +
           ". Give the folders of its packages as search_path");
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
  // as a path of MJCF: seen from the folder of the file
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
