// Models made by hand: the raw fields that a reader would fill, with MuJoCo's defaults.
#pragma once

#include <string>

#include "math.h"
#include "stiction/model.h"

namespace stiction::test {

struct ModelBuilder {
  Model m;

  ModelBuilder() {
    m.body_parentid = {0};
    m.body_names = {"world"};
    append_body(Vec3::Zero(), Quat::Identity());
  }

  int body(const std::string& name, int parent, const Vec3& pos = Vec3::Zero(),
           const Quat& quat = Quat::Identity()) {
    m.body_parentid.push_back(parent);
    m.body_names.push_back(name);
    append_body(pos, quat);
    return m.nbody - 1;
  }

  void mocap(int b) { m.body_mocapid[static_cast<std::size_t>(b)] = m.nmocap++; }

  void inertial(int b, double mass, const Vec3& moments, const Vec3& pos = Vec3::Zero(),
                const Quat& quat = Quat::Identity()) {
    m.body_mass[static_cast<std::size_t>(b)] = mass;
    set_row3(m.body_inertia, b, moments);
    set_row3(m.body_ipos, b, pos);
    set_row4(m.body_iquat, b, quat);
  }

  int joint(int b, JointType type, const Vec3& axis = Vec3::UnitZ(), const Vec3& pos = Vec3::Zero(),
            double armature = 0) {
    const auto k = static_cast<std::size_t>(b);
    if (m.body_jntnum[k]++ == 0) m.body_jntadr[k] = m.njnt;
    m.jnt_type.push_back(type);
    m.jnt_bodyid.push_back(b);
    m.jnt_qposadr.push_back(m.nq);
    m.jnt_dofadr.push_back(m.nv);
    m.jnt_pos.insert(m.jnt_pos.end(), pos.begin(), pos.end());
    m.jnt_axis.insert(m.jnt_axis.end(), axis.begin(), axis.end());
    const int dofs = type == JointType::free ? 6 : type == JointType::ball ? 3 : 1;
    m.nq += dofs + (dofs > 1 ? 1 : 0);
    m.nv += dofs;
    m.dof_armature.resize(static_cast<std::size_t>(m.nv), armature);
    return m.njnt++;
  }

  int geom(int b, GeomType type, const Vec3& size, const std::string& name = "") {
    m.geom_names.push_back(name);
    m.geom_type.push_back(type);
    m.geom_group.push_back(0);
    m.geom_alpha.push_back(1);
    m.geom_dataid.push_back(-1);  // meshes and height fields are not there
    m.geom_meshadr.push_back(0), m.geom_meshnum.push_back(0);
    m.geom_bodyid.push_back(b);
    m.geom_contype.push_back(1);
    m.geom_conaffinity.push_back(1);
    m.geom_condim.push_back(3);
    m.geom_priority.push_back(0);
    m.geom_size.insert(m.geom_size.end(), size.begin(), size.end());
    m.geom_friction.insert(m.geom_friction.end(), {1, 0.005, 0.0001});
    m.geom_solref.insert(m.geom_solref.end(), {0.02, 1});
    m.geom_solimp.insert(m.geom_solimp.end(), {0.9, 0.95, 0.001, 0.5, 2});
    m.geom_solmix.push_back(1);
    m.geom_margin.push_back(0);
    m.geom_native.push_back(0);
    m.geom_stiffness.push_back(0);
    m.geom_dissipation.push_back(0);
    m.geom_relaxation_time.push_back(0);
    m.geom_restitution.push_back(0);
    return m.ngeom++;
  }

  int sphere(int b, const std::string& name = "") {
    return geom(b, GeomType::sphere, Vec3(0.1, 0, 0), name);
  }

  // A free body of 1 kg with one sphere; returns the geom.
  int free_sphere(const std::string& name, double mass = 1) {
    const int b = body(name, 0);
    joint(b, JointType::free);
    inertial(b, mass, Vec3::Constant(0.004 * mass));
    return sphere(b, name);
  }

  void native(int g, double stiffness, double dissipation, double relaxation_time = 0) {
    const auto k = static_cast<std::size_t>(g);
    m.geom_native[k] = 1;
    m.geom_stiffness[k] = stiffness;
    m.geom_dissipation[k] = dissipation;
    m.geom_relaxation_time[k] = relaxation_time;
  }

 private:
  void append_body(const Vec3& pos, const Quat& quat) {
    ++m.nbody;
    m.body_jntadr.push_back(-1);
    m.body_jntnum.push_back(0);
    m.body_mocapid.push_back(-1);
    m.body_mass.push_back(0);
    m.body_pos.insert(m.body_pos.end(), pos.begin(), pos.end());
    m.body_quat.insert(m.body_quat.end(), {quat.w(), quat.x(), quat.y(), quat.z()});
    m.body_ipos.insert(m.body_ipos.end(), {0, 0, 0});
    m.body_iquat.insert(m.body_iquat.end(), {1, 0, 0, 0});
    m.body_inertia.insert(m.body_inertia.end(), {0, 0, 0});
  }
};

}  // namespace stiction::test
