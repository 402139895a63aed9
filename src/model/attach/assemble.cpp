#include "model/attach/assemble.h"

#include <algorithm>
#include <iterator>
#include <list>

#include "model/read/read.h"
#include "model/read/references.h"
#include "model/xml/elements.h"
#include "model/xml/schema.h"
#include "stiction/error.h"

namespace stiction::model {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxOpened = 1000;  // models opened in total, counting repetitions
// Elements examined in total to copy others: those that refer to them and those that have a name.
constexpr std::int64_t kMaxLooks = 20'000'000;

bool stands_for_others(const Element& e) {
  return e.name == "replicate" || e.name == "attach";
}

bool needs_assembly(const Element& e) {
  return stands_for_others(e) || std::any_of(e.children.begin(), e.children.end(), needs_assembly);
}

// 7 of 10 is "07": MuJoCo's suffixes have as many digits as the count.
std::string number_of(int i, int count) {
  const std::string digits = std::to_string(i);
  return std::string(std::to_string(count).size() - digits.size(), '0') + digits;
}

// A model ready to be attached: read, its own parts assembled.
struct Attachable {
  Element* root = nullptr;
  int scope = 0;                          // of its own elements here
  std::shared_ptr<const KeySource> keys;  // null: no keyframes
  std::set<std::string> prefixes;         // prefixes under which its classes and assets are copied
};

class Assembler {
 public:
  Assembler(Element& root, const std::string& directory, const Assets& assets, const Disk& disk,
            std::vector<std::string> chain, int& opened)
      : root_(root),
        directory_(directory),
        assets_(assets),
        disk_(disk),
        chain_(std::move(chain)),
        opened_(opened) {}

  Assembly run() {
    for (Element& e : root_.children)
      if (e.name == "compiler") read_compiler(e, compiler_);
    count_ = count(root_);
    take_relations();
    names_["body"].insert("world");
    for (Element& e : root_.children)
      if (e.name == "worldbody") walk(e);
    std::move(sections_.begin(), sections_.end(), std::back_inserter(root_.children));
    std::move(inner_.begin(), inner_.end(), std::back_inserter(made_.documents));
    return std::move(made_);
  }

 private:
  static bool is_relation(const std::string& section) {
    return std::find(std::begin(kRelations), std::end(kRelations), section) != std::end(kRelations);
  }

  // The sections of relations are taken out before the tree: each copy of a part of the tree copies what refers to it.
  void take_relations() {
    auto& all = root_.children;
    const auto first = std::stable_partition(all.begin(), all.end(),
                                             [](const Element& e) { return !is_relation(e.name); });
    std::move(first, all.end(), std::back_inserter(sections_));
    all.erase(first, all.end());
    for (const Element& section : sections_)
      for (const Element& e : section.children) add_relation_name(e, section.name);
  }

  void add_relation_name(const Element& e, const std::string& section) {
    const std::string kind = kind_of(e, section);
    for (const Attribute& a : e.attributes)
      if (!kind.empty() && a.name == "name" && !a.value.empty()) names_[kind].insert(a.value);
  }

  void walk(Element& parent) {
    for (Element& e : parent.children) {
      if (e.name == "replicate") {
        replicate(e);
      } else if (e.name == "attach") {
        attach(e);
      } else {
        for (const Attribute& a : e.attributes)
          if (a.name == "name" && !a.value.empty()) names_[kind_of(e, "worldbody")].insert(a.value);
        if (e.name == "body" || e.name == "frame") walk(e);
      }
    }
  }

  Element& wrap(Element& parent) {
    Element& e = add_child(parent, "frame", parent);
    e.origin = Origin::wrapper;
    e.scope = parent.scope;
    return e;
  }

  void check_count(const Element& asks, std::string_view attribute, std::int64_t more) const {
    if (count_ + more > kMaxElements)
      fail(asks, attribute,
           "makes more than " + std::to_string(kMaxElements) + " elements; ask for less");
  }

  Element copied(const Element& from, const Element& asks, std::string_view attribute) {
    check_count(asks, attribute, count(from));
    count_ += count(from);
    Element e = from;
    each(e, [](Element& x) {
      if (x.origin == Origin::written) x.origin = Origin::copied;
    });
    return e;
  }

  void look(const Element& asks, std::int64_t elements) {
    looks_ += elements;
    if (looks_ > kMaxLooks)
      fail(asks, "repeats too much: copies times elements are more than " +
                     std::to_string(kMaxLooks) +
                     "; write fewer of them, or fewer that refer to others");
  }

  static void refuse_parts_of_a_body(const Element& repeated) {
    for (const Element& part : repeated.children) {
      if (part.name == "joint" || part.name == "freejoint" || part.name == "inertial")
        fail(part, "can't be repeated within its body: put it into a <body>");
      if (part.name == "frame") refuse_parts_of_a_body(part);
    }
  }

  // The i-th copy: rotated by i times euler, moved by the offset in the axes of the preceding copy.
  void replicate(Element& e) {
    const auto n = integer(e, "count");
    if (!n) fail(e, "attribute count is required: how many copies");
    require_nonnegative(e, "count", *n);
    if (*n > kMaxElements) fail(e, "count", "more copies than a model may have elements");
    Vec3 offset = Vec3::Zero(), euler = Vec3::Zero(), pos = Vec3::Zero();
    exactly(e, "offset", kLengthBound, offset);
    exactly(e, "euler", euler);
    const std::string separator = text(e, "sep").value_or("");
    refuse_parts_of_a_body(e);
    walk(e);
    std::vector<Element> parts = std::move(e.children);
    e.children.clear();
    for (const Element& part : parts) check_count(e, "count", std::int64_t{*n} * count(part));
    std::vector<Element*> from = all_of(sections_);
    look(e, count_ + *n * relations(from));
    e.children.reserve(static_cast<std::size_t>(*n));
    for (int i = 0; i < *n; ++i) {
      const Renaming renaming{"", separator + number_of(i, *n), false};
      Element& frame = wrap(e);
      set_attribute(frame, "euler",
                    numbers_text(std::array{i * euler[0], i * euler[1], i * euler[2]}));
      Quat quat = Quat::Identity();
      read_orientation(compiler_, frame, quat);
      set_attribute(frame, "pos", numbers_text({pos.data(), 3}));
      pos += quat * offset;
      for (const Element& part : parts) {
        Element& copy = frame.children.emplace_back(copied(part, e, "count"));
        rename_tree(copy, renaming);
        if (i > 0) each(copy, [](Element& x) { x.owner = -1; });  // keyframes move the first copy
      }
      add_names(frame, names_);
      copy_relations(from, renaming, e, i == 0);
    }
    const NameSets before = names_;
    for (const Element& part : parts) remove_names(part, names_);
    drop_relations(before);
  }

  // Copies those that refer to what was copied, or to nothing, in MuJoCo's order; later copies see the new names. The
  // copied sections with elements that refer to nothing are added to `from`: the next copy doubles them.
  void copy_relations(std::vector<Element*>& from, const Renaming& renaming, const Element& asks,
                      bool owned, int owner = -1) {
    std::vector<Element> made;
    for (const char* name : kRelations) {
      Element section;
      for (Element* source : from) {
        if (source->name != name) continue;
        for (Element& e : source->children) {
          if (source->name == "custom" && native_object(e) == std::string::npos) continue;
          if (!may_refer(e, name, renaming, names_)) continue;
          Element copy = e;
          if (renaming.foreign && !copy.has("class") && takes_class(copy.name, name))
            set_attribute(copy, "class", "main");
          if (!rename_relation(copy, name, renaming, names_)) continue;
          repeated_.insert(e.attributes.data());
          copy = copied(copy, asks, "");
          if (!owned) copy.owner = -1;
          if (owner >= 0 && copy.place >= 0) copy.owner = owner;
          add_relation_name(copy, name);
          section.children.push_back(std::move(copy));
        }
      }
      if (section.children.empty()) continue;
      section.name = name, section.file = asks.file, section.line = asks.line,
      section.origin = Origin::wrapper;
      made.push_back(std::move(section));
    }
    for (Element& section : made) {
      auto& all = sections_.emplace_back(std::move(section)).children;
      const auto alone = [&](Element& e) {
        return may_refer(e, sections_.back().name, renaming, {});
      };
      if (std::any_of(all.begin(), all.end(), alone)) from.push_back(&sections_.back());
    }
  }

  static bool takes_class(std::string_view element, std::string_view section) {
    return element != "exclude" && section != "sensor" && section != "custom";
  }

  // Drops elements that refer to a part that exists only in copies. MuJoCo drops them silently.
  void drop_relations(const NameSets& before) {
    for (const char* name : kRelations) {
      for (Element& section : sections_) {
        if (section.name != name) continue;
        std::erase_if(section.children, [&](Element& e) {
          if (!resolves(e, name, before) || resolves(e, name, names_)) return false;
          if (const Attribute* called = e.find("name"); called && !called->value.empty())
            names_[kind_of(e, name)].erase(called->value);
          if (e.origin == Origin::written && !repeated_.contains(e.attributes.data())) dropped(e);
          return true;
        });
      }
    }
  }

  void dropped(const Element& e) {
    made_.remarks.push_back(
        {Use::mapped, false, *e.file, e.line, shown(e.name), "", "",
         "left out, as in MuJoCo: not all that it refers to is inside the replicate"});
  }

  void attach(Element& e) {
    const std::string model = text(e, "model").value_or("");
    const Attribute* given = e.find("prefix");
    if (!given) fail(e, "attribute prefix is required; add prefix=\"...\"");
    const std::string prefix = text(e, "prefix").value_or("");
    const char* kind = e.has("body") ? "body" : e.has("frame") ? "frame" : nullptr;
    const std::string part = kind ? required_text(e, kind) : std::string();
    if (kind && std::string_view(kind) == "body" && e.has("frame"))
      fail(e, "frame", "a body is named, too; keep one of them");
    if (!e.children.empty()) fail(e, "has no elements inside; close it with />");
    if (model.empty()) {
      if (!kind) fail(e, "needs a model, or a body or frame of this one");
      return attach_own(e, kind, part, prefix);
    }
    Attachable& other = attachable(e, model);
    std::vector<Element*> from = all_of(other.root->children);
    look(e, relations(from));
    merge_options(root_, *other.root, e, made_.remarks);
    const Renaming renaming{prefix, "", true};
    int owner = -1;
    if (other.keys) {
      owner = static_cast<int>(made_.keys.size());
      made_.keys.push_back({prefix, other.keys});
    }
    if (other.prefixes.insert(prefix).second) copy_settings(other, renaming, e);
    std::vector<const Element*> parts;
    std::string childclass = "main";
    for (Element& section : other.root->children) {
      if (section.name != "worldbody") continue;
      if (const Attribute* own = section.find("childclass"); own && !kind) childclass = own->value;
      if (!kind) {
        for (const Element& child : section.children) parts.push_back(&child);
      } else if (const Found found = find_part(section, kind, part, "main"); found.element) {
        parts.push_back(found.element);
        childclass = found.childclass;
      }
    }
    if (kind && parts.empty())
      fail(e, kind, "the model \"" + shown(model) + "\" has no " + kind + " of this name");
    Element& frame = wrap(e);
    frame.scope = other.scope;
    set_attribute(frame, "childclass", renaming(childclass));
    put(frame, parts, renaming, e, owner);
    copy_relations(from, renaming, e, true, owner);
  }

  void put(Element& frame, const std::vector<const Element*>& parts, const Renaming& renaming,
           const Element& asks, int owner) {
    frame.children.reserve(parts.size());
    for (const Element* part : parts) {
      Element& copy = frame.children.emplace_back(copied(*part, asks, ""));
      rename_tree(copy, renaming);
      each(copy, [&](Element& x) { x.owner = x.place >= 0 ? owner : -1; });
    }
    add_names(frame, names_);
  }

  // Attaches a copy of a part of this model.
  void attach_own(Element& e, const char* kind, const std::string& part,
                  const std::string& prefix) {
    if (prefix.empty()) fail(e, "prefix", "is empty: the names are those of the part itself");
    std::vector<Element*> from = all_of(sections_);
    look(e, count_ + relations(from));
    Found found;
    if (names_[kind].contains(part))
      for (Element& section : root_.children)
        if (section.name == "worldbody" && !found.element)
          found = find_part(section, kind, part, "main");
    if (!found.element)
      fail(e, kind, "there is no " + std::string(kind) + " of this name before the attach");
    bool inside = false;
    each(*found.element, [&](const Element& x) { inside = inside || &x == &e; });
    if (inside) fail(e, kind, "can't be attached inside itself");
    const Element part_copy = *found.element;  // the frame may be inside of the part
    const Renaming renaming{prefix, "", false};
    Element& frame = wrap(e);
    if (found.childclass != "main") set_attribute(frame, "childclass", found.childclass);
    put(frame, {&part_copy}, renaming, e, -1);
    copy_relations(from, renaming, e, false);
  }

  // Copies classes and assets of an attached model, under its prefix. Its other sections are not copied, as in MuJoCo.
  void copy_settings(const Attachable& other, const Renaming& renaming, const Element& asks) {
    bool classes = false;
    for (const Element& section : other.root->children) {
      if (section.name == "default") {
        Element& copy = sections_.emplace_back(copied(section, asks, ""));
        if (!copy.has("class")) set_attribute(copy, "class", "main");
        each(copy, [&](Element& x) { rename_class(x, renaming); });
        classes = classes || copy.scope == other.scope;
      } else if (section.name == "asset") {
        Element& copy = sections_.emplace_back(copied(section, asks, ""));
        std::erase_if(copy.children,
                      [](const Element& x) { return x.name != "mesh" && x.name != "hfield"; });
        for (Element& x : copy.children) rename_asset(x, renaming);
      } else if (section.name == "custom") {
        for (const Element& x : section.children) general_material(x);
      }
    }
    if (classes) return;
    Element& own = sections_.emplace_back();
    own.name = "default", own.file = asks.file, own.line = asks.line, own.origin = Origin::wrapper;
    own.scope = other.scope;
    set_attribute(own, "class", renaming("main"));
  }

  void general_material(const Element& e) {
    for (const Attribute& a : e.attributes)
      if (a.name == "name" && (a.value == "stiction_contact" || a.value == "stiction_equality"))
        made_.remarks.push_back(
            {Use::ignored, true, *e.file, e.line, shown(e.name), "name", a.value,
             "of an attached model those of single elements are taken: " + a.value + "/NAME"});
  }

  static void rename_class(Element& e, const Renaming& renaming) {
    if (e.name != "default") return;
    if (Attribute* a = e.find("class")) a->value = renaming(a->value);
  }

  static void rename_asset(Element& e, const Renaming& renaming) {
    if (Attribute* a = e.find("name"); a && !a->value.empty())
      a->value = renaming(a->value);
    else if (const Attribute* file = e.find("file"))
      set_attribute(e, "name", renaming(fs::path(file->value).stem().string()));
    if (e.name != "mesh") return;
    if (!e.has("class")) set_attribute(e, "class", "main");
    e.find("class")->value = renaming(e.find("class")->value);
  }

  // Returns the model of an <asset><model>, opened when it is first attached.
  Attachable& attachable(const Element& asks, const std::string& name) {
    const auto [it, is_new] = models_.try_emplace(name);
    if (!is_new) return it->second;
    std::vector<std::string> known;
    for (Element& section : root_.children) {
      if (section.name != "asset") continue;
      for (Element& e : section.children) {
        if (e.name != "model") continue;
        const Attribute* called = e.find("name");
        if (called && called->value != name) {
          known.push_back(called->value);
          continue;
        }
        if (!called && named_in_file(e) != name) continue;
        open(e, it->second);
        return it->second;
      }
    }
    const std::string near = nearest(name, known);
    fail(asks, "model",
         "there is no <model> of this name among the assets" +
             (near.empty() ? std::string() : "; did you mean \"" + near + "\"?"));
  }

  FoundFile file_of(Element& e) {
    return find_file(e, required_text(e, "file"), directory_, directory_, assets_, disk_);
  }

  // A model asset without a name has the name that its file gives.
  std::string named_in_file(Element& e) {
    count_opened(e);
    Document doc = parse_found(file_of(e), assets_, disk_);
    return text(doc.root, "model").value_or("MuJoCo Model");
  }

  void count_opened(const Element& e) {
    if (++opened_ > kMaxOpened)
      fail(e, "file",
           "more than " + std::to_string(kMaxOpened) +
               " models are opened for <attach>, some of them again; name them, and attach each "
               "once");
  }

  void open(Element& e, Attachable& opened) {
    count_opened(e);
    const FoundFile file = file_of(e);
    std::vector<std::string> chain = chain_;
    if (std::find(chain.begin(), chain.end(), file.identity()) != chain.end())
      fail(e, "file", "attaches itself (a cycle); remove one of its <attach>");
    chain.push_back(file.identity());
    if (chain.size() > kMaxModels)
      fail(e, "file",
           "more than " + std::to_string(kMaxModels) + " models attach each other in a chain");
    const std::string directory =
        (file.asset ? fs::path(file.asset->first) : file.path).parent_path().string();
    try {
      made_.documents.push_back(parse_found(file, assets_, disk_));
      Element& root = made_.documents.back().root;
      check_schema(root);
      Assembly inner;
      if (needs_assembly(root))
        inner = Assembler(root, directory, assets_, disk_, chain, opened_).run();
      opened.root = &root;
      take_over(std::move(inner), directory, opened);
    } catch (const ModelError& problem) {
      throw ModelError(std::string(problem.what()) + "\n  attached from " + where(e));
    }
  }

  // Its scopes are appended to those here; then its keyframes are read, from the model alone.
  void take_over(Assembly inner, const std::string& directory, Attachable& opened) {
    Element& root = *opened.root;
    const bool has_keys =
        std::any_of(root.children.begin(), root.children.end(),
                    [](const Element& x) { return x.name == "keyframe" && !x.children.empty(); });
    if (has_keys || !inner.keys.empty()) {
      Spec alone = read_mjcf(root, inner.directories);
      add_attached_keys(inner, alone);
      opened.keys = key_source(alone);
    }
    opened.scope = static_cast<int>(made_.directories.size()) + 1;
    each(root, [&](Element& x) { x.scope += opened.scope; });
    made_.directories.push_back(directory);
    made_.directories.insert(made_.directories.end(), inner.directories.begin(),
                             inner.directories.end());
    for (Document& d : inner.documents) {
      made_.remarks.insert(made_.remarks.end(), d.remarks.begin(), d.remarks.end());
      inner_.push_back(std::move(d));
    }
    made_.remarks.insert(made_.remarks.end(), inner.remarks.begin(), inner.remarks.end());
    for (const Element& section : root.children)
      if (section.name == "compiler") sections_.push_back(section);
  }

  Element& root_;
  const std::string directory_;
  const Assets& assets_;
  const Disk& disk_;
  const std::vector<std::string> chain_;  // chain of attached files up to this one
  Compiler compiler_;
  NameSets names_;
  std::list<Element> sections_;  // relations, and sections that attached models add
  std::map<std::string, Attachable, std::less<>> models_;
  Assembly made_;
  std::deque<Document> inner_;
  std::set<const Attribute*> repeated_;  // first attributes of relations that have a copy
  int count_ = 0;
  std::int64_t looks_ = 0;
  int& opened_;  // number of models opened, by this one and by those that it attaches
};

}  // namespace

Assembly assemble(Element& root, const std::string& directory, const Assets& assets,
                  const Disk& disk) {
  if (!needs_assembly(root)) return {};
  int opened = 0;
  return Assembler(root, directory, assets, disk, {}, opened).run();
}

}  // namespace stiction::model
