// Touch and contact sensors, and the time since a body last touched anything: sums over the points
// of the last solve.
#pragma once

#include "physics/sensor/sensor_zone.h"
#include "physics/tree/frames.h"

STICTION_PHYSICS_BEGIN

// A contact point of the last solve: its geoms and their bodies.
struct PointBodies {
  int point, geom1, geom2, body1, body2;
};

template <class S, class F>
STICTION_FN void for_each_point(const ModelView& m, const EnvView<S>& e, const F& f) {
  for (int i = 0; i < e.npoint[0]; ++i) {
    const int pair = m.slot_pair[e.point_slot[i]];
    const int* const body = e.point_body + 2 * i;
    f(PointBodies{i, m.pair_geom1[pair], m.pair_geom2[pair], body[0], body[1]});
  }
}

// Returns the largest component of the impulse of a point: > 0 if it carries load, even if only by friction.
template <class S>
STICTION_FN S load(const EnvView<S>& e, int point) {
  const Vec3<S> p = load3(e.point_impulse, point);
  return vmax(vmax(vabs(p.x), vabs(p.y)), vabs(p.z));
}

template <class S>
STICTION_FN Vec3<Wide<S>> point_position(const ModelView& m, const EnvView<S>& e,
                                         const PointBodies& p) {
  const bool second = m.body_treeid[p.body2] >= 0;
  const Vec3<S> r = load3(second ? e.point_r2 : e.point_r1, p.point);
  const int tree = m.body_treeid[second ? p.body2 : p.body1];
  return load3(e.xpos, m.tree_origin[tree]) + Vec3<Wide<S>>{widen(r.x), widen(r.y), widen(r.z)};
}

// Returns the sum of the normal forces on the site's body over the points whose outward normal, as a ray, meets
// the shape of the site.
template <class S>
STICTION_FN S touch(const ModelView& m, const EnvView<S>& e, int site) {
  const Frame<S> frame = frame_of(m, e, static_cast<int>(ObjectType::site), site);
  const Mat3<S> axes = narrow_axes<S>(frame.quat);
  S total = S(0.0);
  for_each_point(m, e, [&](const PointBodies& p) {
    if (p.body1 != frame.body && p.body2 != frame.body) return;
    const Vec3<S> n = load3(e.point_normal, p.point);
    const Vec3<S> r = narrow3<S>(point_position(m, e, p) - frame.pos);
    const S impulse = dot(load3(e.point_impulse, p.point), n);
    const auto inside =
        ray_meets<S>(static_cast<GeomType>(m.site_type[site]), load3(e.site_size, site),
                     transposed(axes, r), transposed(axes, p.body2 == frame.body ? -n : n));
    total = total + select(impulse > S(0.0) && inside, impulse, S(0.0));
  });
  return total / S(m.opt.timestep);
}

// Returns whether a geom of the given body matches an object of a contact sensor; xbody: any body of its subtree.
STICTION_FN bool names_geom(const ModelView& m, int objtype, int id, int geom, int body) {
  switch (static_cast<ObjectType>(objtype)) {
    case ObjectType::none: return true;
    case ObjectType::geom: return geom == id;
    case ObjectType::body: return body == id;
    case ObjectType::xbody:
      while (body > id) body = m.body_parentid[body];
      return body == id;
    default: return false;
  }
}

// Returns 1 if the point is between the sensor's first and second object, -1 in reverse order, 0 if neither.
STICTION_FN int contact_direction(const ModelView& m, int sensor, const PointBodies& p) {
  const int type1 = m.sensor_objtype[sensor], id1 = m.sensor_objid[sensor];
  const int type2 = m.sensor_reftype[sensor], id2 = m.sensor_refid[sensor];
  if (names_geom(m, type1, id1, p.geom1, p.body1) && names_geom(m, type2, id2, p.geom2, p.body2))
    return 1;
  if (names_geom(m, type1, id1, p.geom2, p.body2) && names_geom(m, type2, id2, p.geom1, p.body1))
    return -1;
  return 0;
}

template <class S>
struct ContactReading {
  S found;        // points that carry load
  Vec3<S> force;  // of the first object on the second, world axes
};
template <class S>
STICTION_FN ContactReading<S> contact_reading(const ModelView& m, const EnvView<S>& e, int sensor) {
  S found = S(0.0);
  Vec3<S> impulse = zero3<S>();
  for_each_point(m, e, [&](const PointBodies& p) {
    const int direction = contact_direction(m, sensor, p);
    if (direction == 0) return;
    found = found + select(load(e, p.point) > S(0.0), S(1.0), S(0.0));
    impulse = impulse + S(direction) * load3(e.point_impulse, p.point);
  });
  return {found, (S(1.0) / S(m.opt.timestep)) * impulse};
}

// Updates body_airtime, the time since the last step in which a contact loaded the body: 0 after such a step,
// else + δt. `moves`: lanes that take the step; the others keep their time.
template <class Team, class S>
STICTION_FN void advance_airtime(const Team& team, const ModelView& m, EnvView<S>& e,
                                 const Mask<S>& moves) {
  team.for_each(m.nbody, [&](int b) {
    S largest = S(0.0);
    for (int k = e.body_pointadr[b]; k < e.body_pointadr[b + 1]; ++k) {
      const int entry = e.body_point[k];
      largest = vmax(load(e, (entry > 0 ? entry : -entry) - 1), largest);
    }
    const S time = select(largest > S(0.0), S(0.0), e.body_airtime[b] + S(m.opt.timestep));
    e.body_airtime[b] = select(moves, time, e.body_airtime[b]);
  });
}

STICTION_PHYSICS_END
