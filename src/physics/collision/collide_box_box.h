// Box against box: the eight witnesses defined in src/reference/collision/geometry.h, one for each side of the facing
// faces. Only rare cases run lane by lane.
#pragma once

#include "physics/collision/box_axes.h"
#include "physics/collision/box_faces.h"

STICTION_PHYSICS_BEGIN

// The contact of a side: a point on the second face, its height above the first face, and its distance.
template <class W>
struct BoxSlot {
  Vec3<W> point;
  W height, distance;
};

// Gives the end of a short edge the depth of its beginning, if they are nearly equal: edge by edge, two rounds.
template <class W>
STICTION_FN void pass_depths_on(const OverlapEdge<W>* edge, const W* length, const W& deepest,
                                BoxSlot<W>* slot, const Mask<W>& lanes) {
  per_lane<W>([&](int lane) {
    if (!get_lane(lanes, lane)) return;
    int used[8], count = 0;
    STICTION_ROLLED
    for (int k = 0; k < 8; ++k) {
      const int i = (k + 4) % 8;  // the polygon is the second face with parts clipped off
      if (get_lane(edge[i].used, lane)) used[count++] = i;
    }
    const auto next = [&](int i) {
      const Vec3<double> end = get_lane(edge[i].end, lane);
      double least = std::numeric_limits<double>::infinity();
      int found = i;
      STICTION_ROLLED
      for (int k = 0; k < count; ++k) {
        const double away = norm2(get_lane(edge[used[k]].begin, lane) - end);
        if (used[k] != i && away < least) least = away, found = used[k];
      }
      return found;
    };
    const double depth = get_lane(deepest, lane);
    int i = used[0];
    STICTION_ROLLED
    for (int k = 0; k < 2 * count; ++k) {
      const int j = next(i);
      const double begin = get_lane(slot[i].distance, lane);
      const double end = get_lane(slot[j].distance, lane);
      if (get_lane(length[i], lane) < -depth &&
          get_lane(slot[j].height, lane) - begin < -0.1 * depth && begin < end)
        set_lane(slot[j].distance, lane, begin);
      i = j;
    }
  });
}

// Sides with an edge: the contact is the corner at which the edge begins.
template <class W>
STICTION_FN void edge_slots(const OverlapEdge<W>* edge, const BoxFace<W>& first, const Vec3<W>& n,
                            const W& least, const Mask<W>& lanes, const W& tie, BoxSlot<W>* slot) {
  const W zero(0.0), infinity(std::numeric_limits<double>::infinity());
  W length[8], deepest = infinity;
  STICTION_ROLLED
  for (int k = 0; k < 8; ++k) {
    const W height = first.height(edge[k].begin);
    slot[k] = {edge[k].begin, height, vmax(height, least)};
    length[k] = norm(cross(n, edge[k].end - edge[k].begin));
    deepest = vmin(deepest, select(edge[k].used, slot[k].distance, infinity));
  }
  Mask<W> any_short = no_lanes<W>();
  STICTION_ROLLED
  for (int k = 0; k < 8; ++k) any_short = any_short || (edge[k].used && length[k] < -deepest);
  if (any_lane(any_short && lanes)) pass_depths_on(edge, length, deepest, slot, any_short && lanes);

  // depth at most the length of the edge; where that would shorten all of the deepest corners, limit in proportion
  W longest = zero;
  STICTION_ROLLED
  for (int k = 0; k < 8; ++k) {
    const Mask<W> deep = edge[k].used && slot[k].distance <= deepest + tie;
    longest = vmax(longest, select(deep, length[k], zero));
  }
  const Mask<W> in_proportion = longest < -deepest;
  STICTION_ROLLED
  for (int k = 0; k < 8; ++k) {
    W most = -length[k];
    if (any_lane(in_proportion)) {
      const Mask<W> shorter = length[k] < longest;
      const W share = select(shorter, length[k] / divisor<W>(shorter, longest), W(1.0));
      most = select(in_proportion, share * deepest, most);
    }
    slot[k].distance = vmax(slot[k].distance, most);
  }
}

// Sides without an edge: the corner nearest to the side, its distance raised by how far it is from the side.
template <class W>
STICTION_FN void idle_slots(const OverlapEdge<W>* edge, const BoxFace<W>& first,
                            const BoxFace<W>& second, const W& grow, const W& tie,
                            BoxSlot<W>* slot) {
  const W zero(0.0), infinity(std::numeric_limits<double>::infinity());
  Vec3<W> start = edge[3].begin;  // of the polygon: the second face, with parts clipped off
  STICTION_ROLLED
  for (int k = 10; k >= 4; --k) start = select<W>(edge[k % 8].used, edge[k % 8].begin, start);
  STICTION_ROLLED
  for (int i = 0; i < 8; ++i) {
    const BoxFace<W>& face = i < 4 ? first : second;
    const Vec3<W> out = i % 4 < 2 ? face.outward[i % 4] : -face.outward[i % 4 - 2];
    const W offset = i < 4 ? face.offset[i] + grow : face.offset[i - 4];
    W inside[8], away = infinity;
    STICTION_ROLLED
    for (int k = 0; k < 8; ++k) {
      inside[k] = offset - dot(out, edge[k].begin);
      away = vmin(away, select(edge[k].used, inside[k], infinity));
    }
    // of two equally near corners the beginning of the edge between them: the edge before it comes from farther away
    Vec3<W> corner = start;
    const W near = away + tie;
    STICTION_ROLLED
    for (int k = 0; k < 8; ++k) {
      const Mask<W> arrives =
          edge[k].used && inside[k] > near && offset - dot(out, edge[k].end) <= near;
      corner = select<W>(arrives, edge[k].end, corner);
    }
    const W height = first.height(corner);
    const BoxSlot<W> idle{corner, height, vmax(away, zero) + vmax(height, zero)};
    slot[i].point = select<W>(edge[i].used, slot[i].point, idle.point);
    slot[i].height = select(edge[i].used, slot[i].height, idle.height);
    slot[i].distance = select(edge[i].used, slot[i].distance, idle.distance);
  }
}

// Writes the slots of two boxes in the frame of the first; returns the normal. Writes none if the boxes are beyond the
// limit in all lanes that are near.
template <class W>
STICTION_FN Vec3<W> box_box_slots(const BoxPair<W>& p, const Mask<W>& near, SearchLimit<W>& limit,
                                  BoxSlot<W>* slot) {
  const W tie = W(kTie) * (largest(p.half1) + largest(p.half2) + largest(abs3(p.centre2)));
  BoxDirection<W> least = least_translation(p, tie);
  const Mask<W> apart = near && least.distance > tie && least.distance <= limit.reach;
  if (any_lane(apart)) least = nearest_direction(p, least, apart, tie);
  limit.beyond = select(near && least.distance > limit.reach, W(1.0), limit.beyond);
  const Mask<W> lanes = near && limit.beyond < W(0.5);
  if (!any_lane(lanes)) return least.normal;

  const Vec3<W>& n = least.normal;
  const Mat3<W> axes1{unit3<W>(0), unit3<W>(1), unit3<W>(2)};
  BoxFace<W> first, second;
  facing_face(zero3<W>(), axes1, p.half1, n, first);
  facing_face(p.centre2, p.axes2, p.half2, -n, second);
  const W grow = blur(first, second, tie);
  OverlapEdge<W> edge[8];
  overlap(first, second, n, grow, edge);
  edge_slots(edge, first, n, least.distance, lanes, tie, slot);
  idle_slots(edge, first, second, grow, tie, slot);
  return n;
}

// Witnesses of two boxes with axes rot and half sizes size: eight points each on the first and the second,
// the unit normal that they share (from the first to the second), and signed distances.
// W is Wide<S>; lanes are independent. In lanes not `near`, and beyond the limit, a gap between the centres.
template <class W>
STICTION_SINGLE void collide_box_box(const Vec3<W>& pos1, const Mat3<W>& rot1, const Vec3<W>& size1,
                                     const Vec3<W>& pos2, const Mat3<W>& rot2, const Vec3<W>& size2,
                                     const Mask<W>& near, SearchLimit<W>& limit, Vec3<W>* point1,
                                     Vec3<W>* point2, Vec3<W>& normal, W* distance) {
  const BoxPair<W> pair{
      size1,
      size2,
      transposed(rot1, pos2 - pos1),
      {transposed(rot1, rot2.x), transposed(rot1, rot2.y), transposed(rot1, rot2.z)}};
  BoxSlot<W> slot[8];
  const Vec3<W> n = box_box_slots(pair, near, limit, slot);
  const Mask<W> lanes = near && limit.beyond < W(0.5);
  if (!any_lane(lanes)) return;
  const W apart = norm(pair.centre2) + norm(size1);
  normal = rot1 * select<W>(lanes, n, unit3<W>(0));
  STICTION_ROLLED
  for (int k = 0; k < 8; ++k) {
    const Vec3<W> middle = slot[k].point - (W(0.5) * slot[k].height) * n;
    const Vec3<W> p = pos1 + rot1 * select<W>(lanes, middle, zero3<W>());
    distance[k] = select(lanes, slot[k].distance, apart);
    const Vec3<W> half_gap = (W(0.5) * distance[k]) * normal;
    point1[k] = p - half_gap, point2[k] = p + half_gap;
  }
}

STICTION_PHYSICS_END
