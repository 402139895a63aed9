#include "reference/step/step.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "reference/constraint/equalities.h"
#include "reference/contact/adhesion.h"
#include "reference/step/friction.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

// Returns the motion with the rows of the joints, by one Newton step from v0: v* if no row acts at v0. v* itself
// does not feel a servo whose target jumps.
VecX motion_with_rows(const Problem& rows_only, const VecX& v0) {
  const Evaluation e = evaluate(rows_only, v0);
  return v0 - e.hessian.llt().solve(e.gradient());
}

// Contribution of mocap bodies and surfaces to the velocities of body 2 relative to body 1 at a point, in its frame;
// `carried`: the motion of the bodies with their joints at rest. A surface moves tangentially, so it has no normal
// part.
struct Drift {
  Vec3 velocity, omega;
};
Drift drift_at(const Model& m, const Kinematics& kin, const std::vector<Motion>& carried,
               const ContactPoint& p) {
  const auto of_geom = [&](int g, const Vec3& normal) {
    const auto b = at(m.geom_bodyid[at(g)]);
    Drift drift = {carried[b].velocity_at(p.pos - kin.xpos[b]), carried[b].omega};
    if (m.geom_surfacevel.empty()) return drift;
    const Vec3 v = kin.geom_xmat[at(g)] * row3(m.geom_surfacevel, 2 * g);
    const Vec3 w = kin.geom_xmat[at(g)] * row3(m.geom_surfacevel, 2 * g + 1);
    const Vec3 u = v + w.cross(p.pos - kin.geom_xpos[at(g)]);
    drift.velocity += u - normal.dot(u) * normal, drift.omega += w;
    return drift;
  };
  const Vec3 n = p.frame.col(2);
  const Drift d1 = of_geom(p.geom1, n), d2 = of_geom(p.geom2, n);
  return {p.frame.transpose() * (d2.velocity - d1.velocity),
          p.frame.transpose() * (d2.omega - d1.omega)};
}

Contacts contact_constraints(const Model& m, const Options& o, double dt, const Kinematics& kin,
                             const StepInputs& in, const VecX& v0, const DelassusScale& delassus,
                             Problem& problem) {
  Contacts contacts;
  std::vector<ContactPoint> candidates = candidate_points(m, o, kin, in.more_friction);
  const bool speculative = o.contact_pairs == ContactPairs::speculative;
  if (!speculative) candidates = penetrating_deepest(candidates);
  const std::vector<Motion> bodies = motion(m, kin, in.qvel, in.mocap_vel);
  const std::vector<Real> rest(at(m.nv), Real(0));
  const std::vector<Motion> carried = motion(m, kin, rest, in.mocap_vel);
  const VecX v_rows = motion_with_rows(problem, v0);

  for (ContactPoint& p : candidates) {
    const Mat3X J = contact_jacobian(m, kin, p);
    const Drift drift = drift_at(m, kin, carried, p);
    p.v_c0 = J * v0 + drift.velocity;
    if (p.restitution > 0) p.rebound = in.rebound[at(p.slot)];
    const Reach r = reach(m, o, dt, p);
    if (speculative &&
        !may_act(m, dt, r, p.gap, {p.v_c0, J * v_rows + drift.velocity}, p.rebound)) {
      contacts.left_out.push_back({J, r, p.gap, drift.velocity});
      continue;
    }
    if (o.stiction == Stiction::anchored) {
      const Vec3 n = p.frame.col(2);
      const Vec3& w1 = bodies[at(m.geom_bodyid[at(p.geom1)])].omega;
      const Vec3& w2 = bodies[at(m.geom_bodyid[at(p.geom2)])].omega;
      const Real angle = 0.5 * dt * n.dot(w1 + w2);
      p.anchor = spin_anchor(row3(in.anchor, p.slot), n, angle);
      if (m.nanchor > m.nslot) {
        const Vec3 z = row3(in.anchor, m.nslot + p.slot), about = n.dot(z) * n;
        p.turned = about + spin_anchor(z - about, n, angle);
      }
    }
    p.w = delassus(J);
    if (p.w == 0) continue;  // neither body can move at this point
    problem.points.push_back({J, contact_law(m, o, dt, p.v_c0, p)});
    problem.points.back().contact = static_cast<int>(contacts.points.size());
    problem.points.back().drift = drift.velocity, problem.points.back().drift_turning = drift.omega;
    if (m.pair_torsion[at(p.pair)] > 0 || m.pair_rolling[at(p.pair)] > 0) {
      PointConstraint& c = problem.points.back();
      c.J_turning = turning_jacobian(m, kin, p);
      p.w_turning = delassus(c.J_turning);
      c.couple = couple_law(m, o, dt, c.law, p);
    }
    contacts.points.push_back(p);
  }
  return contacts;
}

// Returns the tree of each dof, as the first body with joints on the path from the root to it.
std::vector<int> trees(const Model& m) {
  std::vector<int> of_body(at(m.nbody), -1), tree;
  for (int b = 1; b < m.nbody; ++b) {
    const int parent = of_body[at(m.body_parentid[at(b)])];
    of_body[at(b)] = parent >= 0 || m.body_dofnum[at(b)] == 0 ? parent : b;
  }
  for (int i = 0; i < m.nv; ++i) tree.push_back(of_body[at(m.dof_bodyid[at(i)])]);
  return tree;
}

// Returns the start of Newton's method: v0, or v0 scaled down so that no barrier is passed and every gap keeps
// half of its length.
VecX start(const Options& o, const VecX& v0, const Problem& problem,
           const std::vector<ContactPoint>& points) {
  Real share = 1;
  for (std::size_t i = 0; i < points.size() && o.normal_law != NormalLaw::hunt_crossley; ++i) {
    const Real closing = -*o.timestep * problem.points[i].J.row(2).dot(v0);
    if (points[i].gap > 0 && share * closing > 0.5 * points[i].gap)
      share = 0.5 * points[i].gap / closing;
  }
  return share == 1 ? v0 : VecX(share * v0);
}

bool in_range(std::span<const Real> qpos, const VecX& v, Status& status) {
  for (const Real& q : qpos)
    if (!(abs(q) <= kStateLimit)) status |= Status::bad_state;
  if (!v.allFinite())
    status |= Status::bad_state;
  else if (v.size() > 0 && v.cwiseAbs().maxCoeff() > kVelocityLimit)
    status |= Status::velocity_limit;
  return !any(status, kFrozen);
}

}  // namespace

Step take_step(const Model& m, const Options& o, const StepInputs& in) {
  const double dt = *o.timestep;
  const VecX v0 = Eigen::Map<const VecX>(in.qvel.data(), m.nv);
  Step s;
  if (!in_range(in.qpos, v0, s.status)) return s;

  // free motion
  s.kin = kinematics(m, in.qpos, in.mocap_pos, in.mocap_quat);
  s.free = free_motion(m, o, s.kin, in);
  if (!s.free.solved) s.status |= Status::cholesky_failed;
  if (!s.free.converged) s.status |= Status::not_converged;
  if (!in_range(in.qpos, s.free.v_star, s.status)) return s;

  // constraints
  s.problem = {s.free.A, s.free.v_star, {}, {}, {}, trees(m)};
  const DelassusScale delassus(m, s.kin, s.free.A);
  const std::vector<Tendon> lengths = tendons(m, s.kin, in.qpos);
  s.problem.rows = joint_rows(m, o, dt, s.free, in, delassus, s.kin, lengths);
  s.problem.blocks = equality_blocks(m, dt, s.kin, lengths, in, delassus);
  s.contacts = contact_constraints(m, o, dt, s.kin, in, v0, delassus, s.problem);

  // adhesion: changes v* by A⁻¹ δt f
  if (std::ranges::count(m.actuator_trntype, Transmission::body) > 0)
    s.problem.v_star += s.free.A.llt().solve(
        dt * adhesion_force(m, s.kin, s.contacts.points,
                            actuation(m, s.kin, lengths, in.qpos, in.qvel, in.ctrl, in.act)));

  // solve
  s.solution =
      solve_contacts(o, start(o, v0, s.problem, s.contacts.points), s.contacts.points, s.problem);
  s.status |= s.solution.status;
  if (!in_range(in.qpos, s.solution.v, s.status)) return s;

  // integrate: v ← v + 0 and q ← q ⊕ δt v; frozen if the result is out of range
  const double share = theta(o.scheme).position;
  s.v = s.solution.v.array() + 0.0;
  s.q = integrate_position(m, in.qpos, share == 1 ? s.v : VecX(share * s.v + (1 - share) * v0), dt);
  s.v_end = second_half(s.free.turning, dt, s.v).array() + 0.0;
  in_range({s.q.data(), at(m.nq)}, s.v_end, s.status);
  return s;
}

}  // namespace stiction::reference::inline STICTION_REAL
