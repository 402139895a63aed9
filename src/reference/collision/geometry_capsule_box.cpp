// Capsule against box. geometry.h defines the two points; everything here is in the frame of the box.
#include <limits>

#include "reference/collision/geometry_colliders.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

// Contact of a point of the segment with the box. `face`: the face above which the height is measured; -1: measured
// by the distance to the box.
struct Nearest {
  Real t;
  BoxContact contact;
  int face;
};

// Coordinates of the box's features: (±1, 0, 0) a face, (±1, ±1, 0) an edge, (±1, ±1, ±1) a vertex.
Vec3 feature(int index) {
  const int x = index % 3 - 1, y = index / 3 % 3 - 1, z = index / 9 - 1;
  return Vec3(x, y, z);
}

// Returns the parameter of the segment's point nearest to the box. It is an end or the stationary point with respect to
// the plane, line or point of one of the 26 features; every candidate is a point of the segment, so
// the nearest candidate is the answer.
Real nearest_outside(const Segment& segment, const Vec3& h) {
  Real best_t = 0, best = kInfinity;
  const auto consider = [&](Real t) {
    const Vec3 p = segment.at(t);
    const Real distance = (p - p.cwiseMax(-h).cwiseMin(h)).norm();
    if (distance < best) best = distance, best_t = t;
  };
  consider(-segment.half);
  consider(segment.half);
  for (int i = 0; i < 27; ++i) {
    const Vec3 sign = feature(i);
    const Vec3 dir = sign.cwiseAbs().cwiseProduct(segment.dir);  // fixed coordinates
    const Real slope = dir.squaredNorm();
    if (value(slope) == 0) continue;
    const Real t = dir.dot(sign.cwiseProduct(h) - segment.centre) / slope;
    consider(std::clamp(t, -segment.half, segment.half));
  }
  return best_t;
}

// Part of the segment inside |x_k| <= bound_k.
struct Part {
  Real low, high;
};
Part clip(const Segment& segment, const Vec3& bound) {
  Part part{-segment.half, segment.half};
  for (int k = 0; k < 3; ++k) {
    const Real u = segment.dir[k], c = segment.centre[k];
    if (value(u) == 0) continue;
    part.low = std::max(part.low, (-copysign(bound[k], u) - c) / u);
    part.high = std::min(part.high, (copysign(bound[k], u) - c) / u);
  }
  return part;
}

// Clamps to an interval that round-off may have made empty.
Real clamp_to(Real t, const Part& part) {
  return std::max(part.low, std::min(part.high, t));
}

// Returns how far the whole segment is beyond the box's support plane with outward normal m.
Real separation(const Segment& segment, const Vec3& h, const Vec3& m) {
  return m.dot(segment.centre) - segment.half * abs(m.dot(segment.dir)) - h.dot(m.cwiseAbs());
}

// For a segment that enters the box: the direction of least depth is the normal of a face, or perpendicular to
// the segment and to an edge.
Nearest nearest_inside(const Segment& segment, const Vec3& h, Real tie) {
  const auto outward = [&](const Vec3& m) { return m.dot(segment.centre) < 0 ? Vec3(-m) : m; };

  int face = 0;
  Real least = -kInfinity;
  for (int k = 0; k < 3; ++k) {
    const Real s = separation(segment, h, outward(Vec3::Unit(k)));
    if (s > least) least = s, face = k;
  }

  // an edge counts only if it is shallower than every face by more than round-off
  int edge = -1;
  Vec3 edge_normal = Vec3::Zero();
  Real bar = least + tie;
  for (int k = 0; k < 3; ++k) {
    const Vec3 cross = Vec3::Unit(k).cross(segment.dir);
    const Real length = cross.norm();
    if (value(length) == 0) continue;
    const Vec3 m = outward(cross / length);
    const Real s = separation(segment, h, m);
    if (s > bar) bar = s, edge = k, edge_normal = m;
  }

  if (edge < 0) {
    // the deepest end; for a parallel segment the part above the face
    const Vec3 m = outward(Vec3::Unit(face));
    const Real deepest = m.dot(segment.dir) > 0 ? -segment.half : segment.half;
    Vec3 bound = h;
    bound[face] = kInfinity;
    const Real t = clamp_to(deepest, clip(segment, bound));
    return {t, {m, m.dot(segment.at(t)) - h[face]}, face};
  }
  // where the segment passes the edge, seen along the edge
  const Vec3 across = Vec3::Ones() - Vec3::Unit(edge);
  const Vec3 corner(copysign(h[0], edge_normal[0]), copysign(h[1], edge_normal[1]),
                    copysign(h[2], edge_normal[2]));
  const Vec3 dir = across.cwiseProduct(segment.dir);
  const Real pass = dir.dot(corner - segment.centre) / dir.squaredNorm();
  Vec3 bound = Vec3::Constant(kInfinity);
  bound[edge] = h[edge];
  return {clamp_to(pass, clip(segment, bound)), {edge_normal, bar}, -1};
}

// The part of the segment that faces the box, seen from its nearest point (geometry.h, item 2).
Part facing_part(const Segment& segment, const Vec3& h, const Nearest& nearest) {
  const Vec3 n2 = nearest.contact.outward.cwiseAbs2();
  const Vec3 reached = h.cwiseMax(segment.at(nearest.t).cwiseAbs());
  Vec3 bound;
  for (int k = 0; k < 3; ++k) {
    const Real others = n2[(k + 1) % 3] + n2[(k + 2) % 3];
    bound[k] = others > 0 ? reached[k] + segment.half * n2[k] / others : kInfinity;
  }
  const Part part = clip(segment, bound);
  return {std::min(part.low, nearest.t), std::max(part.high, nearest.t)};
}

// Whether two contacts are equally near and in the same direction: the distance is quadratic in t where the direction
// varies, so nearly equal distances alone would allow directions that differ by the root of `tie`.
bool same_contact(const BoxContact& a, const BoxContact& b, Real tie) {
  return a.distance <= b.distance + tie && (a.outward - b.outward).norm() < 1e-9;
}

}  // namespace

void collide_capsule_box(const Shape& capsule, const Shape& box, std::span<Witness> out) {
  const Vec3& h = box.size;
  const Mat3 to_box = box.rot.transpose();
  const Segment segment{to_box * (capsule.pos - box.pos), to_box * capsule.rot.col(2),
                        capsule.size[1]};
  const Real tie = kTie * (h.maxCoeff() + segment.half + segment.centre.cwiseAbs().maxCoeff());

  // 1. the nearest point
  const Real t = nearest_outside(segment, h);
  Nearest nearest{t, point_against_box(segment.at(t), h), -1};
  if (nearest.contact.distance <= tie) nearest = nearest_inside(segment, h, tie);

  // 2. the ends of the facing part
  const auto contact_at = [&](Real at) -> Nearest {
    if (nearest.face < 0) return {at, point_against_box(segment.at(at), h), -1};
    const Vec3& m = nearest.contact.outward;
    return {at, {m, m.dot(segment.at(at)) - h[nearest.face]}, nearest.face};
  };
  const Part part = facing_part(segment, h, nearest);
  Nearest low = contact_at(part.low), high = contact_at(part.high);

  // 3. the farther end and the nearest point, in the order of the axis
  const bool low_is_farther = low.contact.distance > high.contact.distance + tie;
  Nearest& other = low_is_farther ? high : low;
  if (!same_contact(other.contact, nearest.contact, tie)) other = nearest;
  out[0] = sphere_on_box(segment.at(low.t), capsule.size[0], low.contact, box);
  out[1] = sphere_on_box(segment.at(high.t), capsule.size[0], high.contact, box);
}

}  // namespace stiction::reference::inline STICTION_REAL
