// Converts the contents of the file to the arrays of a Model.
#pragma once

#include <map>
#include <set>

#include "model/spec/specs.h"
#include "stiction/model.h"
#include "stiction/report.h"

namespace stiction::model {

struct AssetFiles;

template <class T>
void append(Reals& to, const T& values) {
  to.insert(to.end(), values.begin(), values.end());
}
inline void append(Reals& to, const Vec3& v) {
  to.insert(to.end(), v.data(), v.data() + 3);
}
inline void append(Reals& to, const Quat& q) {
  to.insert(to.end(), {q.w(), q.x(), q.y(), q.z()});
}

// Refuses what is known only once the whole file is read: masses of meshes.
void mark_unsupported(Spec& spec, const AssetFiles& files);

// Returns the index of a mesh or height field by its name; -1: none.
template <class S>
int asset_id(const std::vector<S>& assets, const std::string& name) {
  for (std::size_t i = 0; i < assets.size(); ++i) {
    if (assets[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

// Builds bodies, inertias, joints, geoms, sites, tendons.
void build_tree(Spec& spec, Model& m);
// Builds actuators, keyframes, sensors, excludes and pairs; runs derive() and build_pairs().
void build_rest(const Spec& spec, Model& m, LoadReport& report);

// Returns the ids of all nonempty names.
using Index = std::map<std::string, int, std::less<>>;
Index index_of(const Names& names);

// build_actuators.cpp: before derive(), values as written, and armature; after it, damping and what follows from the
// inertia at qpos0.
void build_actuators(const Spec& spec, Model& m);
void resolve_actuators(const Spec& spec, Model& m);

// build_tendons.cpp: the tendons; their lengths at qpos0, and at qpos_spring if a spring needs that.
void add_tendons(const Spec& spec, Model& m);
void measure_tendons(Model& m);
// Returns the joints on which its length may depend.
std::set<int> tendon_joints(const Model& m, int t);

// build_sensors.cpp: the sensors that are evaluated, with their addresses in sensordata.
void build_sensors(const Spec& spec, Model& m);

// build_muscles.cpp: after derive(); accelerations of the actuators at qpos0, peak forces and ranges of muscles
void resolve_muscles(const Spec& spec, Model& m);

// build_equalities.cpp: after derive()
void build_equalities(const Spec& spec, Model& m);

// build_inertia.cpp: mass, centre of mass and principal moments of every body, checked.
struct BodyInertia {
  double mass = 0;
  Vec3 pos = Vec3::Zero(), moments = Vec3::Zero();
  Quat quat = Quat::Identity();
};
std::vector<BodyInertia> body_inertias(const Spec& spec);
// Returns the geoms that give a body its mass; empty if <inertial> does.
std::vector<const GeomSpec*> weighing_geoms(const Spec& spec, const BodySpec& body);

}  // namespace stiction::model
