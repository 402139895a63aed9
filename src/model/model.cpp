#include "stiction/model.h"

#include <algorithm>

#include "names.h"
#include "stiction/error.h"
#include "stiction/text.h"

namespace stiction {
namespace {

int find(const char* kind, const Names& names, const std::string& wanted) {
  const auto it = wanted.empty() ? names.end() : std::find(names.begin(), names.end(), wanted);
  if (it != names.end()) return static_cast<int>(it - names.begin());
  const std::string hint = nearest_names(names, wanted);
  throw ArgumentError(std::string("no ") + kind + " named '" + visible(wanted) + "'" +
                      (hint.empty() ? "; the model names none" : hint));
}

}  // namespace

int Model::body(const std::string& n) const {
  return find("body", body_names, n);
}
int Model::joint(const std::string& n) const {
  return find("joint", jnt_names, n);
}
int Model::geom(const std::string& n) const {
  return find("geom", geom_names, n);
}
int Model::mesh(const std::string& n) const {
  Names names;
  for (const MeshSpec& s : meshes) names.push_back(s.name);
  return find("mesh", names, n);
}
int Model::hfield(const std::string& n) const {
  Names names;
  for (const HfieldSpec& h : hfields) names.push_back(h.name);
  return find("height field", names, n);
}
int Model::site(const std::string& n) const {
  return find("site", site_names, n);
}
int Model::camera(const std::string& n) const {
  return find("camera", cam_names, n);
}
int Model::actuator(const std::string& n) const {
  return find("actuator", actuator_names, n);
}
int Model::equality(const std::string& n) const {
  return find("equality", eq_names, n);
}
int Model::sensor(const std::string& n) const {
  return find("sensor", sensor_names, n);
}
int Model::key(const std::string& n) const {
  return find("key", key_names, n);
}

}  // namespace stiction
