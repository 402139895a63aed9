// One function per pair of shapes, lower type first; each fills contact_points(a, b) witnesses.
#pragma once

#include <algorithm>
#include <limits>

#include "reference/collision/geometry.h"

namespace stiction::reference::inline STICTION_REAL {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// geometry_plane.cpp
void collide_plane_sphere(const Shape& plane, const Shape& sphere, std::span<Witness> out);
void collide_plane_capsule(const Shape& plane, const Shape& capsule, std::span<Witness> out);
void collide_plane_ellipsoid(const Shape& plane, const Shape& ellipsoid, std::span<Witness> out);
void collide_plane_cylinder(const Shape& plane, const Shape& cylinder, std::span<Witness> out);
void collide_plane_box(const Shape& plane, const Shape& box, std::span<Witness> out);
void collide_plane_mesh(const Shape& plane, const Shape& mesh, std::span<Witness> out);
// geometry_mesh.cpp: the corners of the face towards the plane; returns the deepest vertex.
Witness plane_corners(const Shape& plane, const Shape& mesh, std::span<Witness> out);

// geometry_round.cpp
void collide_sphere_sphere(const Shape& a, const Shape& b, std::span<Witness> out);
void collide_sphere_capsule(const Shape& sphere, const Shape& capsule, std::span<Witness> out);
void collide_capsule_capsule(const Shape& a, const Shape& b, std::span<Witness> out);
Witness nearest_of_capsules(const Shape& a, const Shape& b);

// geometry_box.cpp, geometry_capsule_box.cpp, geometry_box_box.cpp
void collide_sphere_box(const Shape& sphere, const Shape& box, std::span<Witness> out);
void collide_capsule_box(const Shape& capsule, const Shape& box, std::span<Witness> out);
void collide_box_box(const Shape& a, const Shape& b, std::span<Witness> out);

// geometry_convex.cpp: pairs with a cylinder, an ellipsoid or a mesh, but without a plane
void collide_convex(const Shape& a, const Shape& b, std::span<Witness> out);

// geometry_hfield.cpp
void collide_hfield(const Shape& field, const Shape& shape, std::span<Witness> out);

// geometry_distance.cpp: a unit normal from a to b, the signed distance, a witness point on each surface.
struct SignedDistance {
  Vec3 normal;
  Real distance;
  Vec3 point1, point2;
};
SignedDistance nearest_convex(const Shape& a, const Shape& b);

// Lengths that differ by less than this fraction of the extent of the shapes count as equal: round-off of
// the distances is a hundred times smaller, and the effect on a contact is not measurable.
inline constexpr double kTie = 1e-12;

// The axis of a capsule: centre + t * dir, |t| <= half.
struct Segment {
  Vec3 centre, dir;
  Real half;
  Vec3 at(Real t) const { return centre + t * dir; }
  // Returns the parameter of the point nearest to p.
  Real nearest(const Vec3& p) const { return std::clamp(dir.dot(p - centre), -half, half); }
};

// The contact of a point with a box, in the frame of the box.
struct BoxContact {
  Vec3 outward;   // unit, from the box to the point
  Real distance;  // signed, < 0: inside
};

// Returns the contact of the point p with the box with half sizes h at the origin.
BoxContact point_against_box(const Vec3& p, const Vec3& h);

// Returns the witness of a sphere around p, from the contact of its centre; in the world, with the box's placement.
Witness sphere_on_box(const Vec3& p, Real radius, const BoxContact& contact, const Shape& box);

}  // namespace stiction::reference::inline STICTION_REAL
