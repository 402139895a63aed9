// Mass, centre of mass and inertia of primitives and of their sums.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "math.h"
#include "stiction/types.h"

namespace stiction::model {

// Inertia about the centre of mass, in the axes of the frame in which `com` is given.
struct MassProperties {
  double mass = 0;              // kg
  Vec3 com = Vec3::Zero();      // m
  Mat3 inertia = Mat3::Zero();  // kg m²
};

// Mass properties of a primitive in its own frame. `size` as in Model::geom_size; `mass` (kg) wins
// over `density` (kg/m³, of a shell kg/m²). shell: the mass sits on the surface (shellinertia).
// Plane and height field weigh nothing. Throws ModelError on a mesh.
MassProperties primitive_mass(GeomType type, const Vec3& size, std::optional<double> mass,
                              double density, bool shell = false);

// The same part seen from a parent frame in which its own frame sits at (pos, quat).
MassProperties placed(const MassProperties& part, const Vec3& pos, const Quat& quat);

// Rigid union of parts given in one frame. All massless: zero mass, com and inertia.
MassProperties sum(std::span<const MassProperties> parts);

struct Principal {
  Vec3 moments;  // descending, as MuJoCo
  Quat axes;     // proper rotation: inertia = R diag(moments) Rᵀ; identity if already in order
};
Principal principal_axes(const Mat3& inertia);

// "" if the moments can belong to a rigid body: finite, positive, A + B >= C; otherwise the
// sentence that says what is wrong with them.
std::string inertia_problem(const Vec3& moments);

}  // namespace stiction::model
