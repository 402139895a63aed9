#include "reference/actuation/tendons.h"

#include <algorithm>
#include <limits>

#include "tendon_path.h"

namespace stiction::reference::inline STICTION_REAL {

namespace {

// Returns how much longer a tendon is than the dead band of its spring; negative: shorter.
Real stretch(const Model& m, int t, Real length) {
  return length - std::clamp<Real>(length, m.tendon_lengthspring[at(2 * t)],
                                   m.tendon_lengthspring[at(2 * t + 1)]);
}

// Returns c of the force −x c, without a part that repels or drives: rows have no such part.
Real spring_of(const Model& m, int t, const Real& x) {
  return std::max<Real>(0, polynomial(m.tendon_stiffness[at(t)], m.tendon_stiffnesspoly, t, x));
}
Real damper_of(const Model& m, int t, const Real& v) {
  return std::max<Real>(0, polynomial(m.tendon_damping[at(t)], m.tendon_dampingpoly, t, abs(v)));
}

}  // namespace

std::vector<Tendon> tendons(const Model& m, const Kinematics& kin, std::span<const Real> qpos) {
  std::vector<Tendon> all;
  for (int t = 0; t < m.ntendon; ++t) {
    Tendon tendon{0, VecX::Zero(m.nv)};
    const int begin = m.tendon_adr[at(t)], end = begin + m.tendon_num[at(t)];
    for (int w = begin; w < end && m.wrap_type[at(w)] == WrapType::joint; ++w) {
      const auto j = at(m.wrap_objid[at(w)]);
      tendon.length += m.wrap_coef[at(w)] * qpos[at(m.jnt_qposadr[j])];
      tendon.J[m.jnt_dofadr[j]] += m.wrap_coef[at(w)];
    }
    if (m.wrap_type[at(begin)] != WrapType::joint) {
      const auto path = tendon_path<Real>(
          m, t, [&](int b) { return kin.xpos[at(b)]; }, [&](int b) { return kin.xmat[at(b)]; });
      tendon.length = path.length;
      for (const auto& part : path.parts)
        tendon.J += part.share *
                    (point_jacobian(m, kin, part.body2, part.p2) -
                     point_jacobian(m, kin, part.body1, part.p1))
                        .transpose() *
                    part.direction();
    }
    all.push_back(tendon);
  }
  return all;
}

std::vector<Real> tendon_bias(const Model& m, const Kinematics& kin,
                              const std::vector<Motion>& bodies) {
  std::vector<Real> all(at(m.ntendon), Real(0));
  for (int t = 0; t < m.ntendon; ++t) {
    const auto begin = m.wrap_type.begin() + m.tendon_adr[at(t)], end = begin + m.tendon_num[at(t)];
    if (std::any_of(begin, end, [](WrapType type) {
          return type != WrapType::site && type != WrapType::pulley;
        }))
      continue;
    const auto path = tendon_path<Real>(
        m, t, [&](int b) { return kin.xpos[at(b)]; }, [&](int b) { return kin.xmat[at(b)]; });
    for (const auto& part : path.parts) {
      const Motion &s1 = bodies[at(part.body1)], &s2 = bodies[at(part.body2)];
      const Vec3 r1 = part.p1 - kin.xpos[at(part.body1)], r2 = part.p2 - kin.xpos[at(part.body2)];
      const Vec3 d = part.p2 - part.p1, u = s2.velocity_at(r2) - s1.velocity_at(r1),
                 a = s2.acceleration_at(r2) - s1.acceleration_at(r1);
      const Real length = d.norm();
      if (length == 0) continue;
      // d²/dt² √(d·d)
      const Real rate = d.dot(u) / length;
      all[at(t)] += part.share * (u.dot(u) + d.dot(a) - rate * rate) / length;
    }
  }
  return all;
}

std::vector<RowConstraint> tendon_forces(const Model& m, double dt, const std::vector<Tendon>& all,
                                         const std::vector<Real>& bias, const VecX& v0) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  std::vector<RowConstraint> rows;
  for (int t = 0; t < m.ntendon; ++t) {
    const auto& [length, J] = all[at(t)];
    // impulse δt k (rest − l − δt v) beyond either end of the dead band
    if (const Real k = spring_of(m, t, stretch(m, t, length)); k != 0) {
      const Real R = 1 / (dt * dt * k);
      rows.push_back({J, LimitLaw{R, (m.tendon_lengthspring[at(2 * t)] - length) / dt}});
      rows.push_back({-J, LimitLaw{R, (length - m.tendon_lengthspring[at(2 * t + 1)]) / dt}});
    }
    // force −d v − a (v + δt ṁ·v0 − m·v0)/δt
    const Real d = damper_of(m, t, J.dot(v0));
    const double a = m.tendon_armature[at(t)];
    if (d != 0 || a != 0) {
      const Real before = J.dot(v0) - dt * bias[at(t)];
      rows.push_back({J, ServoLaw{dt, a / dt * before, d + a / dt, -kInf, kInf}});
    }
  }
  return rows;
}

std::vector<RowConstraint> tendon_limits(const Model& m, const Options& o, double dt, int t,
                                         const Tendon& tendon, const VecX& v0, const VecX& push,
                                         const DelassusScale& delassus) {
  const VecX& J = tendon.J;
  const Real w = delassus(J.transpose());
  if (m.tendon_limited[at(t)] == 0 || w == 0) return {};
  const double low = m.tendon_range[at(2 * t)], high = m.tendon_range[at(2 * t + 1)];
  const double margin = m.tendon_margin[at(t)];
  const Real lower = tendon.length - low - margin, upper = high - margin - tendon.length;
  JointLimits limits = {limit_law(dt, w, lower), limit_law(dt, w, upper)};
  if (limit_law(o) == Limits::solref) {
    const Recovery back =
        recovery(dt, {m.tendon_solref[at(2 * t)], m.tendon_solref[at(2 * t + 1)]});
    const Real v = J.dot(v0);
    limits = solref_limits(dt, w, back, kLimitDepth * (high - low), lower, upper, v,
                           v + delassus(J, push));
  }
  return {{J, limits.lower}, {-J, limits.upper}};
}

Real friction_shift(const Options& o, double dt, std::span<const double> anchors, int k) {
  return o.stiction == Stiction::anchored ? -anchors[at(k)] / (kAnchorTime * dt) : 0;
}

std::vector<RowConstraint> tendon_friction(const Model& m, const Options& o, double dt,
                                           std::span<const double> anchors,
                                           const std::vector<Tendon>& all,
                                           const DelassusScale& delassus) {
  std::vector<RowConstraint> rows;
  for (int t = 0; t < m.ntendon; ++t) {
    const double loss = m.tendon_frictionloss[at(t)];
    const Real w = delassus(all[at(t)].J.transpose());
    const int k = m.nv + t;
    if (loss != 0 && w > 0)
      rows.push_back(
          {all[at(t)].J,
           DryFrictionLaw{o.regularization * w, Real(dt * loss), friction_shift(o, dt, anchors, k)},
           k});
  }
  return rows;
}

void clamp_tendon_actuation(const Model& m, VecX& force) {
  for (int t = 0; t < m.ntendon; ++t) {
    if (m.tendon_actfrclimited[at(t)] == 0) continue;
    const auto pulls = [&](int a) {
      return m.actuator_trntype[at(a)] == Transmission::tendon && m.actuator_trnid[at(a)] == t;
    };
    Real total = 0;
    for (int a = 0; a < m.nu; ++a)
      if (pulls(a)) total += force[a];
    if (total == 0) continue;
    const Real bounded = std::clamp<Real>(total, m.tendon_actfrcrange[at(2 * t)],
                                          m.tendon_actfrcrange[at(2 * t + 1)]);
    for (int a = 0; a < m.nu; ++a)
      if (pulls(a)) force[a] *= bounded / total;
  }
}

VecX tendon_spring_force(const Model& m, const std::vector<Tendon>& all) {
  VecX f = VecX::Zero(m.nv);
  for (int t = 0; t < m.ntendon; ++t) {
    const Real x = stretch(m, t, all[at(t)].length);
    f -= spring_of(m, t, x) * x * all[at(t)].J;
  }
  return f;
}

VecX tendon_damper_force(const Model& m, const std::vector<Tendon>& all, const VecX& v) {
  VecX f = VecX::Zero(m.nv);
  for (int t = 0; t < m.ntendon; ++t) {
    const Real rate = all[at(t)].J.dot(v);
    f -= damper_of(m, t, rate) * rate * all[at(t)].J;
  }
  return f;
}

Real tendon_energy(const Model& m, const std::vector<Tendon>& all) {
  Real energy = 0;
  for (int t = 0; t < m.ntendon; ++t) {
    const Real x = stretch(m, t, all[at(t)].length);
    energy += polynomial_energy(m.tendon_stiffness[at(t)], m.tendon_stiffnesspoly, t, x);
  }
  return energy;
}

}  // namespace stiction::reference::inline STICTION_REAL
