// Capsule against box: the two contacts defined in src/reference/collision/geometry.h, in the frame of the
// box.
#pragma once

#include "physics/collision/colliders.h"

STICTION_PHYSICS_BEGIN

// Contact of a point of the segment with the box. `by_face`: measured as the height above the face with
// normal contact.outward, else by the distance to the box.
template <class W>
struct SegmentContact {
  W t;
  BoxContact<W> contact;
  Mask<W> by_face;
};

// Returns the parameter of the segment's point nearest to the box. It is an end or the stationary point with respect
// the plane, line or point of one of the 26 features; every candidate is a point of the segment, so
// the nearest candidate is the answer. Features: (±1, 0, 0) a face, (±1, ±1, 0) an edge,
// (±1, ±1, ±1) a vertex.
template <class W>
STICTION_FN W nearest_outside(const Segment<W>& segment, const Vec3<W>& h) {
  const W zero(0.0);
  W best_t = -segment.half, best = norm(away_from_box(segment.at(best_t), h));
  const auto consider = [&](const W& t, const Mask<W>& valid) {
    const W distance = norm(away_from_box(segment.at(t), h));
    const Mask<W> nearer = valid && distance < best;
    best = select(nearer, distance, best), best_t = select(nearer, t, best_t);
  };
  consider(segment.half, all_lanes<W>());
  for (int i = 0; i < 27; ++i) {
    if (i == 13) continue;
    const int x = i % 3 - 1, y = i / 3 % 3 - 1, z = i / 9 - 1;
    const Vec3<W> sign = {W(x), W(y), W(z)};
    const Vec3<W> dir = scaled(abs3(sign), segment.dir);  // the coordinates that the feature fixes
    const W slope = norm2(dir);
    const Mask<W> turns = slope > zero;
    const W t = dot(dir, scaled(sign, h) - segment.centre) / divisor<W>(turns, slope);
    consider(clamp(t, -segment.half, segment.half), turns);
  }
  return best_t;
}

// Part of the segment inside |x_k| <= bound_k.
template <class W>
struct Part {
  W low, high;
};
template <class W>
STICTION_FN Part<W> clip(const Segment<W>& segment, const Vec3<W>& bound) {
  Part<W> part{-segment.half, segment.half};
  for (int k = 0; k < 3; ++k) {
    const W u = coordinate(segment.dir, k), c = coordinate(segment.centre, k);
    const Mask<W> moves = u != W(0.0);
    const W slope = divisor<W>(moves, u), b = vcopysign(coordinate(bound, k), u);
    part.low = select(moves, vmax(part.low, (-b - c) / slope), part.low);
    part.high = select(moves, vmin(part.high, (b - c) / slope), part.high);
  }
  return part;
}

// Clamps to an interval that round-off may have made empty.
template <class W>
STICTION_FN W clamp_to(const W& t, const Part<W>& part) {
  return vmax(part.low, vmin(part.high, t));
}

// Returns how far the whole segment is beyond the box's support plane with outward normal n.
template <class W>
STICTION_FN W separation(const Segment<W>& segment, const Vec3<W>& h, const Vec3<W>& n) {
  return dot(n, segment.centre) - segment.half * vabs(dot(n, segment.dir)) - dot(h, abs3(n));
}

// Exit through a face: the deepest end; for a parallel segment the part above the face with outward normal n.
template <class W>
STICTION_FN SegmentContact<W> leave_by_face(const Segment<W>& segment, const Vec3<W>& h,
                                            const Vec3<W>& n) {
  const W inf(std::numeric_limits<double>::infinity()), half(0.5);
  const W deepest = select(dot(n, segment.dir) > W(0.0), -segment.half, segment.half);
  const Vec3<W> side = abs3(n);
  const Vec3<W> bound = {select(side.x > half, inf, h.x), select(side.y > half, inf, h.y),
                         select(side.z > half, inf, h.z)};
  const W t = clamp_to(deepest, clip(segment, bound));
  return {t, {n, dot(n, segment.at(t)) - dot(side, h)}, all_lanes<W>()};
}

// Exit across an edge: the point where the segment passes the line along `edge`, seen along the edge.
template <class W>
STICTION_FN SegmentContact<W> leave_across_edge(const Segment<W>& segment, const Vec3<W>& h,
                                                const Vec3<W>& edge, const BoxContact<W>& contact) {
  const W zero(0.0), one(1.0), inf(std::numeric_limits<double>::infinity());
  const Vec3<W>& n = contact.outward;
  const Vec3<W> corner = {vcopysign(h.x, n.x), vcopysign(h.y, n.y), vcopysign(h.z, n.z)};
  const Vec3<W> dir = {(one - edge.x) * segment.dir.x, (one - edge.y) * segment.dir.y,
                       (one - edge.z) * segment.dir.z};
  const W slope = norm2(dir);
  const W pass = dot(dir, corner - segment.centre) / divisor<W>(slope > zero, slope);
  const Vec3<W> bound = {select(edge.x > zero, h.x, inf), select(edge.y > zero, h.y, inf),
                         select(edge.z > zero, h.z, inf)};
  const W t = clamp_to(pass, clip(segment, bound));
  return {t, contact, no_lanes<W>()};
}

template <class W>
STICTION_FN SegmentContact<W> select_nearest(const Mask<W>& m, const SegmentContact<W>& a,
                                             const SegmentContact<W>& b) {
  return {select(m, a.t, b.t), select_contact<W>(m, a.contact, b.contact),
          select(m, a.by_face, b.by_face)};
}

// For a segment that enters the box: the direction of least depth is the normal of a face, or perpendicular to
// the segment and to an edge.
template <class W>
STICTION_FN SegmentContact<W> nearest_inside(const Segment<W>& segment, const Vec3<W>& h,
                                             const W& tie) {
  const W zero(0.0);
  const auto outward = [&](const Vec3<W>& n) {
    return select<W>(dot(n, segment.centre) < zero, -n, n);
  };
  Vec3<W> face = outward(unit3<W>(0));
  W least = separation(segment, h, face);
  for (int k = 1; k < 3; ++k) {
    const Vec3<W> n = outward(unit3<W>(k));
    const W s = separation(segment, h, n);
    face = select<W>(s > least, n, face), least = vmax(s, least);
  }

  // an edge counts only if it is shallower than every face by more than round-off
  BoxContact<W> across{face, least + tie};
  Vec3<W> edge = zero3<W>();
  for (int k = 0; k < 3; ++k) {
    const Vec3<W> w = cross(unit3<W>(k), segment.dir);
    const W length = norm(w);
    const Mask<W> turns = length > zero;
    const Vec3<W> n = outward((W(1.0) / divisor<W>(turns, length)) * w);
    const W s = separation(segment, h, n);
    const Mask<W> shallower = turns && s > across.distance;
    across = select_contact<W>(shallower, {n, s}, across);
    edge = select<W>(shallower, unit3<W>(k), edge);
  }
  return select_nearest<W>(edge.x + edge.y + edge.z > zero,
                           leave_across_edge(segment, h, edge, across),
                           leave_by_face(segment, h, face));
}

// The part of the segment that faces the box, seen from its nearest point.
template <class W>
STICTION_FN Part<W> facing_part(const Segment<W>& segment, const Vec3<W>& h,
                                const SegmentContact<W>& nearest) {
  const Vec3<W> n2 = scaled(nearest.contact.outward, nearest.contact.outward);
  const Vec3<W> at = abs3(segment.at(nearest.t));
  const auto bound = [&](const W& h_k, const W& x_k, const W& n_k, const W& others) {
    const Mask<W> turned = others > W(0.0);
    const W room = segment.half * n_k / divisor<W>(turned, others);
    return select(turned, vmax(h_k, x_k) + room, W(std::numeric_limits<double>::infinity()));
  };
  const Part<W> part =
      clip<W>(segment, {bound(h.x, at.x, n2.x, n2.y + n2.z), bound(h.y, at.y, n2.y, n2.z + n2.x),
                        bound(h.z, at.z, n2.z, n2.x + n2.y)});
  return {vmin(part.low, nearest.t), vmax(part.high, nearest.t)};
}

// Whether two contacts are equally near and in the same direction: the distance is quadratic in t where the direction
// varies, so nearly equal distances alone would allow directions that differ by the root of `tie`.
template <class W>
STICTION_FN Mask<W> same_contact(const BoxContact<W>& a, const BoxContact<W>& b, const W& tie) {
  return a.distance <= b.distance + tie && norm(a.outward - b.outward) < W(1e-9);
}

template <class W, class Out>
STICTION_RARE void collide_capsule_box(const Shape<W>& capsule, const Shape<W>& box,
                                       const Out& out) {
  const Vec3<W> h = box.size;
  const Segment<W> segment{transposed(box.rot, capsule.pos - box.pos),
                           transposed(box.rot, capsule.rot.z), capsule.size.y};
  const W tie = W(kTie) * (largest(h) + segment.half + largest(abs3(segment.centre)));

  // 1. the nearest point
  const W t = nearest_outside(segment, h);
  SegmentContact<W> nearest{t, point_against_box<W>(segment.at(t), h), no_lanes<W>()};
  const Mask<W> inside = nearest.contact.distance <= tie;
  if (any_lane(inside))
    nearest = select_nearest<W>(inside, nearest_inside<W>(segment, h, tie), nearest);

  // 2. the ends of the facing part
  const auto contact_at = [&](const W& s) {
    const Vec3<W>& n = nearest.contact.outward;
    const BoxContact<W> above{n, dot(n, segment.at(s)) - dot(abs3(n), h)};
    return select_contact<W>(nearest.by_face, above, point_against_box<W>(segment.at(s), h));
  };
  Part<W> part = facing_part<W>(segment, h, nearest);
  BoxContact<W> low = contact_at(part.low), high = contact_at(part.high);

  // 3. the farther end and the nearest point, in the order of the axis
  const Mask<W> low_is_farther = low.distance > high.distance + tie;
  const Mask<W> keep_low = low_is_farther || same_contact<W>(low, nearest.contact, tie);
  const Mask<W> keep_high = !low_is_farther || same_contact<W>(high, nearest.contact, tie);
  low = select_contact<W>(keep_low, low, nearest.contact);
  high = select_contact<W>(keep_high, high, nearest.contact);
  part.low = select(keep_low, part.low, nearest.t);
  part.high = select(keep_high, part.high, nearest.t);
  out(0, sphere_on_box<W>(segment.at(part.low), capsule.size.x, low, box));
  out(1, sphere_on_box<W>(segment.at(part.high), capsule.size.x, high, box));
}

STICTION_PHYSICS_END
