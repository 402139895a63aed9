// Equality constraints: their values at the reference pose, and their stiffness.
#include <algorithm>
#include <sstream>

#include "model/build/build.h"
#include "model/spec/contact_mapping.h"
#include "model/spec/contact_material.h"
#include "model/spec/equalities.h"

namespace stiction::model {
namespace {

struct Pose {
  Vec3 pos = Vec3::Zero();
  Quat quat = Quat::Identity();
  Vec3 inward(const Vec3& p) const { return quat.conjugate() * (p - pos); }
};

// Returns the pose of a body at qpos0.
Pose reference_pose(const Model& m, int b) {
  Pose p;
  for (; b > 0; b = m.body_parentid[at(b)]) {
    const Quat q = row4(m.body_quat, b);
    p.pos = row3(m.body_pos, b) + q * p.pos;
    p.quat = q * p.quat;
  }
  p.quat.normalize();
  return p;
}

void set_pose(std::span<double> data, const Vec3& pos, const Quat& quat) {
  set_row3(data.subspan(3), 0, pos);
  set_row4(data.subspan(6), 0, quat);
}

// Returns MuJoCo's eq_data of a connect or weld between bodies.
std::array<double, kEqualityData> body_data(const Model& m, const EqualitySource& q, int b1,
                                            int b2) {
  std::array<double, kEqualityData> data{};
  const Pose p1 = reference_pose(m, b1), p2 = reference_pose(m, b2);
  set_row3(data, 0, q.anchor);
  if (q.type == EqualityType::connect) {
    set_row3(std::span(data).subspan(3), 0, p2.inward(p1.pos + p1.quat * q.anchor));
    return data;
  }
  const Quat given(q.relpose[3], q.relpose[4], q.relpose[5], q.relpose[6]);
  const double length = given.norm();
  if (length > 1e-14)
    set_pose(data, Vec3(q.relpose[0], q.relpose[1], q.relpose[2]), Quat(given.coeffs() / length));
  else
    set_pose(data, p1.inward(p2.pos + p2.quat * q.anchor), p1.quat.conjugate() * p2.quat);
  return data;
}

// Returns MuJoCo's inverse weights of the constrained objects; for bodies: translation, rotation.
std::array<double, 2> inverse_weights(const Model& m, int i) {
  std::array<double, 2> sum{};
  for (const int id : {m.eq_obj1id[at(i)], m.eq_obj2id[at(i)]}) {
    if (id < 0) continue;
    switch (m.eq_type[at(i)]) {
      case EqualityType::connect:
      case EqualityType::weld: {
        const int b = m.eq_objtype[at(i)] == ObjectType::site ? m.site_bodyid[at(id)] : id;
        for (int k = 0; k < 2; ++k) sum[at(k)] += m.body_invweight0[at(2 * b + k)];
        break;
      }
      case EqualityType::joint: sum[0] += m.dof_invweight0[at(m.jnt_dofadr[at(id)])]; break;
      case EqualityType::tendon: sum[0] += m.tendon_invweight0[at(id)]; break;
    }
  }
  return sum;
}

// The largest gap that friction of a coupled joint may hold open, rad or m.
constexpr double kFrictionGap = 1e-3;

// Returns the dry friction that opposes the residual of constraint i and holds its gap open, N or N m. For a coupling
// x1 = P(x2) of joints it acts as γ on x1 and −P'(x2) γ on x2; a tendon acts on a dof by its coefficient. For bodies
// the fraction of the dof's inverse mass in that of the residual replaces the square of its moment arm.
double friction_load(const Model& m, int i) {
  const auto of_dof = [&](int dof) { return m.dof_frictionloss[at(dof)]; };
  const double slope = std::abs(m.eq_data[at(kEqualityData * i + 1)]);
  const int ids[2] = {m.eq_obj1id[at(i)], m.eq_obj2id[at(i)]};
  double load = 0;
  const auto count = [&](double friction, double arm) {
    if (arm > 0) load = std::max(load, friction / arm);
  };
  switch (m.eq_type[at(i)]) {
    case EqualityType::joint:
      for (const int side : {0, 1})
        if (ids[side] >= 0) count(of_dof(m.jnt_dofadr[at(ids[side])]), side == 0 ? 1 : slope);
      break;
    case EqualityType::tendon:
      for (const int side : {0, 1}) {
        const int t = ids[side];
        if (t < 0) continue;
        const double arm = side == 0 ? 1 : slope;
        count(m.tendon_frictionloss[at(t)], arm);
        for (int w = m.tendon_adr[at(t)]; w < m.tendon_adr[at(t)] + m.tendon_num[at(t)]; ++w)
          if (m.wrap_type[at(w)] == WrapType::joint)
            count(of_dof(m.jnt_dofadr[at(m.wrap_objid[at(w)])]),
                  arm * std::abs(m.wrap_coef[at(w)]));
      }
      break;
    case EqualityType::connect:
    case EqualityType::weld: {
      const double w = inverse_weights(m, i)[0];
      for (const int id : ids) {
        if (id < 0 || w <= 0) continue;
        int b = m.eq_objtype[at(i)] == ObjectType::site ? m.site_bodyid[at(id)] : id;
        for (; b > 0; b = m.body_parentid[at(b)])
          for (int k = 0; k < m.body_dofnum[at(b)]; ++k) {
            const int dof = m.body_dofadr[at(b)] + k;
            load = std::max(load, of_dof(dof) * m.dof_invweight0[at(dof)] / w);
          }
      }
      break;
    }
  }
  return load;
}

// N/m; N m/rad for a coupling that acts on a hinge.
const char* unit(const Model& m, int i) {
  const bool hinge = m.eq_type[at(i)] == EqualityType::joint &&
                     m.jnt_type[at(m.eq_obj1id[at(i)])] == JointType::hinge;
  return hinge ? "N m/rad" : "N/m";
}

std::string described(const Model& m, int i) {
  const double k = m.eq_stiffness[at(2 * i)], rotational = m.eq_stiffness[at(2 * i + 1)];
  std::ostringstream note;
  note.imbue(std::locale::classic());
  note.precision(3);
  const auto number = [&](double stiffness, const char* unit) {
    if (stiffness >= kRigid)
      note << "rigid";
    else
      note << stiffness << " " << unit;
  };
  note << "stiffness ";
  number(k, unit(m, i));
  if (m.eq_type[at(i)] == EqualityType::weld) {
    note << " and ";
    number(rotational, "N m/rad");
  }
  if (k < kRigid) note << ", relaxation time " << m.eq_relaxation_time[at(i)] << " s";
  if (m.eq_native[at(i)] == 0) note << ", from solref and solimp";
  if (inverse_weights(m, i)[0] == 0) note << "; nothing that it holds can move";
  return note.str();
}

}  // namespace

void map_equality(Model& m, int i) {
  if (m.eq_native[at(i)] != 0) return;
  SolverParams params;
  std::copy_n(&m.eq_solref[at(2 * i)], 2, params.solref.begin());
  std::copy_n(&m.eq_solimp[at(5 * i)], 5, params.solimp.begin());
  const MappedEquality mapped = map_equality(params, m.refsafe ? 2 * m.timestep : 0);
  const std::array<double, 2> w = inverse_weights(m, i);
  // the residual of a rotation is torquescale times the angle, and its torque scales likewise
  const double scale = m.eq_data[at(kEqualityData * i + 10)];
  m.eq_stiffness[at(2 * i)] =
      w[0] > 0 ? std::max(mapped.stiffness / w[0], friction_load(m, i) / kFrictionGap) : 0;
  const bool turns = m.eq_type[at(i)] == EqualityType::weld && w[1] > 0;
  m.eq_stiffness[at(2 * i + 1)] = turns ? scale * scale * mapped.stiffness / w[1] : 0;
  m.eq_relaxation_time[at(i)] = mapped.relaxation_time;
}

void build_equalities(const Spec& spec, Model& m) {
  const auto find = [](const Names& names, const std::string& name) {
    const auto it = std::find(names.begin(), names.end(), name);
    return name.empty() || it == names.end() ? -1 : static_cast<int>(it - names.begin());
  };
  for (const EqualitySource& q : spec.equalities) {
    const Names& names = q.objtype == ObjectType::site     ? m.site_names
                         : q.objtype == ObjectType::joint  ? m.jnt_names
                         : q.objtype == ObjectType::tendon ? m.tendon_names
                                                           : m.body_names;
    int id1 = find(names, q.object1), id2 = find(names, q.object2);
    std::array<double, kEqualityData> data{};
    if (q.type == EqualityType::connect || q.type == EqualityType::weld) {
      if (q.object2.empty()) id2 = 0;  // the world
      if (q.objtype == ObjectType::body) data = body_data(m, q, id1, id2);
    } else {
      std::copy(q.polycoef.begin(), q.polycoef.end(), data.begin());
      for (const int id : {id1, id2})
        if (q.type == EqualityType::joint && id >= 0 && dof_count(m.jnt_type[at(id)]) > 1)
          fail(*q.element, id == id1 ? "joint1" : "joint2", "must be a hinge or a slide");
    }
    data[10] = q.torquescale;
    m.eq_names.push_back(q.name);
    m.eq_type.push_back(q.type), m.eq_objtype.push_back(q.objtype);
    m.eq_obj1id.push_back(id1), m.eq_obj2id.push_back(id2);
    m.eq_active0.push_back(q.active ? 1 : 0);
    m.eq_data.insert(m.eq_data.end(), data.begin(), data.end());
    m.eq_solref.insert(m.eq_solref.end(), q.solref.begin(), q.solref.end());
    m.eq_solimp.insert(m.eq_solimp.end(), q.solimp.begin(), q.solimp.end());
    ++m.neq;
  }
  m.eq_native.assign(at(m.neq), 0);
  m.eq_stiffness.assign(at(2 * m.neq), 0), m.eq_relaxation_time.assign(at(m.neq), 0);
  m.refsafe = spec.contact.refsafe;
  for (const bool of_all : {true, false}) {
    for (const ComplianceSpec& c : spec.compliances) {
      if (c.equality.empty() != of_all) continue;
      for (int i = 0; i < m.neq; ++i) {
        if (!of_all && m.eq_names[at(i)] != c.equality) continue;
        m.eq_native[at(i)] = 1;
        const bool weld = m.eq_type[at(i)] == EqualityType::weld;
        if (weld && !c.rotational)
          fail(*c.element, "data",
               "a weld needs a third number, the rotational stiffness in N m/rad");
        m.eq_stiffness[at(2 * i)] = c.stiffness;
        m.eq_stiffness[at(2 * i + 1)] = weld ? *c.rotational : 0;
        m.eq_relaxation_time[at(i)] = c.relaxation_time;
      }
    }
  }
  for (int i = 0; i < m.neq; ++i) {
    map_equality(m, i);
    mark(*spec.equalities[at(i)].element, Use::mapped, false, described(m, i));
  }
}

}  // namespace stiction::model
