// A mesh as a rigid body: its own frame, in which its inertia is diagonal, its volume and hull.
#pragma once

#include <optional>
#include <string>

#include "model/mesh/mesh_files.h"
#include "stiction/types.h"

namespace stiction::model {

// How volumes are summed. convex: that of the hull; exact: signed; legacy: unsigned, so that faces
// may be flipped; shell: the mass is on the surface.
enum class MeshInertia { convex, exact, legacy, shell };

struct MeshSettings {
  Vec3 refpos = Vec3::Zero(), scale = Vec3::Ones();
  Quat refquat = Quat::Identity();
  MeshInertia inertia = MeshInertia::legacy;
  int maxhullvert = -1;
  bool needs_hull = true;
};

struct MeshShape {
  Vec3 pos = Vec3::Zero();  // its own frame, relative to that of the file
  Quat quat = Quat::Identity();
  double volume = 0;                             // m³; shell: its area, m²
  Vec3 moments = Vec3::Zero();                   // inertia per mass, m², descending
  Vec3 low = Vec3::Zero(), high = Vec3::Zero();  // bounding box of all vertices, own frame
  std::vector<Vec3> hull;                        // vertices of the hull, own frame
  std::vector<std::array<int, 3>> hull_faces;
  bool hollow = false;  // the mesh has faces inside of its hull
};

// Follows MuJoCo's conventions: (v - refpos) rotated back by refquat, then scaled; the origin is the centre of
// mass, the axes are principal axes. Throws ModelError naming what is wrong with the mesh.
MeshShape mesh_shape(Triangles t, const MeshSettings& settings);

// Sizes of a primitive fitted to this mesh, and its centre in the mesh's own frame: by the moments of the
// mesh's equivalent box, or with `aabb` by its bounding box.
struct Fit {
  Vec3 size = Vec3::Zero(), centre = Vec3::Zero();
};
Fit fitted(const MeshShape& mesh, GeomType type, bool aabb);

}  // namespace stiction::model
