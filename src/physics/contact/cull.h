// Finds pairs that may touch in this step: a bound for each geom, one comparison for each pair whose links are near
// (cull_links.h), and a closer comparison (cull_axes.h) if the pair passes.
//
// reads   xpos, xmat, geom_pos, geom_quat, geom_size, cvel0, cvel_free
// writes  geom_xpos, geom_off, geom_bar, geom_bound; cand_normal of searched pairs: the axis that separates their boxes
//
// A point acts only if gap <= 2 h max(0, -z) + 8 |g| δt², z = v_n - μ |v_t| at v0 or v_free
// (activation.h). With d <= gap + margin a lower bound on the distance of the geoms, s a bound on the
// speed of a geom's points and ω on its angular speed,
//   -z <= (1 + μ)(s1 + s2) + μ max(ω1, ω2) d
// since the contact point is at most d away from a point of each geom, along the normal. The closer
// comparison uses the speed and the angular speed of one geom relative to the body of the other, and of the speed
// only the part that may close the gap along the axis that separates the geoms.
#pragma once

#include "physics/base/team.h"
#include "physics/contact/activation.h"
#include "physics/contact/cull_axes.h"
#include "physics/tree/mocap.h"
#include "physics/tree/pair_bodies.h"

STICTION_PHYSICS_BEGIN

// geom_bound of a geom: a sphere around its centre, at geom_off: radius, speed of its points, angular speed.
// Of a plane: its normal and the height of the first tree's O above it.
// Both allow for round-off.
template <class S>
struct GeomBound {
  S radius, speed, turning;
};

inline constexpr double kSlack = 32;      // in units of round-off
inline constexpr int kClosingRounds = 2;  // each starts with the reach that the round before found

// Returns the bound in one of the two predictors, whose velocities are `cvel`.
template <class S>
STICTION_FN GeomBound<S> moving_bound(const S* cvel, int body, const Vec3<S>& centre, S radius) {
  const Spatial<S> v = load6(cvel, body);
  const S turning = norm(v.a);
  const S slack = S(kSlack * epsilon<S>()) * (norm(v.l) + turning * norm(centre));
  return {radius, norm(velocity_at(v, centre)) + turning * radius + slack, turning};
}

// Returns the centre of the geom, about O of its tree.
template <class S>
STICTION_FN Vec3<S> bound_centre(const ModelView& m, const EnvView<S>& e, int g) {
  const int body = m.geom_bodyid[g];
  if (m.body_treeid[body] == 0) return load3(e.geom_off, g);
  return narrow3<S>(load3(e.geom_xpos, g) - tree_origin(m, e, body));
}

template <class S>
STICTION_FN void sphere_bound(const ModelView& m, EnvView<S>& e, int g) {
  const int body = m.geom_bodyid[g];
  const Vec3<S> off = load3(e.geom_off, g);
  S* bound = e.geom_bound + 4 * g;
  const S radius = S(static_cast<double>(m.geom_rbound[g]));
  bound[0] = radius + S(kSlack * epsilon<S>()) * (radius + norm(off));
  bound[1] = bound[2] = bound[3] = S(0.0);
  if (!can_move(m, body)) return;
  const Vec3<S> centre = bound_centre(m, e, g);
  const GeomBound<S> start = moving_bound(e.cvel0, body, centre, bound[0]);
  const GeomBound<S> free = moving_bound(e.cvel_free, body, centre, bound[0]);
  bound[1] = vmax(start.speed, free.speed);
  bound[2] = vmax(start.turning, free.turning);
}

// Returns whether the geom is bounded by a plane; for a height field that plane passes through its highest node.
STICTION_FN bool is_bounded_by_plane(const ModelView& m, int g) {
  const GeomType type = static_cast<GeomType>(m.geom_type[g]);
  return type == GeomType::plane || type == GeomType::hfield;
}

// Returns whether the geoms may be near whatever their bounds say: there is no bound for a plane that moves.
STICTION_FN bool is_everywhere(const ModelView& m, int pair) {
  const int g1 = m.pair_geom1[pair];
  return is_bounded_by_plane(m, g1) && can_move(m, m.geom_bodyid[g1]);
}

template <class S>
STICTION_FN void plane_bound(const ModelView& m, EnvView<S>& e, int g) {
  using W = Wide<S>;
  const Vec3<W> n = placed_shape(m, e, g).rot.z;
  const double top =
      m.geom_type[g] == static_cast<int>(GeomType::hfield) ? m.hfield_top[m.geom_dataid[g]] : 0.0;
  Vec3<W> origin = zero3<W>();
  if (m.ntree > 0) origin = load3(e.xpos, m.tree_origin[0]);
  const S height = narrow<S>(dot(n, origin - load3(e.geom_xpos, g)) - W(top));
  store3(e.geom_bound + 4 * g, 0, narrow3<S>(n));
  e.geom_bound[4 * g + 3] = height - S(kSlack * epsilon<S>()) * vabs(height);
}

template <class S>
STICTION_FN void place_geom(const ModelView& m, EnvView<S>& e, int g) {
  using W = Wide<S>;
  const int body = m.geom_bodyid[g];
  const Vec3<W> x = load3(e.xpos, body) + load9(e.xmat, body) * load3(e.geom_pos, g);
  const Vec3<W> origin = m.ntree > 0 ? load3(e.xpos, m.tree_origin[0]) : zero3<W>();
  store3(e.geom_xpos, g, x);
  store3(e.geom_off, g, narrow3<S>(x - origin));
}

template <class Team, class S>
STICTION_FN void geom_bounds(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.for_each(m.npairgeom, [&](int i) {
    const int g = m.pair_geom[i];
    place_geom(m, e, g);
    if (is_bounded_by_plane(m, g))
      plane_bound(m, e, g);
    else
      sphere_bound(m, e, g);
  });
  team.for_each(m.nhullgeom, [&](int i) { place_bars(m, e, m.hull_geom[i]); });
}

// Returns the largest lower bound d on the distance at which a pair may act, with the horizon h.
template <class S>
STICTION_FN S reach_of(const ModelView& m, S margin, S mu, S h, S speed, S turning,
                       S gravity_reach) {
  if (m.opt.contact_model == kLagged)
    return vmax(margin + gravity_reach + S(2 * m.opt.timestep) * speed, S(0.0));
  const S h2 = S(2.0) * h;
  const S reach = vmax(margin + gravity_reach + h2 * ((S(1.0) + mu) * speed), S(0.0));
  // d (1 - 2 h μ ω) <= reach
  const S share = S(1.0 - kSlack * epsilon<S>()) - h2 * mu * turning;
  const Mask<S> bounded = share > S(0.0);
  return select(bounded, reach / select(bounded, share, S(1.0)),
                S(std::numeric_limits<double>::infinity()));
}
template <class S>
STICTION_FN S pair_reach(const ModelView& m, const EnvView<S>& e, int pair, S speed, S turning,
                         S gravity_reach) {
  const S margin = narrow<S>(e.pair_margin[pair]);
  if (m.opt.contact_model == kLagged)
    return reach_of(m, margin, S(0.0), S(0.0), speed, turning, gravity_reach);
  return reach_of(m, margin, sliding_friction(m, e, pair), horizon(m, e, pair), speed, turning,
                  gravity_reach);
}

// Returns pair_reach with the velocity of one body relative to the other; not for bodies of two trees.
template <class S>
STICTION_FN S relative_reach(const ModelView& m, const EnvView<S>& e, int pair, S gravity_reach) {
  const int g1 = m.pair_geom1[pair], g2 = m.pair_geom2[pair];
  const PairBodies b = pair_bodies(m, pair);
  const S *bound1 = e.geom_bound + 4 * g1, *bound2 = e.geom_bound + 4 * g2;
  const int g = can_move(m, b.body2) ? g2 : g1;
  const S radius = e.geom_bound[4 * g];
  const Vec3<S> c = bound_centre(m, e, g);
  const S extent = norm(c) + S(2.0) * (bound1[0] + bound2[0]) +
                   norm(load3(e.geom_off, g2) - load3(e.geom_off, g1));
  const S slack =
      S(kSlack * epsilon<S>()) * (bound1[1] + bound2[1] + (bound1[2] + bound2[2]) * extent);
  S speed = S(0.0), turning = S(0.0);
  const auto consider = [&](const S* cvel) {
    const Spatial<S> v = load6(cvel, b.body2) - load6(cvel, b.body1);
    const S spin = norm(v.a);
    speed = vmax(speed, norm(velocity_at(v, c)) + spin * radius + slack);
    turning = vmax(turning, spin);
  };
  consider(e.cvel0), consider(e.cvel_free);
  return pair_reach(m, e, pair, speed, turning, gravity_reach);
}

// Returns the maximum of -n·v over unit n within an angle of the unit axis m whose cosine is c. With α = -m·v,
// β = |v + α m|:   α c + β sqrt(1 - c²) if -v is outside of that cone, α < c |v|, else |v|
template <class S>
STICTION_FN S closing_speed(const Vec3<S>& v, const Vec3<S>& m, S c) {
  const S speed = norm(v), alpha = -dot(m, v), beta = norm(v + alpha * m);
  const S across = vsqrt(vmax(S(1.0 + kSlack * epsilon<S>()) - c * c, S(0.0)));
  return select(alpha < c * speed, alpha * c + beta * across, speed);
}

// Returns pair_reach of the law lagged, in which only the closing speed -n·v matters. The nearest points of shapes that
// are s > 0 apart along the unit axis m, and near enough to act, differ by D n with D <= reach:
//   D (m·n) >= s,  so  m·n >= s / reach
// v, the velocity of body 2 relative to body 1 at a point of geom g, differs from that at its centre by at most
// ω radius. `room`: magnitude of the numbers from which s is computed.
template <class S>
STICTION_FN S closing_reach(const ModelView& m, const EnvView<S>& e, int pair, const Vec3<S>& d,
                            const Separation<S>& apart, S reach, S room, S gravity_reach) {
  const int g1 = m.pair_geom1[pair], g2 = m.pair_geom2[pair];
  const PairBodies b = pair_bodies(m, pair);
  const S *bound1 = e.geom_bound + 4 * g1, *bound2 = e.geom_bound + 4 * g2;
  const bool second = can_move(m, b.body2);
  const S radius = second ? bound2[0] : bound1[0];
  // the centre of g, about O of either tree
  const Vec3<S> c1 = second ? bound_centre(m, e, g1) + d : bound_centre(m, e, g1);
  const Vec3<S> c2 = second ? bound_centre(m, e, g2) : bound_centre(m, e, g2) - d;
  const S round = S(kSlack * epsilon<S>()), zero = S(0.0);
  const S slack = round * (bound1[1] + bound2[1] +
                           (bound1[2] + bound2[2]) * (norm(c1) + norm(c2) + S(2.0) * room));
  const S doubt = round * (room + reach), least = apart.distance - doubt;
  const Mask<S> separate = least > zero && reach < S(std::numeric_limits<double>::infinity());
  const S c = select(separate, least, zero) / select(separate, reach + doubt, S(1.0));
  S closing = zero;
  const auto consider = [&](const S* cvel) {
    const Spatial<S> v1 = load6(cvel, b.body1), v2 = load6(cvel, b.body2);
    const S spin = norm(v2.a - v1.a) * radius;
    const Vec3<S> v = velocity_at(v2, c2) - velocity_at(v1, c1);
    closing = vmax(closing, closing_speed(v, apart.axis, vmin(c, S(1.0))) + spin + slack);
  };
  consider(e.cvel0), consider(e.cvel_free);
  const S within = pair_reach(m, e, pair, closing, zero, gravity_reach);
  return select(separate, vmin(reach, within), reach);
}

// Returns gravity_drop with room for round-off.
template <class S>
STICTION_FN S reach_of_gravity(const ModelView& m, const EnvView<S>& e) {
  return S(1.0 + kSlack * epsilon<S>()) * gravity_drop(m, e);
}

// Returns how far apart shapes may be to act, as the closer comparison begins with it; with room for round-off.
template <class S>
STICTION_FN S search_reach(const ModelView& m, const EnvView<S>& e, int pair) {
  const S *bound1 = e.geom_bound + 4 * m.pair_geom1[pair],
          *bound2 = e.geom_bound + 4 * m.pair_geom2[pair];
  const S gravity_reach = reach_of_gravity(m, e);
  if (is_everywhere(m, pair)) return S(std::numeric_limits<double>::infinity());
  if (is_bounded_by_plane(m, m.pair_geom1[pair])) {
    const S reach = pair_reach(m, e, pair, bound2[1], bound2[2], gravity_reach);
    const S room = bound2[0] + norm(load3(e.geom_off, m.pair_geom2[pair]));
    return reach + S(kSlack * epsilon<S>()) * (room + reach);
  }
  S reach =
      pair_reach(m, e, pair, bound1[1] + bound2[1], vmax(bound1[2], bound2[2]), gravity_reach);
  if (have_one_motion(m, pair_bodies(m, pair)))
    reach = vmin(reach, relative_reach(m, e, pair, gravity_reach));
  const S room = bound1[0] + bound2[0] + norm(load3(e.geom_off, m.pair_geom1[pair])) +
                 norm(load3(e.geom_off, m.pair_geom2[pair]));
  return reach + S(kSlack * epsilon<S>()) * (room + reach);
}

// The first comparison: of two bounding spheres, or of one with a plane.
template <class S>
struct SphereGap {
  Vec3<S> d;  // between the centres
  S radii;    // the sum of both
  S reach;    // within which the pair may act
};
template <class S>
STICTION_FN SphereGap<S> sphere_gap(const ModelView& m, const EnvView<S>& e, int pair,
                                    S gravity_reach) {
  const int g1 = m.pair_geom1[pair], g2 = m.pair_geom2[pair];
  const S *bound1 = e.geom_bound + 4 * g1, *bound2 = e.geom_bound + 4 * g2;
  return {load3(e.geom_off, g2) - load3(e.geom_off, g1), bound1[0] + bound2[0],
          pair_reach(m, e, pair, bound1[1] + bound2[1], vmax(bound1[2], bound2[2]), gravity_reach)};
}
template <class S>
STICTION_FN Mask<S> spheres_meet(const SphereGap<S>& gap) {
  const S spheres = gap.radii + gap.reach;
  return norm2(gap.d) <= S(1.0 + kSlack * epsilon<S>()) * (spheres * spheres);
}
template <class S>
STICTION_FN Mask<S> plane_meets(const ModelView& m, const EnvView<S>& e, int pair,
                                S gravity_reach) {
  const int g2 = m.pair_geom2[pair];
  const S *bound1 = e.geom_bound + 4 * m.pair_geom1[pair], *bound2 = e.geom_bound + 4 * g2;
  const S height = bound1[3] + dot(load3(bound1, 0), load3(e.geom_off, g2)) - bound2[0];
  return height <= S(1.0 + kSlack * epsilon<S>()) *
                       pair_reach(m, e, pair, bound2[1], bound2[2], gravity_reach);
}

// The closer comparison, in lanes whose spheres meet. Leaves the separating axis as the normal of the pair's first
// slot, for a search to try first.
template <class S>
STICTION_FN Mask<S> hulls_meet(const ModelView& m, EnvView<S>& e, int pair, SphereGap<S> gap,
                               Mask<S> near, S gravity_reach) {
  const int g1 = m.pair_geom1[pair], g2 = m.pair_geom2[pair];
  const S *bound1 = e.geom_bound + 4 * g1, *bound2 = e.geom_bound + 4 * g2;
  if (have_one_motion(m, pair_bodies(m, pair))) {
    gap.reach = vmin(gap.reach, relative_reach(m, e, pair, gravity_reach));
    near = near && spheres_meet(gap);
    if (!any_lane(near)) return near;
  }
  S reach = gap.reach;
  const Separation<S> apart = separation(geom_hull(m, e, g1), geom_hull(m, e, g2), gap.d);
  if (is_searched(m, pair)) store3(e.cand_normal, m.pair_slotadr[pair], apart.axis);
  const S room = bound1[0] + bound2[0] + norm(load3(e.geom_off, g1)) + norm(load3(e.geom_off, g2));
  if (m.opt.contact_model == kLagged)
    for (int k = 0; k < kClosingRounds; ++k)
      reach = closing_reach(m, e, pair, gap.d, apart, reach, room, gravity_reach);
  return near && apart.distance <= reach + S(kSlack * epsilon<S>()) * (room + reach);
}

template <class S>
STICTION_FN Mask<S> may_touch(const ModelView& m, EnvView<S>& e, int pair, S gravity_reach) {
  if (is_bounded_by_plane(m, m.pair_geom1[pair])) return plane_meets(m, e, pair, gravity_reach);
  const SphereGap<S> gap = sphere_gap(m, e, pair, gravity_reach);
  const Mask<S> near = spheres_meet(gap);
  return any_lane(near) ? hulls_meet(m, e, pair, gap, near, gravity_reach) : near;
}

STICTION_PHYSICS_END
