#include "reference/contacts.h"

#include <algorithm>
#include <array>

#include "reference/geometry.h"

namespace stiction::reference {
namespace {

std::array<double, 3> array3(const Vec3& v) {
  return {v.x(), v.y(), v.z()};
}
Vec3 vec3(const std::array<double, 3>& a) {
  return {a[0], a[1], a[2]};
}

// z = n̂; tangents from the world axis most perpendicular to it
Mat3 contact_frame(const Vec3& n) {
  int axis = 0;
  n.cwiseAbs().minCoeff(&axis);
  const Vec3 x = Vec3::Unit(axis).cross(n).normalized();
  Mat3 frame;
  frame << x, n.cross(x), n;
  return frame;
}

double pair_friction(const Model& m, const Options& o, int pair) {
  if (m.pair_condim[at(pair)] == 1) return 0;
  if (o.friction_combination == FrictionCombination::mujoco || m.pair_explicit[at(pair)] != 0)
    return m.pair_friction[at(pair)];
  const double a = m.geom_friction[at(3 * m.pair_geom1[at(pair)])];
  const double b = m.geom_friction[at(3 * m.pair_geom2[at(pair)])];
  return a + b > 0 ? 2 * a * b / (a + b) : 0;
}

Shape shape(const Model& m, const Kinematics& kin, int g) {
  return {m.geom_type[at(g)], row3(m.geom_size, g), kin.geom_xpos[at(g)], kin.geom_xmat[at(g)]};
}

}  // namespace

std::vector<ContactPoint> candidate_points(const Model& m, const Options& o,
                                           const Kinematics& kin) {
  std::vector<ContactPoint> points;
  std::array<Witness, 16> witnesses;
  for (int pair = 0; pair < m.npair; ++pair) {
    const int g1 = m.pair_geom1[at(pair)], g2 = m.pair_geom2[at(pair)];
    const int n = collide(shape(m, kin, g1), shape(m, kin, g2), witnesses);
    for (int k = 0; k < n; ++k) {
      const Witness& w = witnesses[at(k)];
      ContactPoint p;
      p.frame = contact_frame(w.normal);
      Contact& c = p.info;
      c.geom1 = g1, c.geom2 = g2, c.pair = pair, c.slot = m.pair_slotadr[at(pair)] + k;
      c.body1 = m.geom_bodyid[at(g1)], c.body2 = m.geom_bodyid[at(g2)];
      c.pos = array3(w.point1 + m.pair_weight[at(pair)] * (w.point2 - w.point1));
      c.normal = array3(w.normal);
      c.gap = w.distance - m.pair_margin[at(pair)];
      c.friction = pair_friction(m, o, pair);
      c.stiffness = m.pair_stiffness[at(pair)];
      c.dissipation = m.pair_dissipation[at(pair)];
      points.push_back(p);
    }
  }
  return points;
}

std::vector<ContactPoint> penetrating_deepest(const std::vector<ContactPoint>& candidates) {
  std::vector<ContactPoint> result;
  for (const ContactPoint& p : candidates) {
    if (p.info.gap > 0) continue;
    if (result.empty() || result.back().info.pair != p.info.pair)
      result.push_back(p);
    else if (p.info.gap < result.back().info.gap)
      result.back() = p;
  }
  return result;
}

Mat3X contact_jacobian(const Model& m, const Kinematics& kin, const ContactPoint& p) {
  const Vec3 point = vec3(p.info.pos);
  const int b1 = m.geom_bodyid[at(p.info.geom1)], b2 = m.geom_bodyid[at(p.info.geom2)];
  return p.frame.transpose() *
         (point_jacobian(m, kin, b2, point) - point_jacobian(m, kin, b1, point));
}

Reach reach(const Model& m, const Options& o, double dt, const Contact& c) {
  switch (o.contact_model) {
    case ContactModel::lagged: return {dt, 0};
    case ContactModel::similar: return {dt, c.friction};
    case ContactModel::sap: break;
  }
  return {dt + m.pair_relaxation_time[at(c.pair)], c.friction};
}

bool may_act(const Model& m, double dt, const Reach& reach, double gap,
             std::initializer_list<Vec3> v_c) {
  const double g = Vec3(m.gravity[0], m.gravity[1], m.gravity[2]).norm();
  double closing = 0;
  for (const Vec3& v : v_c) closing = std::max(closing, -reach.opening(v));
  return gap <= 2 * reach.horizon * closing + 8 * g * dt * dt;
}

DelassusScale::DelassusScale(const Model& m, const Kinematics& kin, const MatX& A)
    : to_world_(MatX::Identity(m.nv, m.nv)) {
  for (int j = 0; j < m.njnt; ++j) {
    if (m.jnt_type[at(j)] != JointType::free) continue;
    const int dof = m.jnt_dofadr[at(j)] + 3;
    to_world_.block<3, 3>(dof, dof) = kin.xmat[at(m.jnt_bodyid[at(j)])];
  }
  inverse_diag_ = (to_world_ * A * to_world_.transpose()).diagonal().cwiseInverse();
}

double DelassusScale::operator()(const MatX& J) const {
  const MatX j = J * to_world_.transpose();
  return (j * inverse_diag_.asDiagonal() * j.transpose()).norm() / static_cast<double>(J.rows());
}

ContactLaw contact_law(const Model& m, const Options& o, double dt, double w, const Vec3& v_c0,
                       ContactPoint& p) {
  Contact& c = p.info;
  const double k = resolved_stiffness(c.stiffness, c.dissipation, dt, c.gap, w), f_e0 = -k * c.gap;
  c.w = w;

  ContactLaw law;
  law.model = o.contact_model;
  law.mu = c.friction;
  set_bound(o, lagged_impulse(dt, c.dissipation, f_e0, v_c0.z()), c, law);
  if (o.contact_model == ContactModel::sap) {
    set_sap(law, dt, c.stiffness, m.pair_relaxation_time[at(c.pair)], o.near_rigid,
            o.regularization, w, c.gap);
    return law;
  }
  law.normal = HuntCrossley(dt, k, c.dissipation, f_e0);
  law.shift = (p.frame.transpose() * p.anchor).head<2>() / (kAnchorTime * dt);
  return law;
}

void set_bound(const Options& o, double n0, Contact& c, ContactLaw& law) {
  law.n0 = c.n0 = n0;
  law.eps = c.eps_s = std::max(o.stiction_tolerance, o.regularization * c.w * c.friction * n0);
}

Vec3 spin_anchor(const Vec3& z, const Vec3& normal, double angle) {
  const double length = z.norm();
  if (length == 0) return z;
  const Vec3 turned = exp_quat(angle * normal) * z;
  const Vec3 tangent = turned - normal.dot(turned) * normal;
  const double t = tangent.norm();
  return t > 0 ? Vec3(tangent * (length / t)) : Vec3(Vec3::Zero());
}

Vec3 advance_anchor(const Vec3& z, const Vec3& slip, double dt, double n0, double eps_s) {
  if (n0 == 0) return Vec3::Zero();
  const Vec3 next = z + dt * slip;
  const double reach = kAnchorReach * eps_s * kAnchorTime * dt, length = next.norm();
  return length > reach ? Vec3(next * (reach / length)) : next;
}

}  // namespace stiction::reference
