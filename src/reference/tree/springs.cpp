#include "reference/tree/springs.h"

#include <algorithm>

#include "reference/base/polynomial.h"

namespace stiction::reference::inline STICTION_REAL {
namespace {

Vec3 quat_difference(std::span<const Real> q, std::span<const double> q0) {
  return log_quat(row4(q0, 0).normalized().conjugate() * row4(q, 0).normalized());
}

// Returns q ⊖ q_spring on the dofs of joint j.
VecX spring_deflection(const Model& m, int j, std::span<const Real> qpos) {
  const auto adr = at(m.jnt_qposadr[at(j)]);
  const auto q = qpos.subspan(adr);
  const auto rest = std::span<const double>(m.qpos_spring).subspan(adr);
  switch (m.jnt_type[at(j)]) {
    case JointType::free: {
      VecX d(6);
      d << row3(q, 0) - row3(rest, 0), quat_difference(q.subspan(3), rest.subspan(3));
      return d;
    }
    case JointType::ball: return quat_difference(q, rest);
    case JointType::slide:
    case JointType::hinge: break;
  }
  return VecX::Constant(1, q[0] - rest[0]);
}

// Visits each part with a spring of its own: a joint with one dof, a ball, translation and rotation of a free joint.
// f(dof, x): x is the deflection; with one dof its signed length.
void for_springs(const Model& m, std::span<const Real> qpos, const auto& f) {
  for (int j = 0; j < m.njnt; ++j) {
    if (!is_given(m.jnt_stiffness[at(j)], m.jnt_stiffnesspoly, j)) continue;
    const VecX d = spring_deflection(m, j, qpos);
    for (int k = 0; k < d.size(); k += 3) {
      const VecX part = d.segment(k, std::min<Eigen::Index>(3, d.size()));
      f(j, m.jnt_dofadr[at(j)] + k, part, part.size() == 1 ? part[0] : part.norm());
    }
  }
}

}  // namespace

VecX spring_coefficients(const Model& m, std::span<const Real> qpos) {
  VecX c = VecX::Zero(m.nv);
  for_springs(m, qpos, [&](int j, int dof, const VecX& part, const Real& x) {
    c.segment(dof, part.size())
        .setConstant(polynomial(m.jnt_stiffness[at(j)], m.jnt_stiffnesspoly, j, x));
  });
  return c;
}

VecX damper_coefficients(const Model& m, const VecX& v) {
  VecX c(m.nv);
  for (int i = 0; i < m.nv; ++i)
    c[i] = polynomial(m.dof_damping[at(i)], m.dof_dampingpoly, i, abs(v[i]));
  return c;
}

VecX spring_force(const Model& m, std::span<const Real> qpos) {
  VecX f = VecX::Zero(m.nv);
  for_springs(m, qpos, [&](int j, int dof, const VecX& part, const Real& x) {
    f.segment(dof, part.size()) =
        -polynomial(m.jnt_stiffness[at(j)], m.jnt_stiffnesspoly, j, x) * part;
  });
  return f;
}

Real spring_energy(const Model& m, std::span<const Real> qpos) {
  Real e = 0;
  for_springs(m, qpos, [&](int j, int, const VecX&, const Real& x) {
    e += polynomial_energy(m.jnt_stiffness[at(j)], m.jnt_stiffnesspoly, j, x);
  });
  return e;
}

VecX implicit_part(const VecX& coefficients) {
  return coefficients.unaryExpr([](const Real& c) { return c < 0 ? Real(0) : c; });
}

}  // namespace stiction::reference::inline STICTION_REAL
