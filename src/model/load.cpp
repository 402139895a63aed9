// load_model: parse, read, refuse what can't be simulated, build.
#include <algorithm>

#include "model/build.h"
#include "model/read.h"
#include "model/schema.h"
#include "stiction/error.h"
#include "stiction/text.h"

namespace stiction {
namespace {

constexpr int kRefusalsShown = 10;
constexpr int kMaxGeoms = 16'384;  // pairs grow with the square
constexpr int kMaxDofs = 2048;
constexpr int kMaxTreeDofs = 512;  // the inertia of a tree is dense, work grows with the cube

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

void refuse_missing_colliders(const LoadReport& report, const std::string& file) {
  if (report.pairs_without_collider.empty()) return;
  const auto& p = report.pairs_without_collider.front();
  throw ModelError(file + ": " + std::to_string(report.pairs_without_collider.size()) +
                   " geom pairs have no collider (strict), the first: " + p.type1 + " " + p.name1 +
                   " and " + p.type2 + " " + p.name2 +
                   "; replace the shapes or exclude the bodies");
}

// Degrees of freedom of the largest tree; the world's children are the roots.
int largest_tree(const model::Spec& spec) {
  std::vector<int> root(spec.bodies.size()), dofs(spec.bodies.size());
  for (std::size_t i = 1; i < spec.bodies.size(); ++i) {
    const auto parent = static_cast<std::size_t>(spec.bodies[i].parent);
    root[i] = parent == 0 ? static_cast<int>(i) : root[parent];
    for (const auto& j : spec.bodies[i].joints) {
      dofs[static_cast<std::size_t>(root[i])] += model::dof_count(j.type);
    }
  }
  return *std::max_element(dofs.begin(), dofs.end());
}

ModelPtr load(model::Document& doc, const std::string& path, LoadReport* out,
              const LoadOptions& options) {
  const std::string file = visible(doc.files.front());
  model::Spec spec = model::read_mjcf(doc.root);
  model::mark_unsupported(spec);

  LoadReport report;
  model::collect(doc.root, report);
  if (options.strict) apply_strict(report);
  if (out) *out = report;
  throw_refusals(report, file);

  const auto m = std::make_shared<Model>();
  m->file = path;
  try {
    model::build_tree(spec, *m);
    limit("geoms", m->ngeom, kMaxGeoms);
    limit("degrees of freedom", m->nv, kMaxDofs);
    limit("degrees of freedom in one tree of bodies", largest_tree(spec), kMaxTreeDofs);
    model::build_rest(spec, *m, report);
  } catch (const ModelError& e) {
    // messages of the numeric stages know no file
    if (std::string_view(e.what()).starts_with(file)) throw;
    const std::string what = e.what();
    throw ModelError(file + (what.starts_with(": ") ? "" : ": ") + what);
  }
  if (out) *out = report;
  if (options.strict) refuse_missing_colliders(report, file);
  return m;
}

}  // namespace

ModelPtr load_model(const std::string& path, LoadReport* report, const LoadOptions& options) {
  auto doc = model::parse_file(path);
  return load(doc, path, report, options);
}

ModelPtr load_model_from_string(const std::string& xml, LoadReport* report,
                                const LoadOptions& options, const std::string& directory) {
  auto doc = model::parse_string(xml, directory);
  return load(doc, "", report, options);
}

}  // namespace stiction
