// Mass, centre of mass and inertia of primitives and of their unions.
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

// Returns the mass properties of a primitive in its own frame. `size` as in Model::geom_size; `mass` (kg) takes
// precedence over `density` (kg/m³, for a shell kg/m²). shell: the mass is on the surface (shellinertia).
// Planes and height fields have no mass. Throws ModelError on a mesh.
MassProperties primitive_mass(GeomType type, const Vec3& size, std::optional<double> mass,
                              double density, bool shell = false);

// Returns the same part in a parent frame in which its own frame is at (pos, quat).
MassProperties placed(const MassProperties& part, const Vec3& pos, const Quat& quat);

// Returns the rigid union of parts given in one frame. If all are massless: zero mass, com and inertia.
MassProperties sum(std::span<const MassProperties> parts);

struct Principal {
  Vec3 moments;  // descending, as in MuJoCo
  Quat axes;     // proper rotation: inertia = R diag(moments) Rᵀ; identity if already in order
};
Principal principal_axes(const Mat3& inertia);

// Returns "" if the moments can belong to a rigid body: finite, positive, A + B >= C; otherwise a
// sentence that says what is wrong with them.
std::string inertia_problem(const Vec3& moments);

}  // namespace stiction::model
