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
// geometry_mesh.cpp: the corners of the face that looks at the plane; returns the vertex that is deepest.
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

// geometry_convex.cpp: what has a cylinder, an ellipsoid or a mesh, but no plane
void collide_convex(const Shape& a, const Shape& b, std::span<Witness> out);

// geometry_hfield.cpp
void collide_hfield(const Shape& field, const Shape& shape, std::span<Witness> out);

// geometry_distance.cpp: a unit normal from a to b, the signed distance, a witness on each surface.
struct SignedDistance {
  Vec3 normal;
  Real distance;
  Vec3 point1, point2;
};
SignedDistance nearest_convex(const Shape& a, const Shape& b);

// Lengths that differ by less than this share of the shapes' extent count as equal: round-off of
// the distances is a hundred times smaller, the effect on a contact is not measurable.
inline constexpr double kTie = 1e-12;

// Axis of a capsule: centre + t * dir, |t| <= half.
struct Segment {
  Vec3 centre, dir;
  Real half;
  Vec3 at(Real t) const { return centre + t * dir; }
  // Parameter of the point nearest to p.
  Real nearest(const Vec3& p) const { return std::clamp(dir.dot(p - centre), -half, half); }
};

// Where a point touches a box; in the box's frame.
struct BoxContact {
  Vec3 outward;   // unit, from the box to the point
  Real distance;  // signed, < 0: inside
};

// The point p against the box with half sizes h at the origin.
BoxContact point_against_box(const Vec3& p, const Vec3& h);

// The contact of a sphere around p, from the contact of its centre; world frame as placed by box.
Witness sphere_on_box(const Vec3& p, Real radius, const BoxContact& contact, const Shape& box);

}  // namespace stiction::reference::inline STICTION_REAL
