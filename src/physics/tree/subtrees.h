// Sums over the subtree of a body: centre of mass, momenta, and the force that the parent exerts on the body.
#pragma once

#include "physics/tree/frames.h"

STICTION_PHYSICS_BEGIN

// Bodies are in depth-first order: a subtree ends before the first body whose parent precedes b.
STICTION_FN bool in_subtree(const ModelView& m, int b, int c) {
  return c == b || (c < m.nbody && m.body_parentid[c] >= b);
}

// Returns I ω in world axes, about the centre of mass of body b.
template <class S>
STICTION_FN Vec3<S> inertia_times(const EnvView<S>& e, int b, const Vec3<S>& omega) {
  const Mat3<S> r = narrow_axes<S>(load4(e.xquat, b) * widen4(load4(e.body_iquat, b)));
  const Vec3<S> moments = load3(e.body_inertia, b), w = transposed(r, omega);
  return r * Vec3<S>{moments.x * w.x, moments.y * w.y, moments.z * w.z};
}

template <class S>
struct Subtree {
  Vec3<Wide<S>> com;  // of body b alone if the subtree has no mass
  Vec3<S> velocity;   // of the centre of mass
};
// Returns Σ m c / Σ m and Σ m v / Σ m.
template <class S>
STICTION_FN Subtree<S> subtree(const ModelView& m, const EnvView<S>& e, int b) {
  using W = Wide<S>;
  W mass = W(0.0);
  Vec3<W> first = zero3<W>();
  Vec3<S> momentum = zero3<S>();
  for (int c = b; in_subtree(m, b, c); ++c) {
    const Vec3<W> com = body_com(e, c);
    mass = mass + widen(e.body_mass[c]);
    first = first + widen(e.body_mass[c]) * com;
    momentum = momentum + e.body_mass[c] * point_velocity(e, c, com);
  }
  const auto some = mass > W(0.0);
  const W inverse = W(1.0) / select(some, mass, W(1.0));
  return {select<W>(some, inverse * first, body_com(e, b)), narrow<S>(inverse) * momentum};
}

// Returns Σ m (c − com) × (v − v_com) + I ω.
template <class S>
STICTION_FN Vec3<S> subtree_angular_momentum(const ModelView& m, const EnvView<S>& e, int b) {
  const Subtree<S> s = subtree(m, e, b);
  Vec3<S> total = zero3<S>();
  for (int c = b; in_subtree(m, b, c); ++c) {
    const Vec3<Wide<S>> com = body_com(e, c);
    const Vec3<S> v = point_velocity(e, c, com) - s.velocity;
    total = total + e.body_mass[c] * cross(narrow3<S>(com - s.com), v) +
            inertia_times(e, c, load6(e.xvel, c).a);
  }
  return total;
}

STICTION_FN bool is_below(const ModelView& m, int b, int c) {
  while (c > b) c = m.body_parentid[c];
  return c == b;
}

// Returns the torque about `pos` and the force that connects and welds exert on the subtree of b.
template <class S>
STICTION_FN Spatial<S> block_forces(const ModelView& m, const EnvView<S>& e, int b,
                                    const Vec3<Wide<S>>& pos) {
  Spatial<S> total = zero6<S>();
  for (int k = 0; k < m.neq; ++k) {
    const Spatial<S> on2 = S(m.opt.step_rate) * load6(e.block_impulse, k);
    for (int n = 0; n < 2; ++n) {
      const int c = m.eq_body[2 * k + n], tree = m.body_treeid[c];
      if (tree < 0 || !is_below(m, b, c)) continue;
      const Vec3<S> arm =
          load3(e.block_r, 2 * k + n) + narrow3<S>(load3(e.xpos, m.tree_origin[tree]) - pos);
      const Spatial<S> f = n == 1 ? on2 : S(-1.0) * on2;
      total = total + Spatial<S>{f.a + cross(arm, f.l), f.l};
    }
  }
  return total;
}

// Returns the torque about `pos` and the force that the parent exerts on body b:
//   Σ f,  Σ (c − pos) × f + τ   over the subtree, with
//   f = m (a − g) − f_contact − f_applied,  τ = I α + ω × I ω − τ_contact − τ_applied
// minus the force of connects and welds
template <class S>
STICTION_FN Spatial<S> interaction(const ModelView& m, const EnvView<S>& e, int b,
                                   const Vec3<Wide<S>>& pos) {
  Spatial<S> total = zero6<S>();
  const Vec3<S> gravity = load3(e.gravity, 0);
  for (int c = b; in_subtree(m, b, c); ++c) {
    const Vec3<Wide<S>> com = body_com(e, c);
    const PointMotion<S> p = point_motion(m, e, c, com);
    const Spatial<S> contact = load6(e.xfrc_contact, c), applied = load6(e.xfrc_applied, c);
    const Vec3<S> f = e.body_mass[c] * (p.acceleration - gravity) - contact.a - applied.a;
    const Vec3<S> torque = inertia_times(e, c, p.alpha) +
                           cross(p.omega, inertia_times(e, c, p.omega)) - contact.l - applied.l;
    total = total + Spatial<S>{cross(narrow3<S>(com - pos), f) + torque, f};
  }
  return total - block_forces(m, e, b, pos);
}

STICTION_PHYSICS_END
