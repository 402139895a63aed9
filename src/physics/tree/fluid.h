// Forces of the surrounding medium on the bodies, as in MuJoCo: docs/method.md, "Fluid".
//
// reads   cvel0, xquat, xmat, xioff, cdof; placements and sizes of geoms, masses; density, viscosity, wind
// writes  cfrc_fluid, fluid_drag, qfrc_fluid; A
//
// The medium exerts the wrench f at the point c of a body; in the axes of an inertia box or an ellipsoid,
//
//   f = −D(V) (V − wind) + forces that do no work        D = diag ≥ 0: drag, linear and quadratic
//
// D at v0 is implicit, A += δt Jᵀ D J, so that one step with quadratic drag gives the exact solution
// v/(1 + δt c |v|/m), however large δt c |v|/m is. Added mass, Magnus and Kutta forces are explicit.
#pragma once

#include "physics/base/sym6.h"
#include "physics/tree/bias.h"
#include "physics/tree/frames.h"

STICTION_PHYSICS_BEGIN

inline constexpr double kPi = 3.141592653589793;

// In the axes of a box or an ellipsoid: drag coefficients, and the forces other than drag.
template <class S>
struct FluidForce {
  Vec3<S> linear_drag, angular_drag;
  Vec3<S> force, torque;
};

// ---- the inertia box: the box with the body's mass and moments of inertia

template <class S>
STICTION_FN FluidForce<S> fluid_on_box(const ModelView& m, const EnvView<S>& e, int b,
                                       const Vec3<S>& w, const Vec3<S>& v) {
  const Vec3<S> I = load3(e.body_inertia, b);
  const S mass = e.body_mass[b];
  const Mask<S> heavy = mass > S(0.0);
  const S share = select(heavy, S(6.0) / select(heavy, mass, S(1.0)), S(0.0));
  const auto side = [&](S x) { return vsqrt(vmax(x, S(0.0)) * share); };
  const Vec3<S> l = {side(I.y + I.z - I.x), side(I.x + I.z - I.y), side(I.x + I.y - I.z)};

  // Stokes drag of the sphere with the mean diameter
  const S d = (l.x + l.y + l.z) * S(1.0 / 3.0), viscous = S(kPi * m.opt.viscosity) * d;
  const S slow = S(3.0) * viscous, slow_turn = viscous * (d * d);
  // ½ ρ l_j l_k |v_i| on the faces, ρ l_i (l_j⁴ + l_k⁴) |ω_i|/64
  const S half = S(0.5 * m.opt.density), part = S(m.opt.density / 64);
  const Vec3<S> l2 = {l.x * l.x, l.y * l.y, l.z * l.z};
  const Vec3<S> l4 = {l2.x * l2.x, l2.y * l2.y, l2.z * l2.z};
  return {{slow + half * (l.y * l.z) * vabs(v.x), slow + half * (l.x * l.z) * vabs(v.y),
           slow + half * (l.x * l.y) * vabs(v.z)},
          {slow_turn + part * l.x * (l4.y + l4.z) * vabs(w.x),
           slow_turn + part * l.y * (l4.x + l4.z) * vabs(w.y),
           slow_turn + part * l.z * (l4.x + l4.y) * vabs(w.z)},
          zero3<S>(),
          zero3<S>()};
}

// ---- ellipsoids

// Semiaxes of the ellipsoid that represents a geom.
template <class S>
STICTION_FN Vec3<S> semiaxes(const ModelView& m, const EnvView<S>& e, int g) {
  const Vec3<S> size = narrow3<S>(load3(e.geom_size, g));
  switch (static_cast<GeomType>(m.geom_type[g])) {
    case GeomType::sphere: return {size.x, size.x, size.x};
    case GeomType::capsule: return {size.x, size.x, size.x + size.y};
    case GeomType::cylinder: return {size.x, size.x, size.y};
    default: return size;
  }
}

// Returns 8/15 π d0 max(d1, d2)⁴: the largest moment of the ellipsoid's projections along d0.
template <class S>
STICTION_FN S projected_moment(const S& d0, const S& d1, const S& d2) {
  const S d = vmax(d1, d2);
  return S(8.0 / 15.0 * kPi) * d0 * ((d * d) * (d * d));
}

// `coef`: a row of geom_fluid. Evaluated for u = v/|v| and the semiaxes divided by the largest one, so that small
// bodies at small velocities lose no digits.
template <class S>
STICTION_FN FluidForce<S> fluid_on_ellipsoid(const ModelView& m, const Vec3<S>& s,
                                             const double* coef, const Vec3<S>& w,
                                             const Vec3<S>& v) {
  const S density = S(m.opt.density), viscosity = S(m.opt.viscosity);
  const S blunt = S(coef[1]), slender = S(coef[2]), angular = S(coef[3]);
  const S largest = vmax(vmax(s.x, s.y), s.z), least = vmin(vmin(s.x, s.y), s.z);
  const S middle = s.x + s.y + s.z - largest - least;
  const S speed = norm(v);
  const Mask<S> moves = speed > S(0.0);
  const Vec3<S> u = select(moves, S(1.0), S(0.0)) / select(moves, speed, S(1.0)) * v;
  const Vec3<S> a = S(1.0) / largest * s;

  // n: normal of the plane of the silhouette seen along u; shadow: area of the silhouette in that plane
  const S yz = a.y * a.z, xz = a.x * a.z, xy = a.x * a.y;
  const Vec3<S> n = {yz * yz * u.x, xz * xz * u.y, xy * xy * u.z};
  const S num = dot(n, u), denom = norm2(n);
  const auto ratio = [](const S& x, const S& y) {
    const Mask<S> some = y > S(0.0);
    return select(some, x / select(some, y, S(1.0)), S(0.0));
  };
  const S area = S(kPi) * (largest * largest);
  const S shadow = area * vsqrt(ratio(denom, num));

  // Kutta–Joukowski lift, Magnus force, and the added-mass forces p × ω, p × v + L × ω
  const S lift = S(coef[4]) * density * shadow * ratio(num, denom) * (speed * speed);
  const S magnus = S(coef[5] * (4.0 / 3.0 * kPi)) * density * (s.x * s.y * s.z);
  const Vec3<S> p = {S(coef[6]) * density * v.x, S(coef[7]) * density * v.y,
                     S(coef[8]) * density * v.z};
  const Vec3<S> L = {S(coef[9]) * density * w.x, S(coef[10]) * density * w.y,
                     S(coef[11]) * density * w.z};
  FluidForce<S> f;
  f.force = cross(p, w) + magnus * cross(w, v) + lift * cross(cross(n, u), u);
  f.torque = cross(p, v) + cross(L, w);

  // Stokes drag of the sphere with the mean diameter; quadratic drag: blunt of the silhouette, slender of the rest
  const S d = S(2.0 / 3.0) * (s.x + s.y + s.z), viscous = S(kPi) * viscosity * d;
  const S linear =
      S(3.0) * viscous +
      density * speed * (shadow * blunt + slender * (S(kPi) * largest * middle - shadow));
  const S most = S(8.0 / 15.0 * kPi) * middle * ((largest * largest) * (largest * largest));
  const auto moment = [&](const S& d0, const S& d1, const S& d2, const S& rate) {
    const S i = projected_moment(d0, d1, d2);
    return rate * (angular * i + slender * (most - i));
  };
  const Vec3<S> moments = {moment(s.x, s.y, s.z, w.x), moment(s.y, s.z, s.x, w.y),
                           moment(s.z, s.x, s.y, w.z)};
  const S turning = viscous * (d * d) + density * norm(moments);
  f.linear_drag = {linear, linear, linear};
  f.angular_drag = {turning, turning, turning};
  return f;
}

// ---- on the bodies

// Returns Σ d_k a_k a_kᵀ over the axes a_k.
template <class S>
STICTION_FN Sym3<S> along_axes(const Mat3<S>& a, const Vec3<S>& d) {
  const Vec3<S> x = d.x * a.x, y = d.y * a.y, z = d.z * a.z;
  return {x.x * a.x.x + y.x * a.y.x + z.x * a.z.x, x.y * a.x.y + y.y * a.y.y + z.y * a.z.y,
          x.z * a.x.z + y.z * a.y.z + z.z * a.z.z, x.x * a.x.y + y.x * a.y.y + z.x * a.z.y,
          x.x * a.x.z + y.x * a.y.z + z.x * a.z.z, x.y * a.x.z + y.y * a.y.z + z.y * a.z.z};
}

// Adds the wrench of the medium on element k of body b, and its drag coefficients, about O.
template <class S>
STICTION_RARE void add_fluid(const ModelView& m, const EnvView<S>& e, int b, int k,
                             Spatial<S>& wrench, Sym6<S>& drag) {
  const int g = m.fluid_geom[k];
  const Frame<S> frame =
      frame_of(m, e, static_cast<int>(g < 0 ? ObjectType::body : ObjectType::geom), g < 0 ? b : g);
  const Vec3<Wide<S>> origin = load3(e.xpos, m.tree_origin[m.body_treeid[b]]);
  const Vec3<S> c = narrow3<S>(frame.pos - origin);
  const Mat3<S> axes = narrow_axes<S>(frame.quat);
  const Spatial<S> V = load6(e.cvel0, b);
  const Vec3<S> wind = {S(m.opt.wind[0]), S(m.opt.wind[1]), S(m.opt.wind[2])};
  const Vec3<S> w = transposed(axes, V.a), v = transposed(axes, velocity_at(V, c) - wind);

  const FluidForce<S> f =
      g < 0 ? fluid_on_box(m, e, b, w, v)
            : fluid_on_ellipsoid(m, semiaxes(m, e, g), m.fluid_coef + 12 * k, w, v);
  const Vec3<S>&dl = f.linear_drag, &da = f.angular_drag;
  const Vec3<S> force =
      axes * Vec3<S>{f.force.x - dl.x * v.x, f.force.y - dl.y * v.y, f.force.z - dl.z * v.z};
  const Vec3<S> torque =
      axes * Vec3<S>{f.torque.x - da.x * w.x, f.torque.y - da.y * w.y, f.torque.z - da.z * w.z};
  wrench = wrench + Spatial<S>{torque + cross(c, force), force};
  Sym6<S> here = about_origin(c, along_axes(axes, dl));
  here.aa = here.aa + along_axes(axes, da);
  drag = drag + here;
}

template <class S>
STICTION_FN void body_fluid(const ModelView& m, EnvView<S>& e, int b) {
  Spatial<S> wrench = zero6<S>();
  Sym6<S> drag = {};
  for (int k = m.body_fluidadr[b]; k < m.body_fluidadr[b + 1]; ++k)
    add_fluid(m, e, b, k, wrench, drag);
  store6(e.cfrc_fluid, b, wrench);
  store_sym6(e.fluid_drag, b, drag);
}

// Accumulates fluid_drag over subtrees, from the leaves to the root, as gather_forces does with forces.
template <class Team, class S>
STICTION_FN void gather_drag(const Team& team, const ModelView& m, EnvView<S>& e) {
  for (int l = m.nlevel - 2; l > 0; --l) {
    const int first = m.level_adr[l];
    team.for_each(m.level_adr[l + 1] - first, [&](int i) {
      const int b = m.level_body[first + i];
      const int begin = m.child_adr[b], end = m.child_adr[b + 1];
      if (m.body_treeid[b] < 0 || begin == end) return;
      Sym6<S> sum = load_sym6(e.fluid_drag, b);
      for (int c = begin; c < end; ++c) sum = sum + load_sym6(e.fluid_drag, m.child_body[c]);
      store_sym6(e.fluid_drag, b, sum);
    });
  }
}

template <class Team, class S>
STICTION_FN void fluid(const Team& team, const ModelView& m, EnvView<S>& e) {
  if (m.nfluidbody == 0) return;
  team.for_each(m.nbody, [&](int b) { body_fluid(m, e, b); });
  gather_forces(team, m, e.cfrc_fluid);
  gather_drag(team, m, e);
  const S dt = S(m.opt.timestep);
  team.for_each(m.nv, [&](int i) {
    const int b = m.dof_bodyid[i];
    const Spatial<S> axis = load6(e.cdof, i), reaction = load_sym6(e.fluid_drag, b) * axis;
    e.qfrc_fluid[i] = dot(axis, load6(e.cfrc_fluid, b));
    // A_ij += δt S_j · D_b S_i
    S* const row = e.A + tri(i, 0);
    for (int j = i; j >= 0; j = m.dof_parentid[j])
      row[j] = row[j] + dt * dot(load6(e.cdof, j), reaction);
  });
}

STICTION_PHYSICS_END
