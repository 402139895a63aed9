// A model as one MJCF text and the files that it names, whatever it was read from.
#pragma once

#include <functional>
#include <map>

#include "model/xml/asset_paths.h"
#include "stiction/load.h"

namespace stiction::model {

// The content of a file at a place where it may be, or none.
using ReadFile = std::function<std::optional<std::string>(const AssetPath&)>;
// The document of the file that an <asset><model> of a file in a directory names, and its own directory.
using OpenModel = std::function<std::pair<Document, std::string>(
    const Element&, const std::string& name, const std::string& directory)>;

// Writes elements of MJCF with all files that they name under bare names of their own. Compiler settings of paths are gone.
class Saver {
 public:
  // placeholders: what stands for a file that is not there, so that the model can be drawn: a tetrahedron of a millimetre for a
  // mesh, a flat field, a grey texture. Otherwise such a file throws ModelError with the line that names it.
  Saver(ReadFile read, OpenModel open, bool placeholders)
      : read_(std::move(read)), open_(std::move(open)), placeholders_(placeholders) {}

  // The text of a tree. `directory`: of the file that it comes from.
  std::string text(Element root, const std::string& directory);
  Assets files() && { return std::move(files_); }

 private:
  struct Folders {
    AssetFolder meshes, textures;
  };
  static Folders take_folders(Element& root, const std::string& directory);  // from its <compiler>
  void section(Element& asset, const Folders& folders);
  void keep_file(Element& e, const char* attribute, const AssetFolder& folder);
  static void replace_missing(Element& e, std::string_view attribute);
  // Under a name that differs from the others by more than capital letters, as MuJoCo wants it.
  std::string add(const std::filesystem::path& name, std::string content);

  ReadFile read_;
  OpenModel open_;
  bool placeholders_;
  Assets files_;
  std::map<std::string, std::string> names_;  // of files_, by themselves in small letters
  int depth_ = 0;                             // of models that attach each other
};

// The text of a tree, two spaces a level.
std::string written(const Element& root);

// What became of a model after it was loaded. Throws ArgumentError on what MJCF cannot say.
void apply(const ModelEdits& edits, Element& root);

}  // namespace stiction::model
