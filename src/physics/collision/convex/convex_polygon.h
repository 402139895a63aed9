// The face of a box or mesh that faces the other shape, or a patch of a mesh, and the parts of lines over it.
#pragma once

#include "physics/collision/convex/convex_patch.h"

STICTION_PHYSICS_BEGIN

// Corners are numbered counterclockwise seen from outside, in a frame of the face's own: of a mesh the geom's, of a box
// that of the rectangle, whose z points outwards. Corners are used as stored, in that frame; only what is compared with
// them is transformed.
struct Polygon {
  Vec3<double> origin, x, y,
      z;         // the frame; a box's may be left-handed, cross products are in its coordinates
  Region plane;  // outward, a point and two axes; of a box its rectangle
  const double* vertex;  // of a mesh; null: a box
  const int* corner;     // of a face of a mesh
  int count;
  int patch[4] = {0, 0, 0, 0};  // corners if there is no face

  STICTION_FN Vec3<double> at(int i) const {
    if (vertex == nullptr)
      return {i == 1 || i == 2 ? plane.half_x : -plane.half_x,
              i >= 2 ? plane.half_y : -plane.half_y, 0};
    const double* const p = vertex + 3 * (corner != nullptr ? corner[i] : patch[i]);
    return {p[0], p[1], p[2]};
  }
  STICTION_FN Vec3<double> local(const Vec3<double>& v) const {
    return {dot(x, v), dot(y, v), dot(z, v)};
  }
  STICTION_FN Vec3<double> placed(const Vec3<double>& p) const {
    return origin + (p.x * x + p.y * y + p.z * z);
  }
  STICTION_FN int next(int i) const { return i + 1 < count ? i + 1 : 0; }
  STICTION_FN int last(int i) const { return i > 0 ? i - 1 : count - 1; }

  STICTION_FN double height(const Vec3<double>& p, const Vec3<double>& m) const {
    return plane.height(p, m);
  }
  // Whether the plane is seen nearly edge-on, where it defines no heights.
  STICTION_FN bool steep(const Vec3<double>& m) const { return dot(plane.outward, m) < 1e-3; }
  STICTION_FN double area() const {
    if (corner == nullptr) return 4 * plane.half_x * plane.half_y;
    const Vec3<double> first = at(0);
    Vec3<double> sum = zero3<double>(), from = at(1) - first;
    for (int i = 2; i < count; ++i) {
      const Vec3<double> to = at(i) - first;
      sum = sum + cross(from, to), from = to;
    }
    return 0.5 * norm(sum);
  }
};

// Sets the corners of a hull's face along m, in the frame of the mesh, and returns its normal: `facing_face` if it has
// all points of the patch or these are fewer than three, else the patch, in the plane of its diagonals or edges.
STICTION_OUTLINE inline Vec3<double> take_corners(const HullRef& hull, const Vec3<double>& m,
                                                  const SlotAxes& axes, double extent, Polygon& p) {
  Vec3<double> between[4];
  const FourPoints near = hull_patch(hull, m, four_ways(m, axes.x, axes.y), extent, between);
  const MeshArrays& a = *hull.arrays;
  const int face = facing_face(hull, m, extent);
  bool flat = true;
  for (int i = 0; i < near.count; ++i) {
    bool has = false;
    hull.faces_at(near.around(i).vertex, [&](int f) { has = has || f == face; });
    flat = flat && has;
  }
  p.vertex = a.mesh_vert + 3 * hull.first();
  if (flat || near.count < 3) {
    const int* const adr = a.mesh_polyvertadr + a.mesh_polyadr[hull.mesh] + face;
    p.corner = a.mesh_polyvert + adr[0], p.count = adr[1] - adr[0];
    return hull.normal(face);
  }
  const auto q = [&](int i) { return near.around(i).p; };
  p.count = near.count;
  for (int i = 0; i < 4; ++i) p.patch[i] = near.around(i).vertex;
  const Vec3<double> n =
      near.count == 4 ? cross(q(2) - q(0), q(3) - q(1)) : cross(q(1) - q(0), q(2) - q(0));
  return (1 / norm(n)) * n;
}

// Returns the polygon of a shape along m; positions are about the same origin as `centre`, that of the shape.
STICTION_OUTLINE inline Polygon polygon_of(const HullShape& s, const Vec3<double>& centre,
                                           const Vec3<double>& m) {
  Polygon p{centre, s.x, s.y, s.z, {}, nullptr, nullptr, 4};
  if (s.type == GeomType::box) {
    p.plane = face_of(s, centre, m);
    p.origin = p.plane.centre, p.x = p.plane.x, p.y = p.plane.y, p.z = p.plane.outward;
    return p;
  }
  const Vec3<double> along = s.local(m);
  const SlotAxes axes = slot_axes(along);
  const Vec3<double> n = take_corners(s.hull, along, axes, core_extent(s), p);
  p.plane.outward = s.global(n);
  p.plane.x = s.global(axes.x), p.plane.y = s.global(axes.y);
  p.plane.centre = centre + s.global(s.hull.vertex(farthest_vertex(s.hull, n)));
  p.plane.half_x = p.plane.half_y = 0, p.plane.disc = false;
  return p;
}

// A line p + t u and a face, seen along a direction m away from the face; in the frame of the face.
struct LineOverFace {
  const Polygon& face;
  Vec3<double> m, p, u;
  double
      slack;  // points up to so far beside an edge count as over the face, none that are twice as far

  STICTION_FN LineOverFace(const Polygon& f, const Vec3<double>& away, double beside)
      : face(f), m(f.local(away)), p(zero3<double>()), u(zero3<double>()), slack(beside) {}
  STICTION_FN void take(const Vec3<double>& from, const Vec3<double>& along) {
    p = face.local(from - face.origin), u = face.local(along);
  }

  // How far p is inside of the edge from corner i, and the derivative of that by t; both times the edge's length.
  struct Inside {
    double at, slope;
  };
  STICTION_FN Inside inside(int i) const {
    const Vec3<double> from = face.at(i), inward = cross(m, face.at(face.next(i)) - from);
    double at = dot(inward, p - from);
    at = at + slack * (vabs(inward.x) + vabs(inward.y) + vabs(inward.z));
    return {at, dot(inward, u)};
  }
};

// Returns the part of p + t u that lies over the face, seen along m.
STICTION_OUTLINE inline LanePart over(const LineOverFace& line, LanePart part) {
  for (int i = 0; i < line.face.count; ++i) {
    const auto [at, slope] = line.inside(i);
    if (slope == 0 && at < 0) return {1, 0};
    if (slope > 0) part.low = vmax(part.low, -at / slope);
    if (slope < 0) part.high = vmin(part.high, -at / slope);
  }
  return part;
}
STICTION_FN LanePart over(const Polygon& face, const Vec3<double>& p, const Vec3<double>& u,
                          LanePart part, const Vec3<double>& m, double slack = 0) {
  if (face.steep(m)) return {1, 0};
  LineOverFace line(face, m, slack);
  line.take(p, u);
  return over(line, part);
}

// Up to this number of corners, all edges of a face are tested.
inline constexpr int kFewCorners = 8;

// The same for many lines in sequence, the edges of a face that faces this one. Lines enter through edges
// that follow each other around the face, slope >= 0, and
//
//   t_i = -at_i / slope_i
//
// rises along these to one maximum, where the line enters: t_i is where the line meets a tangent of a convex curve, the
// farther out, the farther the tangent touches from where the line crosses. So the maximum is found by climbing, from
// the edge through which the line before entered; as the lines rotate it moves on in one direction, and n lines take
// O(n + count). Lines leave likewise. A line beside the face enters after it has left.
struct FaceCrossings {
  LineOverFace line;
  int in = 0, out = 0;

  STICTION_FN FaceCrossings(const Polygon& face, const Vec3<double>& m, double slack)
      : line(face, m, slack) {}

  // Climbs to the edge through which the line enters, side 1, or leaves, side -1. Compares without division; an edge
  // parallel to the line is the maximum if it keeps the line out, and else below all others.
  STICTION_OUTLINE LineOverFace::Inside climb(int& i, double side) const {
    const auto crossing = [&](int k) {
      const auto [at, slope] = line.inside(k);
      return LineOverFace::Inside{at, side * slope};
    };
    LineOverFace::Inside top = crossing(i);
    for (int k = 0; !(top.slope >= 0) && k < line.face.count; ++k)
      i = line.face.last(i), top = crossing(i);
    bool moved = false;
    for (int way = 0; way < 2 && !moved; ++way)
      for (int k = 0; k < line.face.count; ++k) {
        const int beside = way == 0 ? line.face.last(i) : line.face.next(i);
        const LineOverFace::Inside c = crossing(beside);
        if (!(c.slope >= 0) || !(top.at * c.slope > c.at * top.slope)) break;
        i = beside, top = c, moved = true;
      }
    return top;
  }

  // Returns the part of the edge from p to p + u that lies over the face.
  STICTION_FN LanePart over_edge(const Vec3<double>& p, const Vec3<double>& u) {
    line.take(p, u);
    if (line.face.count <= kFewCorners) return over(line, {0, 1});
    const auto [at_in, in_slope] = climb(in, 1);
    if (at_in + in_slope < 0) return {1, 0};  // beyond p + u
    const auto [at_out, out_slope] = climb(out, -1);
    if (at_out < 0) return {1, 0};  // before p
    return {in_slope > 0 ? vmax(0.0, -at_in / in_slope) : 0.0,
            out_slope > 0 ? vmin(1.0, at_out / out_slope) : 1.0};
  }
};

STICTION_PHYSICS_END
