// Convex shapes of one lane, by their support functions. A sphere or capsule is its core, a point or a segment, and a
// radius around it; the others are their own core, a mesh the hull of its vertices. Scalar code in double.
#pragma once

#include "physics/collision/convex/convex_hull.h"
#include "stiction/types.h"

STICTION_PHYSICS_BEGIN

struct LaneShape {
  GeomType type;
  Vec3<double> centre, x, y, z, size;

  // Returns the radius of the ball that is added to the core.
  STICTION_FN double radius() const {
    return type == GeomType::sphere || type == GeomType::capsule ? size.x : 0.0;
  }
  STICTION_FN Vec3<double> local(const Vec3<double>& v) const {
    return {dot(x, v), dot(y, v), dot(z, v)};
  }
  STICTION_FN Vec3<double> global(const Vec3<double>& v) const {
    return v.x * x + v.y * y + v.z * z;
  }
};

// A shape that may be a mesh, as a type of its own: a kernel without meshes has none of that code.
struct HullShape : LaneShape {
  HullRef hull;
};

// Returns the point of the core farthest along m, about the shape's centre.
//   ellipsoid  S² m / |S m|;   cylinder  ±h z + r m_⊥ / |m_⊥|;   box  Σ ±h_k e_k;   mesh  a vertex
STICTION_FN Vec3<double> core_support(const LaneShape& s, const Vec3<double>& m) {
  const Vec3<double> d = s.local(m);
  const double along = d.z < 0 ? -s.size.y : s.size.y;  // capsule and cylinder
  switch (s.type) {
    case GeomType::capsule: return along * s.z;
    case GeomType::ellipsoid: {
      const Vec3<double> scaled_d = scaled(s.size, d);
      const double length = norm(scaled_d);
      return s.global(scaled(s.size, (length > 0 ? 1 / length : 0.0) * scaled_d));
    }
    case GeomType::cylinder: {
      const double length = vsqrt(d.x * d.x + d.y * d.y);
      const double share = length > 0 ? s.size.x / length : 0.0;
      return (share * d.x) * s.x + (share * d.y) * s.y + along * s.z;
    }
    case GeomType::box:
      return vcopysign(s.size.x, d.x) * s.x + vcopysign(s.size.y, d.y) * s.y +
             vcopysign(s.size.z, d.z) * s.z;
    default: return zero3<double>();
  }
}

STICTION_FN Vec3<double> core_support(const HullShape& s, const Vec3<double>& m) {
  if (s.type != GeomType::mesh) return core_support(static_cast<const LaneShape&>(s), m);
  return s.global(s.hull.vertex(farthest_vertex(s.hull, s.local(m))));
}

// Returns an upper bound on the extent of the core from its centre.
STICTION_FN double core_extent(const LaneShape& s) {
  switch (s.type) {
    case GeomType::capsule: return s.size.y;
    case GeomType::ellipsoid: return largest(s.size);
    case GeomType::cylinder: return s.size.x + s.size.y;
    case GeomType::box:
    case GeomType::mesh: return s.size.x + s.size.y + s.size.z;
    default: return 0.0;
  }
}

STICTION_PHYSICS_END
