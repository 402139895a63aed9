// How fast the points of a searched pair may close their gap, for the narrow phase of the law lagged: shapes that are too far
// apart to act along their normal have their nearest points alone.
//
// reads   geom_xpos, geom_off, geom_bound, cvel0, cvel_free, gravity, pair_margin
#pragma once

#include "physics/contact/cull.h"

STICTION_PHYSICS_BEGIN

// Pairs of which convex_points asks: no planes, fields, or two boxes. A rebound closes without a speed.
STICTION_FN bool knows_closing(const ModelView& m, int pair) {
  const GeomType type1 = static_cast<GeomType>(m.geom_type[m.pair_geom1[pair]]);
  const GeomType type2 = static_cast<GeomType>(m.geom_type[m.pair_geom2[pair]]);
  return m.opt.contact_model == kLagged && m.nrebound == 0 && type1 != GeomType::plane &&
         type1 != GeomType::hfield && colliders_of(type1, type2) >= Colliders::convex;
}

// The velocity of body 2 against body 1 at the centre of the second geom, or of the first where that alone can move. A
// contact point is no farther beside that geom than its gap is wide, and how far it is along the normal changes nothing of
// its speed along the normal. With room for round-off.
template <class S>
STICTION_FN ClosingMotion<Wide<S>> pair_closing(const ModelView& m, const EnvView<S>& e, int pair) {
  const int g1 = m.pair_geom1[pair], g2 = m.pair_geom2[pair];
  const PairBodies b = pair_bodies(m, pair);
  const S *bound1 = e.geom_bound + 4 * g1, *bound2 = e.geom_bound + 4 * g2;
  const bool second = can_move(m, b.body2);
  const Vec3<S> off1 = load3(e.geom_off, g1), off2 = load3(e.geom_off, g2), d = off2 - off1;
  // the centre about the O of either tree
  const Vec3<S> c1 = second ? bound_centre(m, e, g1) + d : bound_centre(m, e, g1);
  const Vec3<S> c2 = second ? bound_centre(m, e, g2) : bound_centre(m, e, g2) - d;
  const S room = bound1[0] + bound2[0] + norm(off1) + norm(off2);
  const S round = S(kSlack * epsilon<S>());
  const S slack = round * (bound1[1] + bound2[1] +
                           (bound1[2] + bound2[2]) * (norm(c1) + norm(c2) + S(2.0) * room));
  const S h2 = S(2.0 * m.opt.timestep), margin = narrow<S>(e.pair_margin[pair]);
  ClosingMotion<Wide<S>> closing;
  const auto consider = [&](int k, const S* cvel) {
    const Spatial<S> v1 = load6(cvel, b.body1), v2 = load6(cvel, b.body2);
    const Vec3<S> v = velocity_at(v2, c2) - velocity_at(v1, c1);
    const Vec3<S> spin = v2.a - v1.a;
    closing.velocity[k] = {widen(v.x), widen(v.y), widen(v.z)};
    closing.spin[k] = {widen(spin.x), widen(spin.y), widen(spin.z)};
  };
  consider(0, e.cvel0), consider(1, e.cvel_free);
  closing.radius = widen(second ? bound2[0] : bound1[0]);
  closing.rest =
      widen(reach_of_gravity(m, e) + margin + round * (room + vabs(margin)) + h2 * slack);
  closing.twice_horizon = widen(h2 * (S(1.0) + round));
  return closing;
}

STICTION_PHYSICS_END
