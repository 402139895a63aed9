// load_model: parses, reads, refuses what cannot be simulated, builds.
#include <algorithm>
#include <filesystem>

#include "model/attach/assemble.h"
#include "model/build/build.h"
#include "model/build/hfields.h"
#include "model/build/meshes.h"
#include "model/read/read.h"
#include "model/save/save.h"
#include "model/urdf/urdf.h"
#include "model/xml/schema.h"
#include "stiction/error.h"
#include "stiction/text.h"

namespace stiction {
namespace {

constexpr int kRefusalsShown = 10;
constexpr int kMaxGeoms = 16'384;  // the number of pairs grows with the square
constexpr int kMaxDofs = 2048;
constexpr int kMaxTreeDofs = 512;  // the inertia of a tree is dense, its work grows with the cube
constexpr std::int64_t kMaxTreeWork = 1'000'000'000;  // bodies times dofs squared

void limit(const char* what, int n, int most) {
  if (n <= most) return;
  throw ModelError(std::to_string(n) + " " + what + "; the limit is " + std::to_string(most) +
                   "; split the model");
}

bool physics_ignored(const ReportEntry& e) {
  return e.use == Use::ignored && e.physics;
}

void apply_strict(LoadReport& report) {
  for (auto& e : report.entries) {
    if (!physics_ignored(e)) continue;
    e.use = Use::refused;
    e.note += " (strict: physics must not be ignored)";
  }
}

void throw_refusals(const LoadReport& report, const std::string& file) {
  const int n = report.count(Use::refused);
  if (n == 0) return;
  std::string message = file + ": can't be simulated faithfully, " + std::to_string(n) +
                        (n == 1 ? " refusal:" : " refusals:");
  int shown = 0;
  for (const auto& e : report.entries) {
    if (e.use != Use::refused) continue;
    if (++shown > kRefusalsShown) break;
    message += "\n  " + visible(e.file) + ":" + std::to_string(e.line) + ": <" + e.element + ">";
    if (!e.attribute.empty()) message += " " + e.attribute + "=\"" + e.value + "\"";
    message += ": " + e.note;
  }
  if (n > kRefusalsShown) message += "\n  and " + std::to_string(n - kRefusalsShown) + " more";
  throw ModelError(message);
}

// Throws if the inertia of a tree is too large or takes too long; roots are the children of the world.
void limit_trees(const model::Spec& spec) {
  std::vector<int> root(spec.bodies.size()), dofs(spec.bodies.size()), bodies(spec.bodies.size());
  for (std::size_t i = 1; i < spec.bodies.size(); ++i) {
    const auto parent = static_cast<std::size_t>(spec.bodies[i].parent);
    root[i] = parent == 0 ? static_cast<int>(i) : root[parent];
    ++bodies[static_cast<std::size_t>(root[i])];
    for (const auto& j : spec.bodies[i].joints) {
      dofs[static_cast<std::size_t>(root[i])] += model::dof_count(j.type);
    }
  }
  limit("degrees of freedom in one tree of bodies", *std::max_element(dofs.begin(), dofs.end()),
        kMaxTreeDofs);
  for (std::size_t i = 1; i < spec.bodies.size(); ++i)
    if (std::int64_t{bodies[i]} * dofs[i] * dofs[i] > kMaxTreeWork)
      throw ModelError(std::to_string(bodies[i]) + " bodies in a tree of " +
                       std::to_string(dofs[i]) +
                       " degrees of freedom, whose inertia takes too long: make one body of those "
                       "that do not move against each other");
}

// Returns the assets by their names in the model: given as bytes, else on the disk.
model::AssetFiles asset_files(const model::Spec& spec, const ModelSource& s,
                              const std::string& directory, const model::Disk& disk) {
  const auto places = [&spec, directory](const model::Element& e, const std::string& name) {
    const model::Compiler& c = spec.compiler_of(e);
    return model::asset_paths(e, name,
                              {e.scope == 0 ? directory : c.directory, c.meshdir, c.strippath});
  };
  const auto given = [&s](const model::AssetPath& place) {
    return model::find_asset(s.assets, place.directory.string(), place.relative.generic_string());
  };
  return {[=, &disk](const model::Element& e, const std::string& name) {
            for (const model::AssetPath& place : places(e, name))
              if (given(place) || disk.has(place.path())) return true;
            return false;
          },
          [=, &disk](const model::Element& e, const std::string& name) {
            const auto all = places(e, name);
            for (const model::AssetPath& place : all) {
              const auto* asset = given(place);
              if (!asset) continue;
              const std::size_t bytes = asset->second.size();
              if (bytes > model::kMaxFileBytes)
                throw ModelError(std::to_string(bytes) + " bytes; the limit is " +
                                 std::to_string(model::kMaxFileBytes));
              return asset->second;
            }
            const auto there =
                std::find_if(all.begin(), all.end(),
                             [&](const model::AssetPath& place) { return disk.has(place.path()); });
            const auto path = (there == all.end() ? all.front() : *there).path();
            return disk.read(path, path.string());
          },
          [=](const model::Element& e, const std::string& name) {
            std::vector<std::filesystem::path> paths;
            for (const model::AssetPath& place : places(e, name)) paths.push_back(place.path());
            return model::whole_paths(paths) + (s.assets.empty() ? "" : ", nor among the assets");
          }};
}

// A file as it was written, and its MJCF if it is URDF.
struct Source {
  model::Document document;
  std::optional<model::Element> mjcf;
  model::Assembly assembly;

  model::Element& root() { return mjcf ? *mjcf : document.root; }
};

// Splices includes and converts URDF to MJCF; nothing is attached or replicated yet.
Source parse(const ModelSource& s, const std::string& directory, const model::Disk& disk) {
  Source found{s.path.empty() ? model::parse_string(s.xml, s.directory, s.assets, disk)
                              : model::parse_file(s.path, s.assets, disk),
               {},
               {}};
  if (found.document.root.name != "robot") {
    if (s.urdf != UrdfOptions{})
      throw ModelError(visible(found.document.files.front()) +
                       ": options of URDF are given, but its first element is <" +
                       model::shown(found.document.root.name) + ">, not <robot>");
    model::check_schema(found.document.root);
    return found;
  }
  const auto there = [&](const std::filesystem::path& path) {
    return model::find_asset(s.assets, directory, path.generic_string()) || disk.has(path);
  };
  found.mjcf = model::mjcf_of_urdf(found.document.root, s.urdf, directory, there);
  model::check_schema(*found.mjcf);
  found.document.remarks.clear();  // URDF may have text between its elements
  return found;
}

LoadReport reported(Source& source, const LoadReport& of_building, bool strict) {
  LoadReport report = of_building;
  report.entries = source.document.remarks;
  report.entries.insert(report.entries.end(), source.assembly.remarks.begin(),
                        source.assembly.remarks.end());
  if (source.mjcf)
    model::collect_urdf(source.document.root, *source.mjcf, report);
  else
    model::collect(source.document.root, report);
  report.entries.insert(report.entries.end(), of_building.entries.begin(),
                        of_building.entries.end());
  if (strict) apply_strict(report);
  return report;
}

std::string directory_of(const ModelSource& s) {
  return s.path.empty() ? s.directory : std::filesystem::path(s.path).parent_path().string();
}

ModelPtr load(const ModelSource& s, LoadReport* out, const model::Disk& disk) {
  const std::string directory = directory_of(s);
  Source source = parse(s, directory, disk);
  if (!source.mjcf)
    source.assembly = model::assemble(source.document.root, directory, s.assets, disk);
  const std::string file = visible(source.document.files.front());
  model::Spec spec = model::read_mjcf(source.root(), source.assembly.directories);
  model::add_attached_keys(source.assembly, spec);
  const model::AssetFiles files = asset_files(spec, s, directory, disk);
  model::load_meshes(spec, files);
  model::load_hfields(spec, files);
  model::mark_unsupported(spec, files);

  // what is refused whatever the contacts are; if anything is, also what strict mode refuses so far
  LoadReport report = reported(source, {}, false);
  const bool refused = report.count(Use::refused) > 0;
  if (refused) report = reported(source, {}, s.options.strict);
  if (out) *out = report;
  throw_refusals(report, file);

  LoadReport of_building;
  const auto m = std::make_shared<Model>();
  m->file = s.path;
  try {
    model::build_tree(spec, *m);
    limit("geoms", m->ngeom, kMaxGeoms);
    limit("degrees of freedom", m->nv, kMaxDofs);
    limit_trees(spec);
    model::build_rest(spec, *m, of_building);
  } catch (const ModelError& e) {
    // messages of the numeric stages do not name the file
    if (std::string_view(e.what()).starts_with(file)) throw;
    const std::string what = e.what();
    throw ModelError(file + (what.starts_with(": ") ? "" : ": ") + what);
  }
  model::judge_contacts(spec, *m, of_building);
  report = reported(source, of_building, s.options.strict);
  if (out) *out = report;
  throw_refusals(report, file);
  return m;
}

}  // namespace

ModelPtr load_model(ModelSource& source, LoadReport* report) {
  source.files.clear();
  return load(source, report, model::Disk(&source.files));
}
ModelPtr load_model_again(const ModelSource& source, LoadReport* report) {
  return load(source, report, model::Disk(source.files));
}

SavedModel save_model(const ModelSource& s, const ModelEdits& edits, bool placeholders) {
  // first the files read at loading, then those that loading did not need
  const model::Disk known(s.files), disk;
  const model::Disk& first = s.files.empty() ? disk : known;
  const std::string directory = directory_of(s);
  const auto read = [&](const model::AssetPath& place) -> std::optional<std::string> {
    const std::string path = place.path().string();
    if (const auto* asset =
            model::find_asset(s.assets, place.directory.string(), place.relative.generic_string()))
      return asset->second;
    if (const auto it = s.files.find(path); it != s.files.end() && !it->second.empty())
      return it->second;
    if (!disk.has(path)) return {};
    return disk.read(path, path);
  };
  const auto open = [&](const model::Element& e, const std::string& name,
                        const std::string& below) {
    const model::FoundFile file = model::find_file(e, name, below, below, s.assets, first);
    return std::pair{
        model::parse_found(file, s.assets, first),
        (file.asset ? std::filesystem::path(file.asset->first) : file.path).parent_path().string()};
  };
  Source source = parse(s, directory, first);
  model::apply(edits, source.root());
  model::Saver saver(read, open, placeholders);
  SavedModel saved{saver.text(source.root(), directory), {}};
  saved.files = std::move(saver).files();
  return saved;
}

ModelPtr load_model(const std::string& path, const Assets& assets, LoadReport* report,
                    const LoadOptions& options) {
  if (path.empty()) throw ModelError("the path is empty");
  return load({path, "", "", assets, options, {}, {}}, report, {});
}

ModelPtr load_model_from_string(const std::string& xml, const Assets& assets, LoadReport* report,
                                const LoadOptions& options, const std::string& directory) {
  return load({"", xml, directory, assets, options, {}, {}}, report, {});
}

ModelPtr load_model(const std::string& path, LoadReport* report, const LoadOptions& options) {
  return load_model(path, Assets{}, report, options);
}

ModelPtr load_model_from_string(const std::string& xml, LoadReport* report,
                                const LoadOptions& options, const std::string& directory) {
  return load_model_from_string(xml, Assets{}, report, options, directory);
}

}  // namespace stiction
