#include "reference/tree/gyroscopic.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

// Half of the torque as an impulse is s Ω × I Ω, s = tan(δt |Ω|/2)/|Ω|: then the momentum rotates about Ω by
// exactly the angle of exp(δt Ω). A series in u = (δt |Ω|)²; from δt |Ω| = 1 on, s |Ω| is constant.
struct Half {
  Real s, slope;  // slope: ds/d|Ω|²
};
Half half(double dt, const Vec3& omega) {
  constexpr double c[] = {1.0, 1.0 / 12, 1.0 / 120, 17.0 / 20160, 31.0 / 362880, 691.0 / 79833600};
  const Real u = dt * dt * omega.squaredNorm(), bounded = std::min<Real>(u, 1);
  Real t = 0, dt_du = 0;
  for (int k = 5; k >= 0; --k) dt_du = dt_du * bounded + t, t = t * bounded + c[k];
  if (u > 1) dt_du = -0.5 * t / (u * sqrt(u)), t /= sqrt(u);
  return {0.5 * dt * t, 0.5 * dt * dt * dt * dt_du};
}

// Returns the mean velocity of the point at r under the rotation exp(δt Ω): (exp(δt Ω) − 1) r / δt.
Vec3 secant(double dt, const Vec3& omega, const Vec3& r) {
  return ((exp_quat(dt * omega) * r) - r) / dt;
}

// Returns the composite inertia of the subtree of b about the point p, in world axes.
Mat3 composite(const Model& m, const Kinematics& kin, const std::vector<bool>& below,
               const Vec3& p) {
  Mat3 sum = Mat3::Zero();
  for (int b = 1; b < m.nbody; ++b) {
    if (!below[at(b)]) continue;
    const Mat3 c = skew(kin.xipos[at(b)] - p);
    sum += kin.ximat[at(b)] * row3(m.body_inertia, b).asDiagonal() * kin.ximat[at(b)].transpose() -
           m.body_mass[at(b)] * c * c;
  }
  return sum;
}

// Solves (I + J) (Ω − Ω0) + s Ω × I Ω = impulse for the midpoint angular velocity Ω.
Vec3 middle(const Turning& t, double dt, const Vec3& omega0, const Vec3& impulse) {
  const Mat3 J = t.extra.asDiagonal();
  const Mat3& I = t.inertia;
  Vec3 omega = omega0;
  for (int k = 0; k < 50; ++k) {
    const Vec3 L = I * omega, torque = omega.cross(L);
    const Half h = half(dt, omega);
    const Vec3 f = (I + J) * (omega - omega0) + h.s * torque - impulse;
    const Mat3 slope =
        I + J + h.s * (skew(omega) * I - skew(L)) + 2 * h.slope * torque * omega.transpose();
    const Vec3 step = slope.partialPivLu().solve(f);
    omega -= step;
    if (!(step.norm() > 1e-15 * omega.norm())) break;
  }
  return omega;
}

}  // namespace

std::vector<Turning> turning(const Model& m, const Kinematics& kin, bool moving,
                             const VecX& resistance) {
  std::vector<Turning> all;
  for (int j = 0; j < m.njnt; ++j) {
    const JointType type = m.jnt_type[at(j)];
    if (type != JointType::free && type != JointType::ball) continue;
    // between moving bodies the torque is explicit, in k
    const bool carried = moving && type == JointType::ball && is_carried(m, m.jnt_bodyid[at(j)]);
    if (carried || m.dof_parentid[at(m.jnt_dofadr[at(j)])] >= 0) continue;
    Turning t;
    t.free = type == JointType::free;
    t.dof = m.jnt_dofadr[at(j)] + (t.free ? 3 : 0);
    for (int k = 0; k < 3; ++k) t.axes.col(k) = kin.dof_axis[at(t.dof + k)];

    const int body = m.dof_bodyid[at(t.dof)];
    std::vector<bool> below(at(m.nbody), false);
    Real mass = 0;
    Vec3 com = Vec3::Zero();
    for (int b = body; b < m.nbody; ++b) {
      below[at(b)] = b == body || below[at(m.body_parentid[at(b)])];
      if (!below[at(b)]) continue;
      mass += m.body_mass[at(b)];
      com += m.body_mass[at(b)] * kin.xipos[at(b)];
    }
    const Vec3 pivot = t.free && mass > 0 ? Vec3(com / mass) : kin.dof_anchor[at(t.dof)];
    t.inertia = t.axes.transpose() * composite(m, kin, below, pivot) * t.axes;
    t.arm = t.axes.transpose() * (pivot - kin.dof_anchor[at(t.dof)]);
    for (int k = 0; k < 3; ++k) t.extra[k] = m.dof_armature[at(t.dof + k)] + resistance[t.dof + k];
    all.push_back(t);
  }
  return all;
}

VecX first_half(const std::vector<Turning>& joints, double dt, const VecX& v0, const VecX& force) {
  VecX change = VecX::Zero(v0.size());
  for (const Turning& t : joints) {
    const Vec3 w0 = v0.segment<3>(t.dof);
    const Mat3 H = t.inertia + Mat3(t.extra.asDiagonal());
    Vec3 explicit_torque = force.segment<3>(t.dof);
    if (t.free)  // about the centre of mass
      explicit_torque -= t.arm.cross(t.axes.transpose() * force.segment<3>(t.dof - 3));
    const Vec3 torque = explicit_torque + w0.cross(t.inertia * w0);
    const Vec3 euler = w0 + H.llt().solve(dt * explicit_torque);
    const Vec3 w = middle(t, dt, w0, dt * torque);
    change.segment<3>(t.dof) = w - euler;
    // the centre of mass moves in a straight line, and so does v_o + (exp(δt Ω) − 1) r / δt
    if (t.free)
      change.segment<3>(t.dof - 3) =
          t.axes * (euler.cross(t.arm) + dt * w0.cross(w0.cross(t.arm)) - secant(dt, w, t.arm));
  }
  return change;
}

VecX second_half(const std::vector<Turning>& joints, double dt, const VecX& v) {
  VecX end = v;
  for (const Turning& t : joints) {
    const Vec3 omega = v.segment<3>(t.dof), L = t.inertia * omega;
    const Mat3 H = t.inertia + Mat3(t.extra.asDiagonal());
    const Vec3 omega_end = omega - H.llt().solve(half(dt, omega).s * omega.cross(L));
    end.segment<3>(t.dof) = omega_end;
    if (t.free)
      end.segment<3>(t.dof - 3) +=
          t.axes * (secant(dt, omega, t.arm) - exp_quat(dt * omega) * omega_end.cross(t.arm));
  }
  return end;
}

}  // namespace stiction::reference::inline STICTION_REAL
