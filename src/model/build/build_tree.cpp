// Bodies, joints, geoms and sites in MuJoCo's order: by body, depth first.
#include "model/build/build.h"
#include "model/build/fluid.h"
#include "model/build/hfields.h"
#include "model/build/mesh_choices.h"
#include "model/build/meshes.h"

namespace stiction::model {
namespace {

void add_joint(const Spec& spec, const BodySpec& b, int body, const JointSpec& j, Model& m) {
  m.jnt_names.push_back(j.name);
  m.jnt_type.push_back(j.type);
  m.jnt_bodyid.push_back(body);
  m.jnt_qposadr.push_back(m.nq);
  m.jnt_dofadr.push_back(m.nv);
  append(m.jnt_pos, j.pos);
  append(m.jnt_axis, j.axis);
  m.jnt_limited.push_back(j.limited == Switch::yes && spec.flags.limit);
  append(m.jnt_range, j.range);
  m.jnt_margin.push_back(j.margin);
  append(m.jnt_solref, j.solref);
  m.jnt_stiffness.push_back(spec.flags.spring ? j.stiffness : 0);
  append(m.jnt_stiffnesspoly, spec.flags.spring ? j.stiffnesspoly : std::array<double, 2>{});
  // as in MuJoCo, only for joints with one dof
  const bool one = j.type == JointType::hinge || j.type == JointType::slide;
  m.jnt_actfrclimited.push_back(j.actfrclimited == Switch::yes && one);
  append(m.jnt_actfrcrange, j.actfrcrange);
  m.jnt_actgravcomp.push_back(j.actgravcomp);

  switch (j.type) {
    case JointType::free:
      append(m.qpos0, b.pos);
      append(m.qpos0, b.quat);
      append(m.qpos_spring, b.pos);
      append(m.qpos_spring, b.quat);
      break;
    case JointType::ball:
      append(m.qpos0, Quat::Identity());
      append(m.qpos_spring, Quat::Identity());
      break;
    case JointType::slide:
    case JointType::hinge:
      m.qpos0.push_back(j.ref);
      m.qpos_spring.push_back(j.springref);
      break;
  }
  const int nv = dof_count(j.type);
  const auto n = at(nv);
  m.dof_armature.insert(m.dof_armature.end(), n, j.armature);
  m.dof_damping.insert(m.dof_damping.end(), n, spec.flags.damper ? j.damping : 0);
  for (int k = 0; k < nv; ++k)
    append(m.dof_dampingpoly, spec.flags.damper ? j.dampingpoly : std::array<double, 2>{});
  m.dof_frictionloss.insert(m.dof_frictionloss.end(), n,
                            spec.flags.frictionloss ? j.frictionloss : 0);
  m.nq = static_cast<int>(m.qpos0.size());
  m.nv += nv;
  ++m.njnt;
}

void add_geom(const Spec& spec, int body, const GeomSpec& g, Model& m) {
  m.geom_names.push_back(g.name);
  m.geom_type.push_back(g.type);
  m.geom_bodyid.push_back(body);
  m.geom_contype.push_back(g.contype);
  m.geom_conaffinity.push_back(g.conaffinity);
  m.geom_condim.push_back(g.condim);
  m.geom_priority.push_back(g.priority);
  m.geom_group.push_back(g.group);
  m.geom_alpha.push_back(g.material.empty() ? g.rgba[3] : 1);
  append(m.geom_size, g.size);
  append(m.geom_pos, g.pos);
  append(m.geom_quat, g.quat);
  append(m.geom_friction, g.friction);
  append(m.geom_solref, g.solref);
  append(m.geom_solimp, g.solimp);
  m.geom_solmix.push_back(g.solmix);
  m.geom_margin.push_back(g.margin);
  m.geom_gap.push_back(g.gap);
  append(m.geom_fluid, fluid_coefficients(g));
  append(m.geom_surfacevel, g.surfacevel);
  m.geom_native.push_back(0);
  m.geom_stiffness.push_back(0);
  m.geom_dissipation.push_back(0);
  m.geom_relaxation_time.push_back(0);
  m.geom_restitution.push_back(0);
  m.geom_dataid.push_back(g.type == GeomType::mesh     ? asset_id(spec.meshes, g.mesh)
                          : g.type == GeomType::hfield ? asset_id(spec.hfields, g.hfield)
                                                       : -1);
  add_mesh_choice(spec, g, m);
  ++m.ngeom;
}

void add_body(const Spec& spec, int id, const BodyInertia& inertia, Model& m) {
  const BodySpec& b = spec.bodies[at(id)];
  m.body_names.push_back(b.name);
  m.body_parentid.push_back(b.parent);
  m.body_jntadr.push_back(b.joints.empty() ? -1 : m.njnt);
  m.body_jntnum.push_back(static_cast<int>(b.joints.size()));
  m.body_mocapid.push_back(b.mocap ? m.nmocap++ : -1);
  append(m.body_pos, b.pos);
  append(m.body_quat, b.quat);
  m.body_mass.push_back(inertia.mass);
  append(m.body_ipos, inertia.pos);
  append(m.body_iquat, inertia.quat);
  append(m.body_inertia, inertia.moments);
  m.body_gravcomp.push_back(b.gravcomp);
  for (const auto& j : b.joints) add_joint(spec, b, id, j, m);
  for (const auto& g : b.geoms) add_geom(spec, id, g, m);
  for (const auto& s : b.sites) {
    m.site_names.push_back(s.name);
    m.site_bodyid.push_back(id);
    append(m.site_pos, s.pos);
    append(m.site_quat, s.quat);
    m.site_type.push_back(s.type);
    append(m.site_size, s.size);
    ++m.nsite;
  }
  for (const auto& c : b.cameras) {
    m.cam_names.push_back(c.name);
    m.cam_mode.push_back(c.mode);
    m.cam_projection.push_back(c.projection);
    m.cam_bodyid.push_back(id);
    append(m.cam_pos, c.pos);
    append(m.cam_quat, c.quat);
    m.cam_fovy.push_back(c.fovy);
    for (const std::size_t k : {0u, 1u}) {
      m.cam_resolution.push_back(c.resolution[k]);
      m.cam_sensorsize.push_back(c.sensorsize[k]);
      m.cam_intrinsic.push_back(c.focal[k]);
    }
    m.cam_intrinsic.insert(m.cam_intrinsic.end(), c.principal.begin(), c.principal.end());
    ++m.ncam;
  }
  ++m.nbody;
}

// A free body without children may get the frame of its inertia: the origin at the centre of mass,
// principal axes. Objects attached to it stay in place.
void align_free_bodies(Spec& spec, std::vector<BodyInertia>& inertias) {
  std::vector<char> has_children(spec.bodies.size());
  for (std::size_t i = 1; i < spec.bodies.size(); ++i) has_children[at(spec.bodies[i].parent)] = 1;
  for (std::size_t i = 1; i < spec.bodies.size(); ++i) {
    BodySpec& b = spec.bodies[i];
    if (has_children[i] || b.joints.empty() || b.joints[0].type != JointType::free) continue;
    const Switch align = b.joints[0].align;
    if (align == Switch::no || (align == Switch::automatic && !spec.compiler_of(b).alignfree))
      continue;
    BodyInertia& inertia = inertias[i];
    const Vec3 centre = inertia.pos;
    const Quat axes = inertia.quat, back = axes.conjugate();
    b.pos += b.quat * centre;
    b.quat = (b.quat * axes).normalized();
    const auto move = [&](Vec3& pos, Quat& quat) {
      pos = back * (pos - centre);
      quat = (back * quat).normalized();
    };
    for (auto& g : b.geoms) move(g.pos, g.quat);
    for (auto& s : b.sites) move(s.pos, s.quat);
    for (auto& c : b.cameras) move(c.pos, c.quat);
    inertia.pos = Vec3::Zero();
    inertia.quat = Quat::Identity();
  }
}

}  // namespace

void build_tree(Spec& spec, Model& m) {
  m.name = spec.name;
  m.timestep = spec.timestep;
  m.density = spec.density, m.viscosity = spec.viscosity, m.wind = spec.wind;
  m.magnetic = spec.magnetic;
  m.gravity = spec.flags.gravity ? spec.gravity : std::array<double, 3>{};
  add_meshes(spec, m);
  add_hfields(spec, m);
  auto inertias = body_inertias(spec);
  align_free_bodies(spec, inertias);
  for (std::size_t i = 0; i < spec.bodies.size(); ++i) {
    add_body(spec, static_cast<int>(i), inertias[i], m);
  }
  add_tendons(spec, m);
}

}  // namespace stiction::model
