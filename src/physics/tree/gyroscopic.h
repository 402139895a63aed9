// Gyroscopic torque of the free joints, and of the ball joints on the world (turn_jnt), in two halves: before and
// after the solve.
//
// reads   A, crb, cdof, xoff, qvel, qfrc_bodies, v; joint parameters
// writes  gyroscopic_start: turn_body, turn_v (scratch), qfrc_smooth; gyroscopic_end: turn_v, qacc
//
// In the axes of the body, with Ω its angular velocity over the step, I its composite inertia at q0
// (free: about the common centre of mass, ball: about the anchor) and s = tan(δt |Ω|/2)/|Ω|:
//
//   I Ω + s Ω × I Ω = I ω0 + δt τ        solved for Ω; k += A (Ω - explicit Ω)/δt
//   q = q0 exp(δt Ω)                     Ω is the solve's, with contacts
//   I ω = I Ω - s Ω × I Ω
//
// Without torques ω and ω0 have the same energy, whatever s is, and R I ω the same direction, since
// (1 - s Ω×) (1 + s Ω×)⁻¹ rotates by -δt |Ω| about Ω. A joint's armature, damping and stiffness J resist
// the change of its velocity w, but do not rotate with it.
//
// The common centre of mass of a free joint moves in a straight line: v_o + (exp(δt Ω) - 1) r/δt, r its offset, is
// the same before and after.
//
// The torque of a ball joint between moving bodies is explicit, in k, as that of hinges is: an implicit one would
// need the response of the parent body.
#pragma once

#include "physics/base/functions.h"
#include "physics/base/vec.h"
#include "physics/tree/inertia.h"
#include "physics/tree/velocity.h"

STICTION_PHYSICS_BEGIN

inline constexpr int kTurnIterations = 4;  // of Newton's method: error 1e-9 where δt |Ω| <= 1

// The composite inertia that rotates with a joint, in the axes of the joint's body.
template <class S>
struct Turning {
  Sym3<S> inertia;
  Vec3<S> extra;  // J
  Vec3<S> arm;    // r; ball: 0
};
template <class S>
STICTION_FN Turning<S> load_turning(const EnvView<S>& e, int n) {
  const S* const p = e.turn_body + 12 * n;
  return {load_sym3(p, 0), load3(p, 2), load3(p, 3)};
}
template <class S>
STICTION_FN void store_turning(EnvView<S>& e, int n, const Turning<S>& t) {
  S* const p = e.turn_body + 12 * n;
  store_sym3(p, 0, t.inertia);
  store3(p, 2, t.extra), store3(p, 3, t.arm);
}

STICTION_FN bool turns_freely(const ModelView& m, int n) {
  return is_free(m, m.turn_jnt[n]);
}
// The first of the joint's three rotational dofs.
STICTION_FN int first_rotation(const ModelView& m, int n) {
  return m.jnt_dofadr[m.turn_jnt[n]] + (turns_freely(m, n) ? 3 : 0);
}
template <class S>
STICTION_FN Mat3<S> turning_axes(const EnvView<S>& e, int dof) {
  return {load3(e.cdof, 2 * dof), load3(e.cdof, 2 * dof + 2), load3(e.cdof, 2 * dof + 4)};
}
template <class S>
STICTION_FN Vec3<S> times(const Vec3<S>& a, const Vec3<S>& b) {
  return {a.x * b.x, a.y * b.y, a.z * b.z};
}

// Returns Rᵀ a R.
template <class S>
STICTION_FN Sym3<S> seen_in(const Mat3<S>& r, const Sym3<S>& a) {
  const Vec3<S> x = a * r.x, y = a * r.y, z = a * r.z;
  return {dot(r.x, x), dot(r.y, y), dot(r.z, z), dot(r.x, y), dot(r.x, z), dot(r.y, z)};
}

template <class S>
STICTION_FN Turning<S> composite_turning(const ModelView& m, const EnvView<S>& e, int n) {
  const int dof = first_rotation(m, n), body = m.dof_bodyid[dof], joint = m.turn_jnt[n];
  const Mat3<S> axes = turning_axes(e, dof);
  const Inertia<S> i = load_inertia(e.crb, body);
  Turning<S> t;
  t.extra = rotor_inertia(m, e, joint, dof, turns_freely(m, n));
  t.arm = zero3<S>();
  if (turns_freely(m, n)) {
    // about c: second - m (c·c 1 - c cᵀ)
    const Mask<S> heavy = i.mass > S(0.0);
    const Vec3<S> f = i.first;
    const Vec3<S> c = select<S>(heavy, S(1.0) / select(heavy, i.mass, S(1.0)) * f, zero3<S>());
    const Sym3<S>& a = i.second;
    t.inertia =
        seen_in(axes, Sym3<S>{a.xx - (f.y * c.y + f.z * c.z), a.yy - (f.x * c.x + f.z * c.z),
                              a.zz - (f.x * c.x + f.y * c.y), a.xy + f.x * c.y, a.xz + f.x * c.z,
                              a.yz + f.y * c.z});
    t.arm = transposed(axes, c - load3(e.xoff, body));
    return t;
  }
  // about the anchor: S_i · I S_j
  const auto axis = [&](int k) { return load6(e.cdof, dof + k); };
  const Spatial<S> x = i * axis(0), y = i * axis(1), z = i * axis(2);
  t.inertia = {dot(axis(0), x), dot(axis(1), y), dot(axis(2), z),
               dot(axis(0), y), dot(axis(0), z), dot(axis(1), z)};
  return t;
}

// ---- the law

// s and ds/d|Ω|². tan(x)/x as a series in u = (δt |Ω|)², to 1e-6 at u = 1; beyond that, s |Ω| is constant.
template <class S>
struct HalfTurn {
  S s, slope;
};
template <class S>
STICTION_FN HalfTurn<S> half_turn(const S& dt, const Vec3<S>& omega) {
  constexpr double c[] = {1.0, 1.0 / 12, 1.0 / 120, 17.0 / 20160, 31.0 / 362880, 691.0 / 79833600};
  constexpr double d[] = {c[1], 2 * c[2], 3 * c[3], 4 * c[4], 5 * c[5]};
  const Vec3<S> angle = dt * omega;
  const S u = dot(angle, angle);
  const Mask<S> fast = u > S(1.0);
  const S near = select(fast, S(1.0), u), far = select(fast, S(1.0) / vsqrt(u), S(1.0));
  const S t = far * polynomial(c, near);
  const S slope = select(fast, S(-0.5) * t * (far * far), polynomial(d, near));
  return {S(0.5) * dt * t, S(0.5) * dt * (dt * dt) * slope};
}

// Solves a x = b without pivoting: the matrices here are inertias, rotated by less than a right angle.
template <class S>
STICTION_FN Vec3<S> solve3(Mat3<S> a, Vec3<S> b) {
  const S p = S(1.0) / a.x.x;
  const S fy = a.x.y * p, fz = a.x.z * p;
  a.y.y = a.y.y - fy * a.y.x, a.z.y = a.z.y - fy * a.z.x, b.y = b.y - fy * b.x;
  a.y.z = a.y.z - fz * a.y.x, a.z.z = a.z.z - fz * a.z.x, b.z = b.z - fz * b.x;
  const S q = S(1.0) / a.y.y, f = a.y.z * q;
  const S z = (b.z - f * b.y) / (a.z.z - f * a.z.y);
  const S y = (b.y - a.z.y * z) * q;
  return {(b.x - a.y.x * y - a.z.x * z) * p, y, z};
}

// Returns (I + J)⁻¹ b.
template <class S>
STICTION_FN Vec3<S> respond(const Turning<S>& t, const Vec3<S>& b) {
  const Sym3<S>& i = t.inertia;
  return solve3<S>({{i.xx + t.extra.x, i.xy, i.xz},
                    {i.xy, i.yy + t.extra.y, i.yz},
                    {i.xz, i.yz, i.zz + t.extra.z}},
                   b);
}

// Solves I (Ω - Ω0) + J (Ω - Ω0) + s Ω × I Ω = impulse for Ω, by Newton's method from Ω0.
template <class S>
STICTION_RARE Vec3<S> middle_velocity(const Turning<S>& t, const S& dt, const Vec3<S>& omega0,
                                      const Vec3<S>& impulse) {
  Vec3<S> omega = omega0;
  for (int k = 0; k < kTurnIterations; ++k) {
    const Vec3<S> L = t.inertia * omega, torque = cross(omega, L), turned = omega - omega0;
    const HalfTurn<S> h = half_turn(dt, omega);
    const Vec3<S> f = t.inertia * turned + times(t.extra, turned) + h.s * torque - impulse;
    const auto column = [&](int i) {
      const Vec3<S> unit = unit3<S>(i), I = t.inertia * unit;
      return I + h.s * (cross(omega, I) + cross(unit, L)) +
             (S(2.0) * h.slope * dot(omega, unit)) * torque + times(t.extra, unit);
    };
    omega = omega - solve3<S>({column(0), column(1), column(2)}, f);
  }
  return omega;
}

// Rotation over a step. forward: exp(δt Ω) x; secant: the mean velocity of the point at r, (exp(δt Ω) - 1) r/δt.
template <class S>
struct StepTurn {
  Vec3<S> omega;
  S dt, first, second;  // sin θ/θ, (1 - cos θ)/θ²
  STICTION_FN Vec3<S> secant(const Vec3<S>& r) const {
    const Vec3<S> u = cross(omega, r);
    return first * u + (second * dt) * cross(omega, u);
  }
  STICTION_FN Vec3<S> forward(const Vec3<S>& x) const { return x + dt * secant(x); }
};
template <class S>
STICTION_FN StepTurn<S> step_turn(const S& dt, const Vec3<S>& omega) {
  const S angle = norm(dt * omega);
  const SinCos<S> half = sincos(S(0.5) * angle);
  const Mask<S> turns = angle > S(1e-8);
  const S sinc = select(turns, half.sin / select(turns, angle, S(1.0)), S(0.5));
  return {omega, dt, S(2.0) * sinc * half.cos, S(2.0) * sinc * sinc};
}

// ---- the two halves of the step

// Writes turn_v: the change of v* when the implicit torque replaces the explicit torque that is in k.
template <class S>
STICTION_FN void turn_before(const ModelView& m, EnvView<S>& e, int n) {
  const bool free = turns_freely(m, n);
  const int dof = first_rotation(m, n);
  const S dt = S(m.opt.timestep);
  const Turning<S> t = composite_turning(m, e, n);
  store_turning(e, n, t);
  const Vec3<S> w0 = load3(e.qvel + dof, 0);
  Vec3<S> explicit_torque = load3(e.qfrc_bodies + dof, 0);
  if (free) {
    const Vec3<S> f = load3(e.qfrc_bodies + dof - 3, 0);
    explicit_torque = explicit_torque - cross(t.arm, transposed(turning_axes(e, dof), f));
  }
  const Vec3<S> torque = explicit_torque + cross(w0, t.inertia * w0);
  const Vec3<S> w = middle_velocity(t, dt, w0, dt * torque);
  const Vec3<S> euler = w0 + respond(t, dt * explicit_torque);
  if (!free) return store3(e.turn_v, 2 * n, w - euler);
  const Vec3<S> linear =
      cross(euler, t.arm) + dt * cross(w0, cross(w0, t.arm)) - step_turn(dt, w).secant(t.arm);
  store3(e.turn_v, 2 * n, turning_axes(e, dof) * linear);
  store3(e.turn_v, 2 * n + 1, w - euler);
}

// Writes turn_v: the velocity of the joint at the end of the step.
template <class S>
STICTION_FN void turn_after(const ModelView& m, EnvView<S>& e, int n) {
  const int dof = first_rotation(m, n);
  const S dt = S(m.opt.timestep);
  const Turning<S> t = load_turning(e, n);
  const Vec3<S> omega = load3(e.v + dof, 0), torque = cross(omega, t.inertia * omega);
  const Vec3<S> end = omega - respond(t, half_turn(dt, omega).s * torque);
  if (!turns_freely(m, n)) return store3(e.turn_v, 2 * n, end);
  const StepTurn<S> turn = step_turn(dt, omega);
  const Vec3<S> linear = turn.secant(t.arm) - turn.forward(cross(end, t.arm));
  store3(e.turn_v, 2 * n, load3(e.v + dof - 3, 0) + turning_axes(e, dof) * linear);
  store3(e.turn_v, 2 * n + 1, end);
}

// Calls f(i, x) for each dof i of the joint, with its entry x of turn_v.
template <class S, class F>
STICTION_FN void for_turning_dofs(const ModelView& m, const EnvView<S>& e, int n, const F& f) {
  const int dof = m.jnt_dofadr[m.turn_jnt[n]], count = turns_freely(m, n) ? 6 : 3;
  for (int k = 0; k < count; ++k) f(dof + k, e.turn_v[6 * n + k]);
}
template <class Team, class S>
STICTION_FN void gyroscopic_start(const Team& team, const ModelView& m, EnvView<S>& e) {
  if (m.nturn == 0) return;
  team.for_each(m.nturn, [&](int n) { turn_before(m, e, n); });
  const S rate = S(m.opt.step_rate);
  team.for_each(m.nv, [&](int i) {
    S impulse = S(0.0);
    for (int k = m.dof_turnadr[i]; k < m.dof_turnadr[i + 1]; ++k) {
      const int n = m.dof_turn[k];
      for_turning_dofs(m, e, n, [&](int j, const S& x) {
        impulse = impulse + e.A[j <= i ? tri(i, j) : tri(j, i)] * x;
      });
    }
    e.qfrc_smooth[i] = e.qfrc_smooth[i] + rate * impulse;
  });
}

// Runs after the solve; qacc becomes the acceleration up to the end of the step.
template <class Team, class S>
STICTION_FN void gyroscopic_end(const Team& team, const ModelView& m, EnvView<S>& e) {
  team.for_each(m.nturn, [&](int n) {
    turn_after(m, e, n);
    for_turning_dofs(m, e, n,
                     [&](int i, const S& v) { e.qacc[i] = S(m.opt.step_rate) * (v - e.qvel[i]); });
  });
}

STICTION_PHYSICS_END
