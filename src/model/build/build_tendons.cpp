// Tendons: resolves names to indices, computes lengths and Jacobians at rest.
#include "model/build/build.h"
#include "model/spec/rest_inertia.h"
#include "tendon_path.h"

namespace stiction::model {
namespace {

// Frames of the bodies with the joints at q.
struct Frames {
  std::vector<Vec3> pos;
  std::vector<Quat> quat;
};
Frames frames_at(const Model& m, const Reals& q) {
  Frames f{std::vector<Vec3>(at(m.nbody), Vec3::Zero()),
           std::vector<Quat>(at(m.nbody), Quat::Identity())};
  for (int b = 1; b < m.nbody; ++b) {
    const auto i = at(b), parent = at(m.body_parentid[i]);
    Vec3& pos = f.pos[i] = f.pos[parent] + f.quat[parent] * row3(m.body_pos, b);
    Quat& quat = f.quat[i] = f.quat[parent] * row4(m.body_quat, b);
    for (int j = m.body_jntadr[i]; j < m.body_jntadr[i] + m.body_jntnum[i]; ++j) {
      const auto adr = at(m.jnt_qposadr[at(j)]);
      const std::span<const double> x = std::span(q).subspan(adr);
      const Vec3 axis = row3(m.jnt_axis, j), anchor = pos + quat * row3(m.jnt_pos, j);
      switch (m.jnt_type[at(j)]) {
        case JointType::free: pos = row3(x, 0), quat = row4(x.subspan(3), 0); continue;
        case JointType::slide: pos += (x[0] - m.qpos0[adr]) * (quat * axis); continue;
        case JointType::hinge:
          quat = quat * Quat(Eigen::AngleAxisd(x[0] - m.qpos0[adr], axis));
          break;
        case JointType::ball: quat = quat * row4(x, 0).normalized(); break;
      }
      pos = anchor - quat * row3(m.jnt_pos, j);
    }
    quat.normalize();
  }
  return f;
}

bool is_fixed(const Model& m, int t) {
  return m.wrap_type[at(m.tendon_adr[at(t)])] == WrapType::joint;
}

double length_at(const Model& m, int t, const Reals& q, const Frames& f) {
  if (!is_fixed(m, t))
    return tendon_path<double>(
               m, t, [&](int b) { return f.pos[at(b)]; },
               [&](int b) { return Mat3(f.quat[at(b)].toRotationMatrix()); })
        .length;
  double length = 0;
  for (int k = m.tendon_adr[at(t)]; k < m.tendon_adr[at(t)] + m.tendon_num[at(t)]; ++k)
    length += m.wrap_coef[at(k)] * q[at(m.jnt_qposadr[at(m.wrap_objid[at(k)])])];
  return length;
}

}  // namespace

void add_tendons(const Spec& spec, Model& m) {
  const Index joints = index_of(m.jnt_names), sites = index_of(m.site_names),
              geoms = index_of(m.geom_names);
  for (const auto& t : spec.tendons) {
    m.tendon_names.push_back(t.name);
    m.tendon_adr.push_back(static_cast<int>(m.wrap_type.size()));
    m.tendon_num.push_back(static_cast<int>(t.wraps.size()));
    m.tendon_limited.push_back(t.limited == Switch::yes && spec.flags.limit);
    append(m.tendon_range, t.range);
    m.tendon_margin.push_back(t.margin);
    append(m.tendon_solref, t.solref);
    m.tendon_stiffness.push_back(spec.flags.spring ? t.stiffness : 0);
    m.tendon_damping.push_back(spec.flags.damper ? t.damping : 0);
    append(m.tendon_stiffnesspoly, spec.flags.spring ? t.stiffnesspoly : std::array<double, 2>{});
    append(m.tendon_dampingpoly, spec.flags.damper ? t.dampingpoly : std::array<double, 2>{});
    append(m.tendon_lengthspring, t.springlength);
    m.tendon_armature.push_back(t.armature);
    m.tendon_frictionloss.push_back(spec.flags.frictionloss ? t.frictionloss : 0);
    m.tendon_actfrclimited.push_back(t.actfrclimited == Switch::yes);
    append(m.tendon_actfrcrange, t.actfrcrange);
    ++m.ntendon;
    for (const WrapSpec& w : t.wraps) {
      int id = -1;
      if (w.type == WrapType::joint) id = joints.at(w.object);
      if (w.type == WrapType::site) id = sites.at(w.object);
      if (w.type >= WrapType::sphere) id = geoms.at(w.object);
      if (w.type == WrapType::joint && m.jnt_type[at(id)] != JointType::hinge &&
          m.jnt_type[at(id)] != JointType::slide)
        fail(*w.element, "joint", "a fixed tendon runs over hinges and slides only");
      m.wrap_type.push_back(w.type);
      m.wrap_objid.push_back(id);
      m.wrap_sideid.push_back(w.side.empty() ? -1 : sites.at(w.side));
      m.wrap_coef.push_back(w.coef);
    }
  }
}

void measure_tendons(Model& m) {
  const Frames rest = frames_at(m, m.qpos0), sprung = frames_at(m, m.qpos_spring);
  const RestPose pose(m);
  const RestInertia inertia(m, pose);
  for (int t = 0; t < m.ntendon; ++t) {
    m.tendon_length0.push_back(length_at(m, t, m.qpos0, rest));
    const VecX j = tendon_jacobian0(m, pose, t);
    m.tendon_invweight0.push_back(j.dot(inertia.solve(j)));
    double* const spring = &m.tendon_lengthspring[at(2 * t)];
    if (spring[0] == -1 && spring[1] == -1)
      spring[0] = spring[1] = length_at(m, t, m.qpos_spring, sprung);
  }
}

std::set<int> tendon_joints(const Model& m, int t) {
  std::set<int> joints;
  for (int k = m.tendon_adr[at(t)]; k < m.tendon_adr[at(t)] + m.tendon_num[at(t)]; ++k) {
    const int id = m.wrap_objid[at(k)];
    if (m.wrap_type[at(k)] == WrapType::joint) joints.insert(id);
    if (m.wrap_type[at(k)] < WrapType::site) continue;
    int b = m.wrap_type[at(k)] == WrapType::site ? m.site_bodyid[at(id)] : m.geom_bodyid[at(id)];
    for (; b > 0; b = m.body_parentid[at(b)])
      for (int j = 0; j < m.body_jntnum[at(b)]; ++j) joints.insert(m.body_jntadr[at(b)] + j);
  }
  return joints;
}

VecX tendon_jacobian0(const Model& m, const RestPose& pose, int t) {
  VecX j = VecX::Zero(m.nv);
  if (is_fixed(m, t)) {
    for (int k = m.tendon_adr[at(t)]; k < m.tendon_adr[at(t)] + m.tendon_num[at(t)]; ++k)
      j[m.jnt_dofadr[at(m.wrap_objid[at(k)])]] += m.wrap_coef[at(k)];
    return j;
  }
  const auto path = tendon_path<double>(
      m, t, [&](int b) { return pose.pos[at(b)]; },
      [&](int b) { return Mat3(pose.quat[at(b)].toRotationMatrix()); });
  for (const Straight<double>& s : path.parts) {
    const auto add = [&](int body, const Vec3& p, double sign) {
      for (int b = body; b > 0; b = m.body_parentid[at(b)])
        for (int k = 0; k < m.body_dofnum[at(b)]; ++k) {
          const int i = m.body_dofadr[at(b)] + k;
          const Vec3 velocity = pose.dof_linear.col(i) + Vec3(pose.dof_angular.col(i)).cross(p);
          j[i] += sign * s.share * s.direction().dot(velocity);
        }
    };
    add(s.body2, s.p2, 1), add(s.body1, s.p1, -1);
  }
  return j;
}

}  // namespace stiction::model
