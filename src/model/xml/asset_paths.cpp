#include "model/xml/asset_paths.h"

#include <algorithm>
#include <cctype>

#include "stiction/text.h"

namespace stiction::model {

namespace fs = std::filesystem;

std::string with_slashes(std::string path) {
  std::replace(path.begin(), path.end(), '\\', '/');
  return path;
}

std::string lower_case(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return std::tolower(c); });
  return s;
}

std::string whole_paths(const std::vector<fs::path>& places) {
  std::vector<std::string> shown;
  for (const fs::path& place : places) {
    std::error_code ec;
    fs::path whole;
    for (const fs::path& part : fs::absolute(place, ec))
      if (part != ".") whole /= part;
    std::string path = visible((ec ? place : whole).string());
    if (std::find(shown.begin(), shown.end(), path) == shown.end())
      shown.push_back(std::move(path));
  }
  std::string text;
  for (const std::string& path : shown) text += (text.empty() ? "" : ", ") + path;
  return text;
}

std::vector<AssetPath> asset_paths(const Element& e, const std::string& name,
                                   const AssetFolder& where) {
  fs::path file = with_slashes(name);
  if (where.strippath) file = file.filename();
  std::vector<AssetPath> found{{where.directory, fs::path(with_slashes(where.folder)) / file}};
  if (where.folder.empty() && e.file != nullptr) {
    const fs::path beside = fs::path(*e.file).parent_path();
    if (!beside.empty() && beside != found.front().directory) found.push_back({beside, file});
  }
  return found;
}

std::string stem(const std::string& path) {
  const std::size_t slash = path.find_last_of("/\\");
  const std::string file = slash == path.npos ? path : path.substr(slash + 1);
  return file.substr(0, file.rfind('.'));
}

}  // namespace stiction::model
