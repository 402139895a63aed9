#include "model/xml/xml.h"

#include <tinyxml2.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "model/xml/asset_paths.h"
#include "stiction/error.h"
#include "stiction/text.h"

namespace stiction::model {
namespace {

namespace fs = std::filesystem;

// Returns the offset of the first byte that is not UTF-8 (or is a NUL), or npos.
std::size_t first_bad_byte(const std::string& s) {
  for (std::size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    const std::size_t n = c < 0x80             ? 1
                          : (c & 0xe0) == 0xc0 ? 2
                          : (c & 0xf0) == 0xe0 ? 3
                          : (c & 0xf8) == 0xf0 ? 4
                                               : 0;
    if (c == 0 || n == 0 || i + n > s.size()) return i;
    for (std::size_t k = 1; k < n; ++k) {
      if ((static_cast<unsigned char>(s[i + k]) & 0xc0) != 0x80) return i;
    }
    i += n;
  }
  return std::string::npos;
}

// Returns the line of the first tag with too many attributes, or 0. Searched before parsing, since tinyxml2
// compares every attribute of an element with all earlier ones.
std::ptrdiff_t crowded_tag(const std::string& s) {
  std::size_t i = s.find('<');
  while (i != s.npos) {
    if (s.compare(i, 4, "<!--") == 0) {
      i = s.find("-->", i);
    } else {
      int attributes = 0;
      for (++i; i < s.size() && s[i] != '>'; ++i) {
        if (s[i] != '"' && s[i] != '\'') continue;
        i = s.find(s[i], i + 1);
        if (i == s.npos) return 0;  // an open quote: the parser reports it
        if (++attributes > kMaxAttributes) {
          return 1 + std::count(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(i), '\n');
        }
      }
    }
    if (i != s.npos) i = s.find('<', i);
  }
  return 0;
}

std::string read_bytes(const fs::path& path, const std::string& shown_as) {
  std::error_code ec;
  const std::string name = visible(shown_as);
  if (!fs::exists(path, ec)) throw ModelError(name + ": file not found; check the path");
  if (!fs::is_regular_file(path, ec)) throw ModelError(name + ": is not a regular file");
  const auto bytes = fs::file_size(path, ec);
  if (ec) throw ModelError(name + ": can't be read: " + ec.message());
  if (bytes > kMaxFileBytes) {
    throw ModelError(name + ": " + std::to_string(bytes) + " bytes; the limit is " +
                     std::to_string(kMaxFileBytes));
  }
  std::ifstream in(path, std::ios::binary);
  std::string content(bytes, '\0');
  in.read(content.data(), static_cast<std::streamsize>(bytes));
  if (!in) throw ModelError(name + ": can't be read; check its permissions");
  return content;
}

}  // namespace

bool Disk::has(const fs::path& path) const {
  if (known_ != nullptr) return known_->count(path.string()) > 0;
  std::error_code ec;
  if (!fs::exists(path, ec)) return false;
  if (notes_ != nullptr) notes_->try_emplace(path.string());
  return true;
}

std::string Disk::read(const fs::path& path, const std::string& shown_as) const {
  if (known_ == nullptr) {
    std::string content = read_bytes(path, shown_as);
    if (notes_ != nullptr) (*notes_)[path.string()] = content;
    return content;
  }
  const auto found = known_->find(path.string());
  if (found == known_->end()) throw ModelError(visible(shown_as) + ": not among the files given");
  return found->second;
}

namespace {

// Converts tinyxml2's tree to ours, file by file.
class Splicer {
 public:
  Splicer(Document& doc, const Assets& assets, const Disk& disk)
      : doc_(doc), assets_(assets), disk_(disk) {}

  void file(const fs::path& path, const std::string& shown_as, Element& root) {
    std::error_code ec;
    const fs::path canonical = fs::weakly_canonical(path, ec);
    seen_.insert(ec ? path.string() : canonical.string());
    content(disk_.read(path, shown_as), shown_as, path.parent_path(), 0, root);
  }

  void content(const std::string& xml, const std::string& shown_as, const fs::path& directory,
               int depth, Element& root) {
    if (doc_.files.empty()) main_directory_ = directory;
    doc_.files.push_back(shown_as);
    const std::string& file = doc_.files.back();
    if (xml.size() > kMaxFileBytes) {
      throw ModelError(visible(file) + ": " + std::to_string(xml.size()) + " bytes; the limit is " +
                       std::to_string(kMaxFileBytes));
    }
    if (const std::size_t bad = first_bad_byte(xml); bad != std::string::npos) {
      const auto line = 1 + std::count(xml.begin(), xml.begin() + static_cast<long>(bad), '\n');
      throw ModelError(visible(file) + ":" + std::to_string(line) + ": byte " +
                       std::to_string(bad) + " is not UTF-8; save the file as UTF-8");
    }
    if (const auto line = crowded_tag(xml); line > 0) {
      throw ModelError(visible(file) + ":" + std::to_string(line) + ": an element with more than " +
                       std::to_string(kMaxAttributes) + " attributes; no MJCF element has as many");
    }
    tinyxml2::XMLDocument parsed;
    if (parsed.Parse(xml.data(), xml.size()) != tinyxml2::XML_SUCCESS) syntax_error(parsed, file);
    for (const auto* n = parsed.FirstChild(); n; n = n->NextSibling()) {
      if (n->ToUnknown()) {
        throw ModelError(visible(file) + ":" + std::to_string(n->GetLineNum()) +
                         ": document type declarations and entities are not accepted; remove them");
      }
    }
    const auto* top = parsed.RootElement();
    if (!top) throw ModelError(visible(file) + ":1: no XML element; expected <mujoco>");
    if (top->NextSiblingElement()) {
      throw ModelError(visible(file) + ":" +
                       std::to_string(top->NextSiblingElement()->GetLineNum()) +
                       ": second top-level element <" + shown(top->NextSiblingElement()->Name()) +
                       ">; wrap all in one <mujoco>");
    }
    copy(*top, file, directory, depth, root);
  }

 private:
  [[noreturn]] static void syntax_error(const tinyxml2::XMLDocument& parsed,
                                        const std::string& file) {
    const std::string at =
        visible(file) + ":" + std::to_string(std::max(1, parsed.ErrorLineNum())) + ": ";
    switch (parsed.ErrorID()) {
      case tinyxml2::XML_ERROR_EMPTY_DOCUMENT:
        throw ModelError(at + "no XML element; expected <mujoco>");
      case tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED:
        throw ModelError(at + "elements are nested too deep; the limit of one file is " +
                         std::to_string(TINYXML2_MAX_ELEMENT_DEPTH) +
                         ": move the inner bodies to an included file");
      default:
        throw ModelError(at + "not well-formed XML (" +
                         tinyxml2::XMLDocument::ErrorIDToName(parsed.ErrorID()) +
                         "); check quotes, brackets and closing tags near this line");
    }
  }

  void copy(const tinyxml2::XMLElement& from, const std::string& file, const fs::path& directory,
            int depth, Element& to) {
    to.name = from.Name();
    to.file = &file;
    to.line = from.GetLineNum();
    if (++count_ > kMaxElements) {
      fail(to, "more than " + std::to_string(kMaxElements) + " elements; split the model");
    }
    if (depth > kMaxDepth) {
      fail(to, "elements are nested too deep; the limit is " + std::to_string(kMaxDepth));
    }
    for (const auto* a = from.FirstAttribute(); a; a = a->Next()) {
      if (to.has(a->Name())) fail(to, a->Name(), "given twice; remove one");
      to.attributes.push_back({a->Name(), a->Value(), false, {}});
    }
    for (const auto* n = from.FirstChild(); n; n = n->NextSibling()) {
      if (const auto* t = n->ToText()) {
        doc_.remarks.push_back({Use::ignored, false, file, t->GetLineNum(), shown(from.Name()), "",
                                shown(t->Value()), "text is not read: MJCF has attributes only"});
      }
      const auto* child = n->ToElement();
      if (!child) continue;
      if (std::string_view(child->Name()) == "include") {
        splice(*child, file, directory, depth, to);
      } else {
        copy(*child, file, directory, depth + 1, to.children.emplace_back());
      }
    }
  }

  // Replaces <include file="x"/> by the children of the top element of x.
  void splice(const tinyxml2::XMLElement& include, const std::string& file,
              const fs::path& directory, int depth, Element& parent) {
    Element at;
    at.name = "include";
    at.file = &file;
    at.line = include.GetLineNum();
    for (const auto* a = include.FirstAttribute(); a; a = a->Next()) {
      at.attributes.push_back({a->Name(), a->Value(), false, {}});
      if (std::string_view(a->Name()) != "file" && std::string_view(a->Name()) != "prefix") {
        fail(at, a->Name(), "unknown attribute of <include>; remove it");
      }
    }
    if (at.has("prefix")) fail(at, "prefix", "prefixed includes can't be read; rename in the file");
    const std::string name = required_text(at, "file");
    if (include.FirstChildElement()) fail(at, "an include has no children; close it with />");

    if (++chain_ > kMaxIncludes) {
      fail(at, "file",
           "more than " + std::to_string(kMaxIncludes) +
               " files include each other in a chain; include them side by side");
    }
    const FoundFile found = find_file(at, name, directory, main_directory_, assets_, disk_);
    const fs::path& path = found.path;
    const auto* asset = found.asset;
    if (!seen_.insert(found.identity()).second) {
      fail(at, "file", "the file is already included (a cycle or a repetition); include it once");
    }
    Element top;
    try {
      content(asset ? asset->second : disk_.read(path, path.string()), asset ? name : path.string(),
              path.parent_path(), depth, top);
    } catch (const ModelError& e) {
      constexpr int kShown = 3;  // of a long chain the innermost files
      if (++blamed_ > kShown) throw;
      throw ModelError(std::string(e.what()) + "\n  included from " + where(at));
    }
    --chain_;
    for (auto& c : top.children) parent.children.push_back(std::move(c));
  }

  Document& doc_;
  const Assets& assets_;
  const Disk& disk_;
  fs::path main_directory_;
  std::set<std::string> seen_;
  int count_ = 0;
  int chain_ = 0;   // files on the path of includes to the current one
  int blamed_ = 0;  // number of them named in an error
};

}  // namespace

const Assets::value_type* find_asset(const Assets& assets, const std::string& directory,
                                     const std::string& file) {
  if (assets.empty()) return nullptr;
  const fs::path path(file);
  for (const fs::path& name :
       {path, path.lexically_normal(), (fs::path(directory) / path).lexically_normal()}) {
    const auto it = assets.find(name.generic_string());
    if (it != assets.end()) return &*it;
  }
  const Assets::value_type* found = nullptr;
  for (const auto& asset : assets) {
    if (fs::path(asset.first).filename() != path.filename()) continue;
    if (found) return nullptr;  // two of this name: only their paths distinguish them
    found = &asset;
  }
  return found;
}

std::string FoundFile::identity() const {
  std::error_code ec;
  return asset ? "asset " + asset->first : fs::weakly_canonical(path, ec).string();
}

FoundFile find_file(const Element& at, const std::string& name, const fs::path& directory,
                    const fs::path& main_directory, const Assets& assets, const Disk& disk) {
  const std::string file = with_slashes(name);
  FoundFile found{directory / file, find_asset(assets, directory.string(), file)};
  if (!found.asset && !disk.has(found.path)) found.path = main_directory / file;
  if (!found.asset && !disk.has(found.path))
    fail(at, "file",
         "file not found: " + whole_paths({directory / file, main_directory / file}) +
             (assets.empty() ? "" : ", nor among the assets") + "; check the path");
  return found;
}

Document parse_found(const FoundFile& file, const Assets& assets, const Disk& disk) {
  if (!file.asset) return parse_file(file.path.string(), assets, disk);
  Document doc;
  const fs::path name(file.asset->first);
  Splicer(doc, assets, disk)
      .content(file.asset->second, name.string(), name.parent_path(), 0, doc.root);
  return doc;
}

Document parse_file(const std::string& path, const Assets& assets, const Disk& disk) {
  Document doc;
  Splicer(doc, assets, disk).file(path, path, doc.root);
  return doc;
}

Document parse_string(const std::string& xml, const std::string& directory, const Assets& assets,
                      const Disk& disk) {
  Document doc;
  Splicer(doc, assets, disk).content(xml, "<string>", directory, 0, doc.root);
  return doc;
}

}  // namespace stiction::model
