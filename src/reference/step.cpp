#include "reference/step.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace stiction::reference {
namespace {

std::vector<double> to_vector(const VecX& v) {
  return {v.data(), v.data() + v.size()};
}

struct LeftOut {
  Mat3X J;
  Reach reach;
  double gap;
};

// Contact points in the problem, and those without an impulse in this step.
struct Contacts {
  std::vector<ContactPoint> points;
  std::vector<LeftOut> left_out;
};

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
  std::vector<ContactPoint> candidates = candidate_points(m, o, kin);
  const bool speculative = o.contact_pairs == ContactPairs::speculative;
  if (!speculative) candidates = penetrating_deepest(candidates);
  const std::vector<Motion> bodies = motion(m, kin, in.qvel);
  const VecX v_rows = motion_with_rows(problem, v0);

  for (ContactPoint& p : candidates) {
    const Mat3X J = contact_jacobian(m, kin, p);
    const Vec3 v_c0 = J * v0;
    const Reach r = reach(m, o, dt, p.info);
    if (speculative && !may_act(m, dt, r, p.info.gap, {v_c0, J * v_rows})) {
      contacts.left_out.push_back({J, r, p.info.gap});
      continue;
    }
    if (o.stiction == Stiction::anchored) {
      const Vec3 n = p.frame.col(2);
      const Vec3& w1 = bodies[at(m.geom_bodyid[at(p.info.geom1)])].omega;
      const Vec3& w2 = bodies[at(m.geom_bodyid[at(p.info.geom2)])].omega;
      p.anchor = spin_anchor(row3(in.anchor, p.info.slot), n, 0.5 * dt * n.dot(w1 + w2));
    }
    const double w = delassus(J);
    if (w == 0) continue;  // nothing can move at this point
    problem.points.push_back({J, contact_law(m, o, dt, w, v_c0, p)});
    contacts.points.push_back(p);
  }
  return contacts;
}

constexpr double kFrictionShare = 0.02;

// By what friction of a point would change if μ n bounded it instead of μ n0: what of it is beyond the
// new bound, or what the new bound adds to it, at most what stops the slip.
double friction_change(const Options& o, const Contact& c, const ContactLaw& law, const Vec3& v_c) {
  const double mu = c.friction, n = evaluate(law, v_c).impulse.z();
  const double slip = (v_c.head<2>() + law.shift).norm();
  const double now = mu * c.n0 * slip / std::hypot(slip, c.eps_s);
  if (n < c.n0) return std::max(0.0, now - mu * n);
  const double eps = std::max(o.stiction_tolerance, o.regularization * c.w * mu * n);
  return mu * (n - c.n0) * slip / (std::hypot(slip, eps) + c.w * mu * n);
}

// Whether friction is wrong by more than a share of the impulses of the step: the larger of those of the
// constraints, A (v − v*), and of all other forces, A (v* − v0); in the norm of diag(A)⁻¹.
bool bounds_moved(const Options& o, const Problem& problem, const std::vector<ContactPoint>& points,
                  const VecX& v0, const VecX& v) {
  double change2 = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& [J, law] = problem.points[i];
    const double change = friction_change(o, points[i].info, law, J * v);
    change2 += points[i].info.w * change * change;
  }
  const VecX inverse = problem.A.diagonal().cwiseInverse();
  const auto norm2 = [&](const VecX& dv) {
    const VecX p = problem.A * dv;
    return p.dot(inverse.cwiseProduct(p));
  };
  return change2 > kFrictionShare * kFrictionShare *
                       std::max(norm2(v - problem.v_star), norm2(problem.v_star - v0));
}

// From the second solve on friction is bounded by the normal impulse of the one before.
Solution solve_contacts(const Options& o, const VecX& v0, Problem& problem,
                        std::vector<ContactPoint>& points) {
  Solution s = solve(problem, v0, *o.solver_tolerance, o.max_iterations);
  for (int k = 1; k < most_solves(o) && !points.empty() && !any(s.status, kFrozen); ++k) {
    if (o.friction_iterations == kAutoFriction && !bounds_moved(o, problem, points, v0, s.v)) break;
    for (std::size_t i = 0; i < points.size(); ++i) {
      auto& [J, law] = problem.points[i];
      set_bound(o, evaluate(law, J * s.v).impulse.z(), points[i].info, law);
    }
    Solution next = solve(problem, s.v, *o.solver_tolerance, o.max_iterations);
    next.status |= s.status;
    next.iterations += s.iterations;
    next.linesearch_evaluations += s.linesearch_evaluations;
    s = next;
  }
  return s;
}

// Impulses, slip and body wrenches of the solution; next anchors.
void contact_results(const Model& m, const Options& o, double dt, const Kinematics& kin,
                     const Problem& problem, const VecX& v, Contacts& contacts, StepResult& s) {
  for (std::size_t i = 0; i < contacts.points.size(); ++i) {
    ContactPoint& p = contacts.points[i];
    const Vec3 v_c = problem.points[i].J * v;
    const Vec3 impulse = p.frame * evaluate(problem.points[i].law, v_c).impulse;
    const Vec3 slip = p.frame.leftCols<2>() * v_c.head<2>();
    Contact& c = p.info;
    for (std::size_t k = 0; k < 3; ++k) {
      c.impulse[k] = impulse[static_cast<int>(k)];
      c.force[k] = c.impulse[k] / dt;
      c.slip[k] = slip[static_cast<int>(k)];
    }
    c.separation_velocity = v_c.z();
    s.contacts.push_back(c);

    // wrench on the two bodies about their centres of mass
    const Vec3 point(c.pos[0], c.pos[1], c.pos[2]);
    const auto add = [&](int b, const Vec3& force) {
      const Vec3 torque = (point - kin.xipos[at(b)]).cross(force);
      for (int k = 0; k < 3; ++k) {
        s.xfrc_contact[at(6 * b + k)] += force[k];
        s.xfrc_contact[at(6 * b + 3 + k)] += torque[k];
      }
    };
    add(m.geom_bodyid[at(c.geom1)], -impulse / dt);
    add(m.geom_bodyid[at(c.geom2)], impulse / dt);

    if (o.stiction == Stiction::anchored)
      set_row3(s.anchor, c.slot, advance_anchor(p.anchor, slip, dt, c.n0, c.eps_s));
  }
  for (const LeftOut& p : contacts.left_out)
    if (p.gap + p.reach.horizon * p.reach.opening(p.J * v) < 0) s.status |= Status::late_contact;
}

// What a step that can't be taken returns: the state as it was, zeros elsewhere.
StepResult unchanged(const Model& m, const StepInputs& in) {
  StepResult s;
  s.qpos.assign(in.qpos.begin(), in.qpos.end());
  s.qvel.assign(in.qvel.begin(), in.qvel.end());
  s.anchor.assign(in.anchor.begin(), in.anchor.end());
  s.v.assign(in.qvel.begin(), in.qvel.end());
  s.v_star.assign(at(m.nv), 0.0);
  s.gen_impulse.assign(at(m.nv), 0.0);
  s.A.assign(at(m.nv * m.nv), 0.0);
  s.xfrc_contact.assign(at(6 * m.nbody), 0.0);
  return s;
}

bool in_range(std::span<const double> qpos, const VecX& v, Status& status) {
  for (const double q : qpos)
    if (!(std::abs(q) <= kStateLimit)) status |= Status::bad_state;
  if (!v.allFinite())
    status |= Status::bad_state;
  else if (v.size() > 0 && v.cwiseAbs().maxCoeff() > kVelocityLimit)
    status |= Status::velocity_limit;
  return !any(status, kFrozen);
}

}  // namespace

FreeMotion free_motion(const Model& m, const Options& o, const Kinematics& kin,
                       const StepInputs& in) {
  const double dt = *o.timestep;
  const Eigen::Map<const VecX> v0(in.qvel.data(), m.nv), damping(m.dof_damping.data(), m.nv);
  const Eigen::Map<const VecX> applied(in.qfrc_applied.data(), m.nv);
  const VecX stiffness = spring_stiffness(m);

  // A = M + δt D + δt² K
  FreeMotion free{mass_matrix(m, kin), v0, {}};
  free.A.diagonal() += dt * damping + dt * dt * stiffness;

  // k = −bias − D v0 + springs at q0 + δt v0 + explicit forces
  const VecX on_bodies = -bias_force(m, kin, motion(m, kin, in.qvel)) +
                         gravity_compensation(m, kin) + applied_wrenches(m, kin, in.xfrc_applied);
  const VecX k = on_bodies - damping.cwiseProduct(v0) + spring_force(m, in.qpos) -
                 dt * stiffness.cwiseProduct(v0) + explicit_actuation(m, in) + applied;
  const Eigen::LLT<MatX> factor(free.A);
  free.solved = factor.info() == Eigen::Success;
  if (!free.solved) return free;
  free.v_star = v0 + factor.solve(dt * k);
  if (gyroscopic_law(o) == Gyroscopic::midpoint) {
    free.turning = turning(m, dt, kin);
    const FirstHalf change = first_half(free.turning, dt, v0, on_bodies);
    free.v_star += change.velocity + factor.solve(change.impulse);
  }
  return free;
}

StepResult step(const Model& m, const Options& o, const StepInputs& in) {
  const double dt = *o.timestep;
  const VecX v0 = Eigen::Map<const VecX>(in.qvel.data(), m.nv);
  StepResult s = unchanged(m, in);
  if (!in_range(in.qpos, v0, s.status)) return s;

  // free motion
  const Kinematics kin = kinematics(m, in.qpos, in.mocap_pos, in.mocap_quat);
  const FreeMotion free = free_motion(m, o, kin, in);
  if (!free.solved) s.status |= Status::cholesky_failed;
  if (!in_range(in.qpos, free.v_star, s.status)) return s;

  // constraints
  Problem problem{free.A, free.v_star, {}, {}};
  const DelassusScale delassus(m, kin, free.A);
  problem.rows = joint_rows(m, o, dt, free, in, delassus);
  Contacts contacts = contact_constraints(m, o, dt, kin, in, v0, delassus, problem);

  // solve
  const Solution solution = solve_contacts(o, v0, problem, contacts.points);
  s.status |= solution.status;
  s.iterations = solution.iterations;
  s.linesearch_evaluations = solution.linesearch_evaluations;
  if (!in_range(in.qpos, solution.v, s.status)) return s;

  // integrate: v ← v + 0 and q ← q ⊕ δt v; frozen if the result is out of range
  const VecX v = solution.v.array() + 0.0;
  const VecX q = integrate_position(m, in.qpos, v, dt);
  const VecX v_end = second_half(free.turning, dt, v).array() + 0.0;
  if (!in_range({q.data(), at(m.nq)}, v_end, s.status)) return s;
  s.qpos = to_vector(q);
  s.qvel = to_vector(v_end);
  s.v = to_vector(v);

  // results
  s.residual = solution.residual;
  s.cost = solution.cost;
  s.v_star = to_vector(free.v_star);
  s.gen_impulse = to_vector(evaluate(problem, v).impulse);
  Eigen::Map<RowMatX>(s.A.data(), m.nv, m.nv) = free.A;
  std::fill(s.anchor.begin(), s.anchor.end(), 0.0);
  contact_results(m, o, dt, kin, problem, v, contacts, s);
  return s;
}

}  // namespace stiction::reference
