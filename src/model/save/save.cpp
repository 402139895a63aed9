#include "model/save/save.h"

#include <algorithm>

#include "model/attach/assemble.h"
#include "stiction/error.h"

namespace stiction::model {
namespace {

namespace fs = std::filesystem;

void escape(const std::string& value, std::string& out) {
  for (const char c : value) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\n': out += "&#10;"; break;
      case '\r': out += "&#13;"; break;
      case '\t': out += "&#9;"; break;
      default: out += c;
    }
  }
}

void write(const Element& e, int level, std::string& out) {
  out.append(static_cast<std::size_t>(2 * level), ' ');
  out += '<' + e.name;
  for (const Attribute& a : e.attributes) {
    out += ' ' + a.name + "=\"";
    escape(a.value, out);
    out += '"';
  }
  if (e.children.empty()) {
    out += "/>\n";
    return;
  }
  out += ">\n";
  for (const Element& child : e.children) write(child, level + 1, out);
  out.append(static_cast<std::size_t>(2 * level), ' ');
  out += "</" + e.name + ">\n";
}

// Returns the value of an attribute, without marking it as read.
std::optional<std::string> value_of(const Element& e, std::string_view attribute) {
  for (const Attribute& a : e.attributes)
    if (a.name == attribute) return a.value;
  return {};
}

void replace_attribute(Element& e, const char* name, std::string value) {
  std::erase_if(e.attributes, [&](const Attribute& a) { return a.name == name; });
  set_attribute(e, name, std::move(value));
}

}  // namespace

std::string written(const Element& root) {
  std::string out;
  write(root, 0, out);
  return out;
}

Saver::Folders Saver::take_folders(Element& root, const std::string& directory) {
  Folders f;
  f.meshes.directory = f.textures.directory = directory;
  for (Element& e : root.children) {
    if (e.name != "compiler") continue;
    if (const auto v = value_of(e, "assetdir")) f.meshes.folder = f.textures.folder = *v;
    if (const auto v = value_of(e, "meshdir")) f.meshes.folder = *v;
    if (const auto v = value_of(e, "texturedir")) f.textures.folder = *v;
    if (const auto v = value_of(e, "strippath"))
      f.meshes.strippath = f.textures.strippath = *v == "true";
    std::erase_if(e.attributes, [](const Attribute& a) {
      return a.name == "assetdir" || a.name == "meshdir" || a.name == "texturedir" ||
             a.name == "strippath";
    });
  }
  return f;
}

std::string Saver::text(Element root, const std::string& directory) {
  if (++depth_ > kMaxModels)
    throw ModelError("models attach each other in a circle, or in a chain that is too long");
  const Folders folders = take_folders(root, directory);
  for (Element& e : root.children)
    if (e.name == "asset" || e.name == "deformable") section(e, folders);
  --depth_;
  return written(root);
}

void Saver::section(Element& asset, const Folders& folders) {
  for (Element& e : asset.children) {
    if (e.name == "mesh" || e.name == "hfield" || e.name == "skin") {
      keep_file(e, "file", folders.meshes);
    } else if (e.name == "texture") {
      for (const char* side :
           {"file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback"})
        keep_file(e, side, folders.textures);
    } else if (e.name == "model") {
      if (const auto file = value_of(e, "file")) {
        auto [document, directory] = open_(e, *file, folders.meshes.directory);
        const std::string inner = text(std::move(document.root), directory);
        replace_attribute(e, "file", add(fs::path(stem(*file) + ".xml"), inner));
      }
    }
  }
}

void Saver::keep_file(Element& e, const char* attribute, const AssetFolder& folder) {
  const auto file = value_of(e, attribute);
  if (!file || file->empty()) return;
  const std::vector<AssetPath> places = asset_paths(e, *file, folder);
  std::optional<std::string> content;
  for (const AssetPath& place : places)
    if (!content) content = read_(place);
  if (content || placeholders_) {
    if (!value_of(e, "name") && std::string_view(attribute) == "file")
      set_attribute(e, "name", stem(*file));
  }
  if (content) {
    replace_attribute(e, attribute, add(places.front().relative.filename(), *std::move(content)));
  } else if (placeholders_) {
    replace_missing(e, attribute);
  } else {
    std::vector<fs::path> looked;
    for (const AssetPath& place : places) looked.push_back(place.path());
    fail(e, attribute, "file not found: " + whole_paths(looked));
  }
}

void Saver::replace_missing(Element& e, std::string_view attribute) {
  std::erase_if(e.attributes, [&](const Attribute& a) {
    return a.name == attribute || a.name == "content_type";
  });
  if (e.name == "mesh") {
    replace_attribute(e, "vertex", "0 0 0  1e-3 0 0  0 1e-3 0  0 0 1e-3");
  } else if (e.name == "hfield") {
    replace_attribute(e, "nrow", "2"), replace_attribute(e, "ncol", "2");
  } else if (e.name == "texture") {
    for (const char* other : {"gridsize", "gridlayout"})
      std::erase_if(e.attributes, [&](const Attribute& a) { return a.name == other; });
    replace_attribute(e, "builtin", "flat"), replace_attribute(e, "rgb1", "0.5 0.5 0.5");
    replace_attribute(e, "width", "8");
    replace_attribute(e, "height", value_of(e, "type").value_or("cube") == "2d" ? "8" : "48");
  }
}

std::string Saver::add(const fs::path& name, std::string content) {
  const std::string bare = name.stem().string(), suffix = name.extension().string();
  const bool is_text = lower_case(name.string()) == "model.xml";  // the name of the text itself
  for (int i = is_text ? 2 : 1;; ++i) {
    const std::string key = bare + (i == 1 ? "" : "_" + std::to_string(i)) + suffix;
    const auto [known, is_new] = names_.try_emplace(lower_case(key), key);
    if (is_new) files_.emplace(key, std::move(content));
    if (is_new || files_.at(known->second) == content) return known->second;
  }
}

}  // namespace stiction::model
