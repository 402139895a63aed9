#include "reference/constraint/equalities.h"

#include <algorithm>

namespace stiction::reference::inline STICTION_REAL {
namespace {

constexpr double kRigid = 1e30;  // N/m and more: k = ∞, and τ = δt, as in Drake

// Returns 1/R, R = max(β² w/4π², 1/(δt k (δt + τ))); 0 if nothing can move.
Real inverse_compliance(double dt, double time, double k, Real w) {
  if (!(w > 0)) return 0;
  return std::min<Real>(dt * time * k, 1 / (near_rigid_factor(kRowNearRigid) * w));
}

}  // namespace

Connection connection(const Model& m, const Kinematics& kin, int equality) {
  const int id1 = m.eq_obj1id[at(equality)], id2 = m.eq_obj2id[at(equality)];
  const bool weld = m.eq_type[at(equality)] == EqualityType::weld;
  Connection c{};
  Quat q1, q2;
  if (m.eq_objtype[at(equality)] == ObjectType::site) {
    c.body1 = m.site_bodyid[at(id1)], c.body2 = m.site_bodyid[at(id2)];
    c.p = kin.site_xpos[at(id1)], c.q = kin.site_xpos[at(id2)];
    q1 = kin.xquat[at(c.body1)] * row4(m.site_quat, id1);
    q2 = kin.xquat[at(c.body2)] * row4(m.site_quat, id2);
  } else {
    const std::span<const double> data = std::span(m.eq_data).subspan(at(11 * equality));
    c.body1 = id1, c.body2 = id2;
    c.p = kin.xpos[at(id1)] + kin.xmat[at(id1)] * row3(data, weld ? 1 : 0);
    c.q = kin.xpos[at(id2)] + kin.xmat[at(id2)] * row3(data, weld ? 0 : 1);
    q1 = kin.xquat[at(id1)] * row4(data.subspan(6), 0);
    q2 = kin.xquat[at(id2)];
  }
  c.at1 = weld ? Vec3(0.5 * (c.p + c.q)) : c.p;
  c.at2 = weld ? c.at1 : c.q;
  c.turn = weld ? log_quat((q2 * q1.conjugate()).normalized()) : Vec3(Vec3::Zero());
  return c;
}

MatX jacobian(const Model& m, const Kinematics& kin, const Connection& c) {
  MatX J(6, m.nv);
  J << rotation_jacobian(m, kin, c.body2) - rotation_jacobian(m, kin, c.body1),
      point_jacobian(m, kin, c.body2, c.at2) - point_jacobian(m, kin, c.body1, c.at1);
  return J;
}

bool is_connection(const Model& m, int equality) {
  const EqualityType type = m.eq_type[at(equality)];
  return type == EqualityType::connect || type == EqualityType::weld;
}

Wrench wrench_of_connections(const Model& m, const Kinematics& kin,
                             std::span<const double> eq_force, int root, const Vec3& pos) {
  Wrench sum;
  for (int i = 0; i < m.neq; ++i) {
    if (!is_connection(m, i)) continue;
    const Vec3 force = row3(eq_force, 2 * i), torque = row3(eq_force, 2 * i + 1);
    const Connection c = connection(m, kin, i);
    const auto add = [&](int body, double sign, const Vec3& point) {
      while (body > root) body = m.body_parentid[at(body)];
      if (body != root) return;
      sum.force += sign * force;
      sum.torque += sign * (torque + (point - pos).cross(force));
    };
    add(c.body1, -1, c.at1), add(c.body2, 1, c.at2);
  }
  return sum;
}

Coupling coupling(const Model& m, std::span<const Real> qpos, const std::vector<Tendon>& tendons,
                  int equality) {
  struct Side {
    Real x = 0;
    VecX J;
  };
  const auto side = [&](int id) {
    Side s{0, VecX::Zero(m.nv)};
    if (id < 0) return s;
    if (m.eq_type[at(equality)] == EqualityType::tendon)
      return Side{tendons[at(id)].length - m.tendon_length0[at(id)], tendons[at(id)].J};
    const auto adr = at(m.jnt_qposadr[at(id)]);
    s.x = qpos[adr] - m.qpos0[adr];
    s.J[m.jnt_dofadr[at(id)]] = 1;
    return s;
  };
  const Side first = side(m.eq_obj1id[at(equality)]), second = side(m.eq_obj2id[at(equality)]);
  Real value = 0, slope = 0;
  for (int k = 4; k >= 0; --k) {  // Horner's scheme
    slope = slope * second.x + value;
    value = value * second.x + m.eq_data[at(11 * equality + k)];
  }
  return {first.x - value, first.J - slope * second.J};
}

std::vector<BlockConstraint> equality_blocks(const Model& m, double dt, const Kinematics& kin,
                                             const std::vector<Tendon>& tendons,
                                             const StepInputs& in, const DelassusScale& delassus) {
  std::vector<BlockConstraint> blocks;
  const std::vector<Real> rest(at(m.nv), Real(0));
  const std::vector<Motion> carried = motion(m, kin, rest, in.mocap_vel);
  for (int i = 0; i < m.neq; ++i) {
    if (in.eq_active[at(i)] == 0) continue;
    const double k = m.eq_stiffness[at(2 * i)], rotational = m.eq_stiffness[at(2 * i + 1)];
    const double time = dt + (k >= kRigid ? dt : m.eq_relaxation_time[at(i)]);
    if (!is_connection(m, i)) {
      const Coupling c = coupling(m, in.qpos, tendons, i);
      const MatX J = c.J.transpose();
      VecX v_hat(1), inverse(1);
      v_hat << -c.gap / time;
      inverse << inverse_compliance(dt, time, k, delassus(J));
      blocks.push_back({i, J, v_hat, inverse});
      continue;
    }
    const Connection c = connection(m, kin, i);
    const MatX J = jacobian(m, kin, c);
    const MatX turn = J.topRows(3), move = J.bottomRows(3);
    // v_c includes the velocities of mocap bodies
    const Motion &V1 = carried[at(c.body1)], &V2 = carried[at(c.body2)];
    const Vec3 drift = V2.velocity_at(c.at2 - kin.xpos[at(c.body2)]) -
                       V1.velocity_at(c.at1 - kin.xpos[at(c.body1)]);
    if (m.eq_type[at(i)] == EqualityType::connect) {
      const Real inverse = inverse_compliance(dt, time, k, delassus(move));
      blocks.push_back({i, move, -(c.q - c.p) / time - drift, Vec3::Constant(inverse)});
      continue;
    }
    // Drake's w of a weld is the scale of all six rows together, whatever their units
    const bool together = m.eq_native[at(i)] != 0;
    VecX v_hat(6), inverse(6);
    v_hat << -c.turn / time - (V2.omega - V1.omega), -(c.q - c.p) / time - drift;
    inverse << Vec3::Constant(
        inverse_compliance(dt, time, rotational, delassus(together ? J : turn))),
        Vec3::Constant(inverse_compliance(dt, time, k, delassus(together ? J : move)));
    blocks.push_back({i, J, v_hat, inverse});
  }
  return blocks;
}

}  // namespace stiction::reference::inline STICTION_REAL
