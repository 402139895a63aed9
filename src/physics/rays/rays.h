// Rays against the geoms of an environment: which geom each ray hits first, with the semantics of MuJoCo's mj_ray.
//
// reads   xpos, xquat; placements and sizes of geoms
// writes  the arrays that the caller passes
//
//   o + x d,  d of any length:  x is in units of d
#pragma once

#include "physics/base/views.h"
#include "physics/rays/ray.h"

STICTION_PHYSICS_BEGIN

STICTION_FN bool is_met(const ModelView& m, const RayOptions& o, int g) {
  const int mask = m.geom_raymask[g];
  return (mask & o.geomgroup) != 0 && (o.flg_static || (mask & kRayStatic) == 0) &&
         m.geom_bodyid[g] != o.bodyexclude;
}

template <class W>
struct PlacedFrame {
  Vec3<W> pos;
  Mat3<W> axes;
};
// Uses only fields that are valid outside of a step, too; xmat is not.
template <class S>
STICTION_FN PlacedFrame<Wide<S>> frame_of_geom(const ModelView& m, const EnvView<S>& e, int g) {
  const int b = m.geom_bodyid[g];
  const Quat<Wide<S>> q = load4(e.xquat, b);
  return {load3(e.xpos, b) + rotate(q, load3(e.geom_pos, g)), matrix(q * load4(e.geom_quat, g))};
}

// What a ray has hit so far: x, or kNoHit; the geom's number, or -1; the unit outward normal there, or zero.
template <class W>
struct RayHit {
  W distance, geom;
  Vec3<W> normal;
};
template <class W>
STICTION_FN RayHit<W> no_hit() {
  return {W(kNoHit), W(-1.0), zero3<W>()};
}

// Returns whether the ray comes within `bound` of the origin of a shape: it begins there, or approaches and
//   (p·d)² >= d² (|p|² − bound²)
template <class W>
STICTION_FN Mask<W> comes_near(const Vec3<W>& p, const Vec3<W>& d, double bound) {
  const W along = dot(p, d), outside = dot(p, p) - W(bound * bound);
  return outside <= W(0.0) || (along < W(0.0) && along * along >= dot(d, d) * outside);
}

// The properties of a geom that may differ between environments: its sizes, and its mesh.
template <class W>
struct GeomShape {
  Vec3<W> size;
  W mesh;
};
template <class S>
STICTION_FN GeomShape<Wide<S>> geom_shape(const EnvView<S>& e, int g) {
  return {load3(e.geom_size, g), widen(e.geom_dataid[g])};
}

// Casts the ray against a mesh or height field, lane by lane; p and d in the frame of the geom.
template <class W>
STICTION_OUTLINE W ray_in_lanes(const ModelView& m, int g, const GeomShape<W>& shape,
                                const Vec3<W>& p, const Vec3<W>& d, Vec3<W>& normal) {
  W x(kNoHit);
  const int id = m.geom_dataid[g];
  per_lane<W>([&](int lane) {
    const Vec3<double> from = get_lane(p, lane), along = get_lane(d, lane);
    Vec3<double> n = zero3<double>();
    double at;
    if (m.geom_type[g] == static_cast<int>(GeomType::hfield)) {
      at = ray_hfield(hfield_of({&m, id}), m.hfield_bottom[id], m.hfield_top[id], from, along, n);
    } else {
      if (!comes_near(from, along, static_cast<double>(m.geom_rbound[g]))) return;
      at = ray_hull(chosen_hull(m, get_lane(shape.mesh, lane), id), from, along, n);
    }
    set_lane(x, lane, at), set_lane(normal, lane, n);
  });
  return x;
}

// Casts the ray from + x along, given in the frame of geom g, whose axes are `axes`; `hit` becomes the nearer of both
// hits, the first one if they are equal.
template <class W>
STICTION_FN void meet_geom(const ModelView& m, int g, const GeomShape<W>& shape,
                           const Mat3<W>& axes, const Vec3<W>& from, const Vec3<W>& along,
                           RayHit<W>& hit) {
  const auto type = static_cast<GeomType>(m.geom_type[g]);
  const bool in_lanes = type == GeomType::mesh || type == GeomType::hfield;
  const bool bounded = type != GeomType::plane && type != GeomType::hfield;
  if (bounded && !any_lane(comes_near(from, along, static_cast<double>(m.geom_rbound[g])))) return;
  Vec3<W> normal = zero3<W>();
  const W x = in_lanes                  ? ray_in_lanes(m, g, shape, from, along, normal)
              : type == GeomType::plane ? ray_plane(shape.size, from, along)
                                        : first_end(stretch_in(type, shape.size, from, along));
  const Mask<W> nearer = x >= W(0.0) && (hit.distance < W(0.0) || x < hit.distance);
  if (!any_lane(nearer)) return;
  if (!in_lanes) normal = surface_normal(type, shape.size, from + x * along);
  const W length = norm(normal);
  const Vec3<W> unit = axes * ((W(1.0) / divisor<W>(length > W(0.0), length)) * normal);
  hit.distance = select(nearer, x, hit.distance);
  hit.geom = select(nearer, W(static_cast<double>(g)), hit.geom);
  hit.normal = select<W>(nearer, unit, hit.normal);
}

// Casts one ray.
template <class S>
STICTION_FN RayHit<Wide<S>> cast_ray(const ModelView& m, const EnvView<S>& e,
                                     const RayOptions& options, const Vec3<Wide<S>>& o,
                                     const Vec3<Wide<S>>& d) {
  RayHit<Wide<S>> hit = no_hit<Wide<S>>();
  STICTION_ROLLED
  for (int g = 0; g < m.ngeom; ++g) {
    if (!is_met(m, options, g)) continue;
    const PlacedFrame<Wide<S>> f = frame_of_geom(m, e, g);
    meet_geom(m, g, geom_shape(e, g), f.axes, transposed(f.axes, o - f.pos), transposed(f.axes, d),
              hit);
  }
  return hit;
}

// Casts n rays of six numbers each, o and d in the frame of the body `frame`. Hits are five numbers: x, geom, normal.
template <class Team, class S>
STICTION_FN void cast_rays(const Team& team, const ModelView& m, const EnvView<S>& e,
                           const RayOptions& options, int frame, int n, const Wide<S>* rays,
                           Wide<S>* hits) {
  using W = Wide<S>;
  const Vec3<W> pos = load3(e.xpos, frame);
  const Mat3<W> axes = matrix(load4(e.xquat, frame));
  team.for_each(n, [&](int k) {
    hits[5 * k] = W(kNoHit), hits[5 * k + 1] = W(-1.0);
    store3(hits + 5 * k + 2, 0, zero3<W>());
  });
  for (int g = 0; g < m.ngeom; ++g) {
    if (!is_met(m, options, g)) continue;
    const GeomShape<W> shape = geom_shape(e, g);
    const PlacedFrame<W> placed = frame_of_geom(m, e, g);
    // the frame of the rays, in the frame of the geom
    const PlacedFrame<W> seen{transposed(placed.axes, pos - placed.pos),
                              {transposed(placed.axes, axes.x), transposed(placed.axes, axes.y),
                               transposed(placed.axes, axes.z)}};
    team.for_each(n, [&](int k) {
      W* const to = hits + 5 * k;
      RayHit<W> hit{to[0], to[1], load3(to + 2, 0)};
      meet_geom(m, g, shape, placed.axes, seen.pos + seen.axes * load3(rays, 2 * k),
                seen.axes * load3(rays, 2 * k + 1), hit);
      to[0] = hit.distance, to[1] = hit.geom, store3(to + 2, 0, hit.normal);
    });
  }
}

STICTION_PHYSICS_END
