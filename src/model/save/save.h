// Saves a model as one MJCF text and the files that it names, whatever format it was read from.
#pragma once

#include <functional>
#include <map>

#include "model/xml/asset_paths.h"
#include "stiction/load.h"

namespace stiction::model {

// Returns the content of a file at a place where it may be, or nothing.
using ReadFile = std::function<std::optional<std::string>(const AssetPath&)>;
// Returns the document of the file that an <asset><model> of a file in a directory names, and its own directory.
using OpenModel = std::function<std::pair<Document, std::string>(
    const Element&, const std::string& name, const std::string& directory)>;

// Writes elements of MJCF with all files that they name under unique bare names. Drops compiler settings of paths.
class Saver {
 public:
  // placeholders: replaces a missing file, so that the model can be drawn: by a tetrahedron of a millimetre for a mesh,
  // a flat field, a grey texture. Otherwise a missing file throws ModelError with the line that names it.
  Saver(ReadFile read, OpenModel open, bool placeholders)
      : read_(std::move(read)), open_(std::move(open)), placeholders_(placeholders) {}

  // Returns the text of a tree. `directory`: that of the file it comes from.
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
  // Chooses a name that differs from the others not only in case, as MuJoCo requires.
  std::string add(const std::filesystem::path& name, std::string content);

  ReadFile read_;
  OpenModel open_;
  bool placeholders_;
  Assets files_;
  std::map<std::string, std::string> names_;  // names of files_ by their lower case forms
  int depth_ = 0;                             // nesting of models that attach each other
};

// Returns the text of a tree, indented by two spaces per level.
std::string written(const Element& root);

// Applies edits made to a model after loading. Throws ArgumentError on edits that MJCF cannot express.
void apply(const ModelEdits& edits, Element& root);

}  // namespace stiction::model
