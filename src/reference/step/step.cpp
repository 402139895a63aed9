#include "reference/step/step.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "reference/constraint/equalities.h"
#include "reference/contact/adhesion.h"
#include "reference/solver/islands.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

// Where the rows of the joints take the free motion, by one Newton step from v0; v* if none acts at
// v0, while v* itself knows nothing of a servo whose target jumps.
VecX motion_with_rows(const Problem& rows_only, const VecX& v0) {
  const Evaluation e = evaluate(rows_only, v0);
  return v0 - e.hessian.llt().solve(e.gradient());
}

Contacts contact_constraints(const Model& m, const Options& o, double dt, const Kinematics& kin,
                             const StepInputs& in, const VecX& v0, const DelassusScale& delassus,
                             Problem& problem) {
  Contacts contacts;
  std::vector<ContactPoint> candidates = candidate_points(m, o, kin, in.more_friction);
  const bool speculative = o.contact_pairs == ContactPairs::speculative;
  if (!speculative) candidates = penetrating_deepest(candidates);
  const std::vector<Motion> bodies = motion(m, kin, in.qvel);
  const VecX v_rows = motion_with_rows(problem, v0);

  for (ContactPoint& p : candidates) {
    const Mat3X J = contact_jacobian(m, kin, p);
    const Vec3 v_c0 = J * v0;
    const Reach r = reach(m, o, dt, p);
    if (speculative && !may_act(m, dt, r, p.gap, {v_c0, J * v_rows})) {
      contacts.left_out.push_back({J, r, p.gap});
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
    if (p.w == 0) continue;  // nothing can move at this point
    problem.points.push_back({J, contact_law(m, o, dt, v_c0, p)});
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

constexpr double kFrictionShare = 0.02;

// The bound μ n0 of one kind of friction, and its soft norm's speeds with n0 and with n.
struct Bound {
  Real mu, w, n0, n, eps, next_eps;
};

// By what friction would change if μ n bounded it instead of μ n0: what of it is beyond the new bound, or
// what the new bound adds to it, at most what stops the slip.
Real friction_change(const Bound& b, const Real& slip) {
  const Real now = b.mu * b.n0 * slip / hypot(slip, b.eps);
  if (b.n < b.n0) return std::max<Real>(0, now - b.mu * b.n);
  return b.mu * (b.n - b.n0) * slip / (hypot(slip, b.next_eps) + b.w * b.mu * b.n);
}

// Σ w Δγ² of a point: sliding, torsion and rolling.
Real friction_change2(const Options& o, const ContactPoint& p, const PointConstraint& c,
                      const VecX& v) {
  const Vec3 v_c = c.J * v;
  const Real n = evaluate(c.law, v_c).impulse.z();
  ContactLaw next = c.law;
  set_bound(o, n, p.w, next);
  const Real slide = friction_change({c.law.mu, p.w, c.law.n0, n, c.law.eps, next.eps},
                                     c.law.along.cwiseProduct(v_c.head<2>() + c.law.shift).norm());
  if (!c.turns()) return p.w * slide * slide;

  const Vec3 omega = c.turning(v) + c.couple.shift;
  CoupleLaw couple = c.couple;
  set_bound(o, n, p, couple);
  const Real w = p.w_turning, n0 = c.law.n0;
  const Real torsion = friction_change(
      {couple.torsion, w, n0, n, c.couple.eps_torsion, couple.eps_torsion}, abs(omega.z()));
  const Real rolling = friction_change(
      {couple.rolling, w, n0, n, c.couple.eps_rolling, couple.eps_rolling}, omega.head<2>().norm());
  return p.w * slide * slide + w * (torsion * torsion + rolling * rolling);
}

// Whether friction is wrong by more than a share of the impulses of the step: the larger of those of the
// constraints, A (v − v*), and of all other forces, A (v* − v0); in the norm of diag(A)⁻¹.
bool bounds_moved(const Options& o, const Problem& problem, const std::vector<ContactPoint>& points,
                  const VecX& v0, const VecX& v) {
  Real change2 = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    change2 += friction_change2(o, points[i], problem.points[i], v);
  const VecX inverse = problem.A.diagonal().cwiseInverse();
  const auto norm2 = [&](const VecX& dv) {
    const VecX p = problem.A * dv;
    return p.dot(inverse.cwiseProduct(p));
  };
  return change2 > kFrictionShare * kFrictionShare *
                       std::max(norm2(v - problem.v_star), norm2(problem.v_star - v0));
}

// Where Newton's method starts: at v0, or slower where a barrier would be passed, so that every gap keeps
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

// From the second solve on friction is bounded by the normal impulse of the one before.
Solution solve_contacts(const Options& o, const VecX& v0, Problem& problem,
                        const std::vector<ContactPoint>& points) {
  Solution s = solve_by_islands(problem, start(o, v0, problem, points), *o.solver_tolerance,
                                o.max_iterations);
  for (int k = 1; k < most_solves(o) && !points.empty() && !any(s.status, kFrozen); ++k) {
    if (o.friction_iterations == kAutoFriction && !bounds_moved(o, problem, points, v0, s.v)) break;
    for (std::size_t i = 0; i < points.size(); ++i) {
      PointConstraint& c = problem.points[i];
      const Real n = evaluate(c.law, c.J * s.v).impulse.z();
      set_bound(o, n, points[i].w, c.law);
      if (c.turns()) set_bound(o, n, points[i], c.couple);
    }
    Solution next = solve_by_islands(problem, s.v, *o.solver_tolerance, o.max_iterations);
    next.status |= s.status;
    next.iterations += s.iterations;
    next.linesearch_evaluations += s.linesearch_evaluations;
    s = next;
  }
  return s;
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
  s.problem = {s.free.A, s.free.v_star, {}, {}, {}};
  const DelassusScale delassus(m, s.kin, s.free.A);
  const std::vector<Tendon> lengths = tendons(m, s.kin, in.qpos);
  s.problem.rows = joint_rows(m, o, dt, s.free, in, delassus, s.kin, lengths);
  s.problem.blocks = equality_blocks(m, dt, s.kin, lengths, in, delassus);
  s.contacts = contact_constraints(m, o, dt, s.kin, in, v0, delassus, s.problem);

  // adhesion: v* moves by A⁻¹ δt f
  if (std::ranges::count(m.actuator_trntype, Transmission::body) > 0)
    s.problem.v_star += s.free.A.llt().solve(
        dt * adhesion_force(m, s.kin, s.contacts.points,
                            actuation(m, s.kin, lengths, in.qpos, in.qvel, in.ctrl, in.act)));

  // solve
  s.solution = solve_contacts(o, v0, s.problem, s.contacts.points);
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
