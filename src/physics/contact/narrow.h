// The narrow phase of a pair: its witness points, in Wide, as the cand_ fields of its slots.
//
// reads   pair_near, geom_xpos, xmat, geom_quat, geom_size, xpos of the trees' roots
// writes  cand_gap, cand_normal, cand_r1, cand_r2; pair_near of searched pairs. Of these it reads the axis that the cull
//         has left as the normal of their first slot.
#pragma once

#include <type_traits>

#include "physics/base/views.h"
#include "physics/collision/collide_box_box.h"
#include "physics/collision/collide_capsule_box.h"
#include "physics/collision/collide_plane.h"
#include "physics/collision/collide_round.h"
#include "physics/collision/collide_sphere_box.h"
#include "physics/collision/hfield/collide_hfield.h"
#include "physics/tree/pair_bodies.h"
#include "stiction/types.h"

STICTION_PHYSICS_BEGIN

template <class S>
STICTION_FN Shape<Wide<S>> placed_shape(const ModelView& m, const EnvView<S>& e, int g) {
  using W = Wide<S>;
  const Mat3<W> body = load9(e.xmat, m.geom_bodyid[g]);
  const Mat3<W> local = matrix(load4(e.geom_quat, g));
  return {load3(e.geom_size, g),
          load3(e.geom_xpos, g),
          {body * local.x, body * local.y, body * local.z}};
}

template <Colliders has, class S>
STICTION_FN ShapeKind<Wide<S>> shape_kind(const ModelView& m, const EnvView<S>& e, int g) {
  const GeomType type = static_cast<GeomType>(m.geom_type[g]);
  if (has >= Colliders::meshes && type == GeomType::mesh)
    return {&m, m.geom_dataid[g], widen(e.geom_dataid[g])};
  if (has >= Colliders::hfields && type == GeomType::hfield)
    return {type, HfieldRef{&m, m.geom_dataid[g]}};
  return type;
}

template <class W, class Out>
STICTION_RARE void collide_boxes(const Shape<W>& a, const Shape<W>& b, const Mask<W>& near,
                                 SearchLimit<W>& limit, const Out& out) {
  Vec3<W> point1[8], point2[8], normal;
  W distance[8];
  collide_box_box<W>(a.pos, a.rot, a.size, b.pos, b.rot, b.size, near, limit, point1, point2,
                     normal, distance);
  if (!any_lane(near && limit.beyond < W(0.5))) return;
  for (int k = 0; k < 8; ++k) out(k, {point1[k], point2[k], normal, distance[k]});
}

template <Colliders has, class W>
using LimitOf = std::conditional_t<has >= Colliders::hfields, HfieldLimit<W>, SearchLimit<W>>;

// Runs the collider of the two types, which is one of `has`; out(k, witness). Lanes that are not near
// may get any finite witness with a gap, and so may those beyond the limit, which says which they are. Where all
// lanes are one or the other there need be none.
template <class W, Colliders has, class Out>
STICTION_FN void collide_shapes(const ShapeKind<W>& kind1, const ShapeKind<W>& kind2,
                                const Shape<W>& a, const Shape<W>& b, const Mask<W>& near,
                                LimitOf<has, W>& limit, const Out& out) {
  using G = GeomType;
  const G type1 = kind1.type, type2 = kind2.type;
  bool of_mesh = false;
  if constexpr (has >= Colliders::meshes) of_mesh = type2 == G::mesh;
  if constexpr (has >= Colliders::hfields)
    if (type1 == G::hfield) return collide_hfield<W>(kind1, kind2, a, b, near, limit, out);
  if (type1 == G::plane && !of_mesh) {
    switch (type2) {
      case G::sphere: return collide_plane_sphere(a, b, out);
      case G::capsule: return collide_plane_capsule(a, b, out);
      case G::ellipsoid: return collide_plane_ellipsoid(a, b, out);
      case G::cylinder: return collide_plane_cylinder(a, b, out);
      case G::box: return collide_plane_box(a, b, out);
      default: return;
    }
  }
  if (type1 == G::sphere && type2 == G::sphere) return collide_sphere_sphere(a, b, out);
  if (type1 == G::sphere && type2 == G::capsule) return collide_sphere_capsule(a, b, out);
  if (type1 == G::capsule && type2 == G::capsule) return collide_capsule_capsule(a, b, out);
  if constexpr (has >= Colliders::box) {
    if (type1 == G::sphere && type2 == G::box) return collide_sphere_box(a, b, out);
    if (type1 == G::capsule && type2 == G::box) return collide_capsule_box(a, b, out);
  }
  if constexpr (has >= Colliders::boxes)
    if (type1 == G::box && type2 == G::box) return collide_boxes<W>(a, b, near, limit, out);
  using L = std::conditional_t<has >= Colliders::meshes, HullShape, LaneShape>;
  if constexpr (has >= Colliders::convex)
    collide_convex<L, W>(kind1, kind2, a, b, near, limit, out);
}

// A pair whose distance is searched.
STICTION_FN bool is_searched(const ModelView& m, int pair) {
  const GeomType type1 = static_cast<GeomType>(m.geom_type[m.pair_geom1[pair]]);
  return type1 != GeomType::plane &&
         colliders_of(type1, static_cast<GeomType>(m.geom_type[m.pair_geom2[pair]])) >=
             Colliders::boxes;
}

// The pair has witness points.
template <class S>
STICTION_FN bool any_near(const EnvView<S>& e, int pair) {
  return any_lane(e.pair_near[pair] > S(0.5));
}

// A pair in place, and the O of its bodies' trees.
template <class S>
struct PlacedPair {
  Vec3<Wide<S>> origin1, origin2;
  Shape<Wide<S>> shape1, shape2;
};
template <class S>
STICTION_SINGLE void place_pair(const ModelView& m, const EnvView<S>& e, int pair,
                                PlacedPair<S>& p) {
  const PairBodies b = pair_bodies(m, pair);
  p.origin1 = tree_origin(m, e, b.body1), p.origin2 = tree_origin(m, e, b.body2);
  p.shape1 = placed_shape(m, e, m.pair_geom1[pair]);
  p.shape2 = placed_shape(m, e, m.pair_geom2[pair]);
}

// gap = distance - margin; contact point (1 - w) p1 + w p2.
template <class S>
struct Candidate {
  S gap;
  Vec3<S> normal, r1, r2;
};
template <class S>
STICTION_FN Candidate<S> candidate(const PlacedPair<S>& p, const Wide<S>& weight,
                                   const Wide<S>& margin, const Witness<Wide<S>>& w) {
  const Vec3<Wide<S>> point = w.point1 + weight * (w.point2 - w.point1);
  return {narrow<S>(w.distance - margin), narrow3<S>(w.normal), narrow3<S>(point - p.origin1),
          narrow3<S>(point - p.origin2)};
}
template <class S>
STICTION_FN void store_candidate(EnvView<S>& e, int slot, const Candidate<S>& c) {
  e.cand_gap[slot] = c.gap;
  store3(e.cand_normal, slot, c.normal);
  store3(e.cand_r1, slot, c.r1), store3(e.cand_r2, slot, c.r2);
}

// pair_near is 1 and these: more points touch than the pair has slots; it may touch farther away than is looked.
inline constexpr double kOverflows = 1, kIsCut = 2;

// A lane in which a search finds the shapes farther apart than `reach` is near no longer. `closing`: how fast the pair
// may close, or null (SearchLimit).
template <Colliders has, class S>
STICTION_FN void narrow_phase(const ModelView& m, EnvView<S>& e, int pair,
                              S reach = S(std::numeric_limits<double>::infinity()),
                              const ClosingMotion<Wide<S>>* closing = nullptr) {
  using W = Wide<S>;
  LimitOf<has, W> limit{};
  limit.reach = widen(reach);
  limit.closing = closing;
  if constexpr (has >= Colliders::convex)
    if (is_searched(m, pair)) {
      const Vec3<S> axis = load3(e.cand_normal, m.pair_slotadr[pair]);
      limit.axis = {widen(axis.x), widen(axis.y), widen(axis.z)};
    }
  PlacedPair<S> p;
  place_pair(m, e, pair, p);
  collide_shapes<W, has>(
      shape_kind<has>(m, e, m.pair_geom1[pair]), shape_kind<has>(m, e, m.pair_geom2[pair]),
      p.shape1, p.shape2, widen_mask<S>(e.pair_near[pair] > S(0.5)), limit,
      [&](int k, const Witness<W>& w) {
        store_candidate(e, m.pair_slotadr[pair] + k,
                        candidate(p, e.pair_weight[pair], e.pair_margin[pair], w));
      });
  if constexpr (has >= Colliders::boxes)
    e.pair_near[pair] = select(narrow_mask<S>(limit.beyond > W(0.5)), S(0.0), e.pair_near[pair]);
  if constexpr (has >= Colliders::hfields)
    e.pair_near[pair] =
        e.pair_near[pair] + narrow<S>(W(kOverflows) * limit.overflow + W(kIsCut) * limit.cut);
}

STICTION_PHYSICS_END
