// Converts a step to its public result.
#include "reference/step/results.h"

#include <algorithm>

#include "reference/actuation/muscle.h"
#include "reference/contact/rebound.h"

namespace stiction::reference {
namespace {

std::vector<double> to_vector(const VecX& v) {
  return {v.data(), v.data() + v.size()};
}

// Writes impulses, slip and body wrenches of the solution; next anchors and rebounds.
void contact_results(const Model& m, const Options& o, const Step& step, StepResult& s) {
  const double dt = *o.timestep;
  for (std::size_t i = 0; i < step.contacts.points.size(); ++i) {
    const ContactPoint& p = step.contacts.points[i];
    const PointConstraint& constraint = step.problem.points[i];
    const ContactLaw& law = constraint.law;
    const Vec3 v_c = constraint.velocity(step.v), omega = constraint.turning(step.v);
    const Vec3 couple = constraint.turns()
                            ? Vec3(p.frame * evaluate(constraint.couple, omega).impulse)
                            : Vec3(Vec3::Zero());
    const Vec3 impulse = p.frame * evaluate(law, v_c).impulse;
    const Vec3 slip = p.frame.leftCols<2>() * v_c.head<2>();
    Contact c = contact(m, p);
    c.impulse = array3(impulse);
    c.force = array3(impulse / dt);
    c.couple = array3(couple);
    c.torque = array3(couple / dt);
    c.slip = array3(slip);
    c.separation_velocity = v_c.z();
    c.n0 = law.n0, c.eps_s = law.eps;
    s.contacts.push_back(c);

    // wrench on the two bodies about their centres of mass
    const auto add = [&](int b, const Vec3& force, const Vec3& turning) {
      const Vec3 torque = (p.pos - step.kin.xipos[at(b)]).cross(force) + turning;
      for (int k = 0; k < 3; ++k) {
        s.xfrc_contact[at(6 * b + k)] += force[k];
        s.xfrc_contact[at(6 * b + 3 + k)] += torque[k];
      }
    };
    add(m.geom_bodyid[at(p.geom1)], -impulse / dt, -couple / dt);
    add(m.geom_bodyid[at(p.geom2)], impulse / dt, couple / dt);

    if (o.stiction == Stiction::anchored)
      set_row3(s.anchor, p.slot, advance_anchor(p.anchor, slip, dt, law.n0, law.eps));
    if (m.nrebound > 0)
      s.rebound[at(p.slot)] =
          next_rebound(m, o, p, p.v_c0.z(), v_c.z(), evaluate(law, v_c).impulse.z());
    if (o.stiction == Stiction::anchored && constraint.turns())
      set_row3(s.anchor, m.nslot + p.slot,
               advance_turned(p, constraint.couple, p.frame * omega, dt));
  }
  for (const LeftOut& p : step.contacts.left_out)
    if (p.gap + p.reach.horizon * p.reach.opening(p.J * step.v + p.drift) < p.reach.distance)
      s.status |= Status::late_contact;
}

// Writes forces and torques of the blocks on body 2; of a coupling the force along it.
void equality_results(double dt, const Step& step, StepResult& s) {
  for (const BlockConstraint& c : step.problem.blocks) {
    const VecX impulse = c.impulse(step.v);
    const int n = static_cast<int>(impulse.size());
    for (int k = 0; k < n; ++k)  // the torque of a weld comes first
      s.eq_force[at(6 * c.equality + (n == 6 ? (k + 3) % 6 : k))] = impulse[k] / dt;
  }
}

// Moves the mocap bodies by mocap_vel over a step: p + δt v, exp(δt ω) R.
struct MocapPoses {
  std::vector<double> pos, quat;  // (nmocap,3) (nmocap,4)
};
MocapPoses advance_mocap(const Model& m, double dt, std::span<const double> pos,
                         std::span<const double> quat, std::span<const double> vel) {
  MocapPoses next;
  next.pos.resize(at(3 * m.nmocap)), next.quat.resize(at(4 * m.nmocap));
  for (int b = 1; b < m.nbody; ++b) {
    const int k = m.body_mocapid[at(b)];
    if (k < 0) continue;
    Vec3 p = pos.empty() ? row3(m.body_pos, b) : row3(pos, k);
    Quat q = quat.empty() ? row4(m.body_quat, b) : row4(quat, k).normalized();
    if (!vel.empty()) {
      const Vec3 turn = dt * row3(vel, 2 * k);
      const double angle = turn.norm();
      p += dt * row3(vel, 2 * k + 1);
      if (angle > 0) q = (Quat(Eigen::AngleAxisd(angle, turn / angle)) * q).normalized();
    }
    set_row3(next.pos, k, p), set_row4(next.quat, k, q);
  }
  return next;
}

// Returns the result of a step that cannot be taken: the state as it was, zeros elsewhere.
StepResult unchanged(const Model& m, const StepInputs& in) {
  StepResult s;
  s.qpos.assign(in.qpos.begin(), in.qpos.end());
  s.qvel.assign(in.qvel.begin(), in.qvel.end());
  s.anchor.assign(in.anchor.begin(), in.anchor.end());
  s.friction_anchor.assign(in.friction_anchor.begin(), in.friction_anchor.end());
  s.rebound.assign(in.rebound.begin(), in.rebound.end());
  s.act.assign(in.act.begin(), in.act.end());
  s.act.resize(at(m.na));
  const MocapPoses still = advance_mocap(m, 0, in.mocap_pos, in.mocap_quat, {});
  s.mocap_pos = still.pos, s.mocap_quat = still.quat;
  s.v.assign(in.qvel.begin(), in.qvel.end());
  s.v_star.assign(at(m.nv), 0.0);
  s.gen_impulse.assign(at(m.nv), 0.0);
  s.A.assign(at(m.nv * m.nv), 0.0);
  s.xfrc_contact.assign(at(6 * m.nbody), 0.0);
  s.eq_force.assign(at(6 * m.neq), 0.0);
  return s;
}

}  // namespace

Contact contact(const Model& m, const ContactPoint& p) {
  Contact c;
  c.geom1 = p.geom1, c.geom2 = p.geom2, c.pair = p.pair, c.slot = p.slot;
  c.body1 = m.geom_bodyid[at(p.geom1)], c.body2 = m.geom_bodyid[at(p.geom2)];
  c.pos = array3(p.pos);
  c.normal = array3(p.frame.col(2));
  c.gap = p.gap;
  c.friction = p.friction[0], c.friction2 = p.friction[1];
  c.stiffness = p.stiffness, c.dissipation = p.dissipation;
  c.w = p.w;
  return c;
}

StepResult step(const Model& m, const Options& o, const StepInputs& in) {
  const Step taken = take_step(m, o, in);
  StepResult s = unchanged(m, in);
  s.status = taken.status;
  s.iterations = taken.solution.iterations;
  s.linesearch_evaluations = taken.solution.linesearch_evaluations;
  if (any(s.status, kFrozen)) return s;

  s.qpos = to_vector(taken.q);
  s.qvel = to_vector(taken.v_end);
  s.act = next_activations(m, in.ctrl, in.act);
  const MocapPoses moved = advance_mocap(m, *o.timestep, in.mocap_pos, in.mocap_quat, in.mocap_vel);
  s.mocap_pos = moved.pos, s.mocap_quat = moved.quat;
  s.v = to_vector(taken.v);
  s.residual = taken.solution.residual;
  s.cost = taken.solution.cost;
  s.v_star = to_vector(taken.free.v_star);
  s.gen_impulse = to_vector(evaluate(taken.problem, taken.v).impulse);
  Eigen::Map<RowMatX>(s.A.data(), m.nv, m.nv) = taken.free.A;
  std::fill(s.anchor.begin(), s.anchor.end(), 0.0);
  std::fill(s.friction_anchor.begin(), s.friction_anchor.end(), 0.0);
  std::fill(s.rebound.begin(), s.rebound.end(), 0.0);
  for (const RowConstraint& row : taken.problem.rows)
    if (row.friction >= 0 && o.stiction == Stiction::anchored)
      s.friction_anchor[at(row.friction)] =
          advance_friction(std::get<DryFrictionLaw>(row.law), *o.timestep,
                           in.friction_anchor[at(row.friction)], row.J.dot(taken.v));
  contact_results(m, o, taken, s);
  equality_results(*o.timestep, taken, s);
  return s;
}

}  // namespace stiction::reference
