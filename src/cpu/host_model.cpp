#include "cpu/host_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>

#include "cpu/tree_origin.h"
#include "index.h"

namespace stiction::cpu {
namespace {

constexpr double kRigidStiffness = 1e36;

}  // namespace

const int* HostModel::keep(std::vector<int> v) {
  return ints_.emplace_back(std::move(v)).data();
}
const float* HostModel::keep(std::vector<float> v) {
  return floats_.emplace_back(std::move(v)).data();
}
const double* HostModel::keep(std::vector<double> v) {
  return doubles_.emplace_back(std::move(v)).data();
}

HostModel::HostModel(const Model& m, const Options& o, bool dense) : dense_(dense) {
  // padding, too, so that views of equal models differ in addresses only
  std::memset(static_cast<void*>(&view_), 0, sizeof view_);
  physics::ModelView& w = view_;
  w.opt.timestep = *o.timestep;
  w.opt.step_rate = 1 / *o.timestep;
  w.opt.stiction_tolerance = o.stiction_tolerance;
  w.opt.regularization = o.regularization;
  w.opt.near_rigid = o.near_rigid;
  w.opt.solver_tolerance = *o.solver_tolerance;
  w.opt.density = m.density, w.opt.viscosity = m.viscosity;
  std::copy_n(m.wind.begin(), 3, w.opt.wind);
  std::copy_n(m.magnetic.begin(), 3, w.opt.magnetic);
  w.opt.max_iterations = o.max_iterations;
  w.opt.friction_iterations = std::max(o.friction_iterations, 1);  // at least the first solve
  w.opt.friction_follows = friction_follows(o);
  w.opt.friction_exact = o.friction_iterations == kFixedPointFriction;
  w.opt.friction_renewals = w.opt.friction_exact ? kMostRenewals : kAutoRenewals;
  w.opt.friction_share = o.friction_tolerance.value_or(kFrictionShare);
  w.opt.contact_model = static_cast<int>(o.contact_model);
  w.opt.anchored = o.stiction == Stiction::anchored;
  w.opt.gyroscopic_midpoint = gyroscopic_law(o) == Gyroscopic::midpoint;
  w.opt.penetrating_deepest = o.contact_pairs == ContactPairs::penetrating_deepest;
  w.opt.harmonic_friction = o.friction_combination == FrictionCombination::harmonic;
  w.opt.near_rigid_limits = limit_law(o) == Limits::near_rigid;

  w.nq = m.nq, w.nv = m.nv, w.nu = m.nu;
  w.na = m.na, w.nstateful = m.na > 0 ? m.nu : 0;
  const auto any = [](const Ints& flags) {
    return std::any_of(flags.begin(), flags.end(), [](int flag) { return flag != 0; });
  };
  w.nliftdof = any(m.jnt_actgravcomp) ? m.nv : 0;
  const auto& drives = m.actuator_trntype;
  const bool adheres = std::find(drives.begin(), drives.end(), Transmission::body) != drives.end();
  w.nadhesion = adheres ? m.nu : 0, w.nadhesionbody = adheres ? m.nbody : 0;
  w.nmuscle = any(m.actuator_gainmuscle) || any(m.actuator_biasmuscle) ? m.nu : 0;
  w.nbody = m.nbody, w.njnt = m.njnt, w.ngeom = m.ngeom, w.nsite = m.nsite, w.nmocap = m.nmocap;
  w.npair = m.npair, w.nslot = m.nslot;
  const bool moving = o.mocap_velocity != MocapVelocity::none && m.nmocap > 0;
  const bool surfaces = std::any_of(m.geom_surfacevel.begin(), m.geom_surfacevel.end(),
                                    [](double v) { return v != 0; });
  w.nmocapstate = moving ? m.nmocap : 0, w.nsurface = surfaces ? m.ngeom : 0;
  w.ndriftslot = moving || surfaces ? m.nslot : 0;
  w.opt.mocap_given = o.mocap_velocity == MocapVelocity::given;
  w.opt.shifted = w.ndriftslot > 0 || (w.opt.anchored && o.contact_model != ContactModel::sap);
  w.ntendon = m.ntendon, w.nwrap = static_cast<int>(m.wrap_objid.size());
  w.neq = m.neq;
  w.nanchor = w.opt.anchored ? m.nanchor : 0;
  w.nfrictionanchor = w.opt.anchored ? m.nv + m.ntendon : 0;
  w.nanchorlist = w.opt.anchored && !dense ? m.nslot : 0;
  // with few slots many threads clear all rows faster than they list them
  constexpr int kListed = 64;
  w.nanchorrowlist = w.opt.anchored && dense && m.nslot >= kListed ? m.nslot : 0;
  w.ncouple = m.nanchor - m.nslot, w.ncouplepair = w.ncouple > 0 ? m.npair : 0;
  w.nrebound = w.opt.penetrating_deepest ? 0 : m.nrebound;
  w.nreboundpair = w.nrebound > 0 ? m.npair : 0;
  w.nspatial = dense ? m.nslot : 0;
  w.ntri = m.nv * (m.nv + 1) / 2;
  w.nbody1 = m.nbody + 1, w.nv1 = m.nv + 1;

  bodies(m);
  joints(m);
  geoms(m);
  meshes(m);
  hfields(m);
  rays(m);
  fluid(m);
  actuators(m);
  tendons(m);
  blocks(m);
  rows();
  springs(m);
  sensors(m);
  specs_ = field_specs(w);
  parameters(m);
}

void HostModel::bodies(const Model& m) {
  physics::ModelView& w = view_;
  subtree_mass_ = m.body_subtreemass;
  w.body_parentid = keep(m.body_parentid);
  w.body_mocapid = keep(m.body_mocapid);
  std::vector<int> carrier(at(m.nbody), -1), mocap;
  for (int b = 1; b < m.nbody; ++b) {
    const int k = m.body_mocapid[at(b)];
    carrier[at(b)] = k >= 0 ? k : carrier[at(m.body_parentid[at(b)])];
    if (k >= 0) mocap.push_back(b);
  }
  w.body_carrier = keep(carrier), w.mocap_body = keep(mocap);
  w.body_jntadr = keep(m.body_jntadr);
  w.body_jntnum = keep(m.body_jntnum);
  w.body_dofadr = keep(m.body_dofadr);
  w.body_dofnum = keep(m.body_dofnum);

  std::vector<int> aligned(at(m.nbody));
  for (int b = 0; b < m.nbody; ++b) {
    const double* q = &m.body_quat[at(4 * b)];
    const bool one = q[0] == 1 && q[1] == 0 && q[2] == 0 && q[3] == 0;
    aligned[at(b)] = one && m.body_mocapid[at(b)] < 0 ? 1 : 0;
  }
  w.body_aligned = keep(aligned);

  // levels and children of the tree
  std::vector<int> depth(at(m.nbody), 0);
  for (int b = 1; b < m.nbody; ++b) depth[at(b)] = depth[at(m.body_parentid[at(b)])] + 1;
  w.nlevel = *std::max_element(depth.begin(), depth.end()) + 1;
  Lists levels, children;
  for (int l = 0; l < w.nlevel; ++l) {
    for (int b = 0; b < m.nbody; ++b)
      if (depth[at(b)] == l) levels.items.push_back(b);
    levels.end_list();
  }
  for (int p = 0; p < m.nbody; ++p) {
    for (int b = 1; b < m.nbody; ++b)
      if (m.body_parentid[at(b)] == p) children.items.push_back(b);
    children.end_list();
  }
  w.level_adr = keep(levels.adr), w.level_body = keep(levels.items);
  w.child_adr = keep(children.adr), w.child_body = keep(children.items);

  // movable bodies: the last dof on the path to the root, and the body of the first
  std::vector<int> last(at(m.nbody), -1), tree(at(m.nbody), -1), roots;
  std::vector<int> weld(at(m.nbody), 0), translation(at(m.nbody), -1);
  for (int b = 1; b < m.nbody; ++b) {
    const auto p = at(m.body_parentid[at(b)]);
    const int n = m.body_dofnum[at(b)];
    last[at(b)] = n > 0 ? m.body_dofadr[at(b)] + n - 1 : last[p];
    tree[at(b)] = tree[p];
    weld[at(b)] = n > 0 ? b : weld[p];
    translation[at(b)] = translation[p];
    if (n > 0 && tree[p] < 0) {
      tree[at(b)] = static_cast<int>(roots.size());
      roots.push_back(b);
      if (m.jnt_type[at(m.body_jntadr[at(b)])] == JointType::free)
        translation[at(b)] = m.body_dofadr[at(b)] + 2;
    }
  }
  w.body_lastdof = keep(last);
  w.body_treeid = keep(tree);
  w.body_weldid = keep(weld);
  w.body_translation = keep(translation);
  w.ntree = static_cast<int>(roots.size());
  w.tree_body = keep(roots);
  std::vector<int> ends(roots.size());
  for (int b = 1; b < m.nbody; ++b)
    if (tree[at(b)] >= 0) ends[at(tree[at(b)])] = b + 1;
  w.tree_end = keep(ends);
  std::vector<int> subtree(at(m.nbody));
  for (int b = m.nbody - 1; b >= 0; --b) {
    subtree[at(b)] = std::max(subtree[at(b)], b + 1);
    if (b == 0) break;
    int& above = subtree[at(m.body_parentid[at(b)])];
    above = std::max(above, subtree[at(b)]);
  }
  w.body_end = keep_structure(subtree);
  origins(m);
}

void HostModel::origins(const Model& m) {
  physics::ModelView& w = view_;
  std::vector<int> origin, late, is_late(at(m.nbody), 0);
  for (int t = 0; t < w.ntree; ++t) {
    origin.push_back(tree_origin(m, w.tree_body[t], w.tree_end[t]));
    for (int b = w.tree_body[t]; b < w.tree_end[t] && origin.back() != w.tree_body[t]; ++b)
      if (w.body_treeid[b] == t) late.push_back(b), is_late[at(b)] = 1;
  }
  w.tree_origin = keep(origin);
  w.body_late = keep(is_late);
  w.nlate = static_cast<int>(late.size());
  w.late_body = keep(late);
}

void HostModel::joints(const Model& m) {
  physics::ModelView& w = view_;
  w.jnt_type = keep(to_ints(m.jnt_type));
  w.jnt_qposadr = keep(m.jnt_qposadr);
  w.jnt_dofadr = keep(m.jnt_dofadr);
  w.jnt_actfrclimited = keep(m.jnt_actfrclimited);
  w.jnt_actgravcomp = keep(m.jnt_actgravcomp);
  w.dof_bodyid = keep(m.dof_bodyid);
  w.dof_jntid = keep(m.dof_jntid);
  w.dof_parentid = keep(m.dof_parentid);

  // limits of joints with one dof are rows on that dof
  std::vector<int> limited(m.jnt_limited);
  dof_limited_.assign(at(m.nv), 0);
  std::vector<int> freerot(at(m.nv), -1), turning, balls;
  for (int j = 0; j < m.njnt; ++j) {
    const JointType type = m.jnt_type[at(j)];
    const int dof = m.jnt_dofadr[at(j)];
    if (type == JointType::free || type == JointType::ball) {
      if (limited[at(j)] != 0 && type == JointType::ball) balls.push_back(j);
      limited[at(j)] = 0;
      const bool carried = m.dof_parentid[at(dof)] >= 0 ||
                           (w.nmocapstate > 0 && w.body_carrier[m.jnt_bodyid[at(j)]] >= 0 &&
                            type == JointType::ball);
      if (w.opt.gyroscopic_midpoint && !carried) turning.push_back(j);
    }
    for (int k = 0; k < 3 && type == JointType::free; ++k) freerot[at(dof + 3 + k)] = dof + 3;
    if (limited[at(j)] != 0) dof_limited_[at(dof)] = 1;
  }
  w.nball = static_cast<int>(balls.size());
  w.ball_jnt = keep(balls);
  w.ncoord = m.nv + m.nu + m.ntendon + w.nball;
  // limits, dry friction, servos, and four of a tendon
  w.nrow = std::accumulate(dof_limited_.begin(), dof_limited_.end(), 0) + m.nv + m.nu +
           4 * m.ntendon + w.nball;
  w.dof_freerot = keep(freerot);
  w.nturn = static_cast<int>(turning.size());
  w.turn_jnt = keep(turning);
  std::vector<int> rubs;
  for (const double loss : m.dof_frictionloss) rubs.push_back(loss != 0 ? 1 : 0);
  w.dof_rubs = keep(rubs);
}

void HostModel::geoms(const Model& m) {
  physics::ModelView& w = view_;
  w.geom_type = keep(to_ints(m.geom_type));
  w.geom_bodyid = keep(m.geom_bodyid);
  w.geom_priority = keep(m.geom_priority);
  w.geom_dataid = keep(m.geom_dataid);
  std::vector<float> rbound;
  for (const double r : m.geom_rbound) rbound.push_back(static_cast<float>(r * (1 + 1e-6)));
  w.geom_rbound = keep(rbound);
  pairs(m);
  w.site_bodyid = keep(m.site_bodyid);
  w.site_type = keep(to_ints(m.site_type));
}

// The medium acts on the ellipsoids of a body, or on its inertia box if there are none.
void HostModel::fluid(const Model& m) {
  physics::ModelView& w = view_;
  const bool medium = m.density != 0 || m.viscosity != 0;
  w.nfluidbody = medium ? m.nbody : 0;
  w.nfluiddof = medium ? m.nv : 0;
  Lists elements;
  std::vector<double> coef;
  for (int b = 0; b < m.nbody && medium; ++b) {
    for (int g = 0; g < m.ngeom && w.body_treeid[b] >= 0; ++g) {
      if (m.geom_bodyid[at(g)] != b || m.geom_fluid[at(12 * g)] == 0) continue;
      elements.items.push_back(g);
      coef.insert(coef.end(), &m.geom_fluid[at(12 * g)], &m.geom_fluid[at(12 * g)] + 12);
    }
    if (w.body_treeid[b] >= 0 && static_cast<int>(elements.items.size()) == elements.adr.back()) {
      elements.items.push_back(-1);
      coef.insert(coef.end(), 12, 0.0);
    }
    elements.end_list();
  }
  w.body_fluidadr = keep(elements.adr);
  w.fluid_geom = keep(elements.items);
  w.fluid_coef = keep(coef);
}

namespace {

// Focal lengths and principal point in pixels; without a chip pixels are square.
std::vector<double> camera_lenses(const Model& m) {
  std::vector<double> lens;
  for (int c = 0; c < m.ncam; ++c) {
    const double width = m.cam_resolution[at(2 * c)], height = m.cam_resolution[at(2 * c + 1)];
    const double* const chip = &m.cam_sensorsize[at(2 * c)];
    const double* const focal = &m.cam_intrinsic[at(4 * c)];
    const double square = 0.5 * height / std::tan(m.cam_fovy[at(c)] * std::numbers::pi / 360);
    const bool has_chip = chip[0] > 0 && chip[1] > 0;
    lens.push_back(has_chip ? focal[0] / chip[0] * width : square);
    lens.push_back(has_chip ? focal[1] / chip[1] * height : square);
    lens.push_back(0.5 * width), lens.push_back(0.5 * height);
  }
  return lens;
}

}  // namespace

void HostModel::springs(const Model& m) {
  physics::ModelView& w = view_;
  w.ncurved = 0;
  const auto keep_poly = [&](const Reals& poly) {
    for (std::size_t k = 0; k < poly.size(); k += 2) w.ncurved += poly[k] != 0 || poly[k + 1] != 0;
    return keep(poly);
  };
  w.jnt_stiffnesspoly = keep_poly(m.jnt_stiffnesspoly);
  w.dof_dampingpoly = keep_poly(m.dof_dampingpoly);
  w.tendon_stiffnesspoly = keep_poly(m.tendon_stiffnesspoly);
  w.tendon_dampingpoly = keep_poly(m.tendon_dampingpoly);
}

void HostModel::sensors(const Model& m) {
  physics::ModelView& w = view_;
  w.nsensor = m.nsensor, w.nsensordata = m.nsensordata;
  w.sensor_type = keep(to_ints(m.sensor_type));
  w.sensor_objtype = keep(to_ints(m.sensor_objtype));
  w.sensor_objid = keep(m.sensor_objid);
  w.sensor_reftype = keep(to_ints(m.sensor_reftype));
  w.sensor_refid = keep(m.sensor_refid);
  w.sensor_adr = keep(m.sensor_adr);
  w.sensor_dim = keep(m.sensor_dim);
  std::vector<int> interval;
  std::vector<double> cutoff, reach;
  for (int i = 0; i < m.nsensor; ++i) {
    interval.push_back(of_interval(m.sensor_type[at(i)]) ? 1 : 0);
    cutoff.push_back(has_cutoff(m.sensor_type[at(i)]) ? m.sensor_cutoff[at(i)] : 0);
    reach.push_back(of_distance(m.sensor_type[at(i)]) ? m.sensor_cutoff[at(i)] : 0);
  }
  w.sensor_interval = keep(interval);
  w.sensor_cutoff = keep(cutoff);
  w.sensor_reach = keep(reach);
  w.cam_bodyid = keep(m.cam_bodyid);
  w.cam_pos = keep(m.cam_pos), w.cam_quat = keep(m.cam_quat);
  w.cam_lens = keep(camera_lenses(m));
}

void HostModel::make_own(Field f) {
  if (f == Field::actuator_gain || f == Field::actuator_bias)
    view_.actuator_mayservo = keep(std::vector<int>(at(view_.nu), 1));
  make_tendons_own(f);
  if (f == Field::body_quat) view_.own_body_quat = true;
  if (f == Field::pair_margin || f == Field::pair_relaxation_time) compare_all_pairs();
  if (f == Field::dof_frictionloss) view_.dof_rubs = keep(std::vector<int>(at(view_.nv), 1));
  rows();
}

void HostModel::parameters(const Model& m) {
  const auto set = [&](Field f, std::vector<double> values) {
    params_[static_cast<std::size_t>(f)] = std::move(values);
  };
  set(Field::gravity, {m.gravity.begin(), m.gravity.end()});
  // of the three coefficients, the sliding one
  std::vector<double> friction;
  friction.reserve(at(m.ngeom));
  for (int g = 0; g < m.ngeom; ++g) friction.push_back(m.geom_friction[at(3 * g)]);
  set(Field::geom_friction, friction);

  set(Field::geom_dataid, {m.geom_dataid.begin(), m.geom_dataid.end()});

  // the stiffness of rigid constraints must fit into single precision, too
  std::vector<double> stiffness = m.eq_stiffness;
  for (double& k : stiffness) k = std::min(k, kRigidStiffness);
  set(Field::eq_stiffness, stiffness);

  if (m.na > 0)
    set(Field::actuator_dynprm, m.actuator_dynprm),
        set(Field::actuator_actrange, m.actuator_actrange);
  if (view_.nmuscle > 0)
    set(Field::actuator_muscle, m.actuator_muscle),
        set(Field::actuator_lengthrange, m.actuator_lengthrange);
  if (view_.nsurface > 0) set(Field::geom_surfacevel, m.geom_surfacevel);
  if (view_.ncouple > 0)
    set(Field::pair_torsion, m.pair_torsion), set(Field::pair_rolling, m.pair_rolling);
  if (view_.nrebound > 0) set(Field::pair_restitution, m.pair_restitution);
#define STICTION_PARAM(name) set(Field::name, m.name);
  STICTION_PARAM(body_pos)
  STICTION_PARAM(body_quat)
  STICTION_PARAM(body_mass)
  STICTION_PARAM(body_ipos)
  STICTION_PARAM(body_iquat)
  STICTION_PARAM(body_inertia)
  STICTION_PARAM(body_gravcomp)
  STICTION_PARAM(jnt_pos)
  STICTION_PARAM(jnt_axis)
  STICTION_PARAM(jnt_range)
  STICTION_PARAM(jnt_margin)
  STICTION_PARAM(jnt_solref)
  STICTION_PARAM(jnt_stiffness)
  STICTION_PARAM(jnt_actfrcrange)
  STICTION_PARAM(qpos0)
  STICTION_PARAM(qpos_spring)
  STICTION_PARAM(dof_armature)
  STICTION_PARAM(dof_damping)
  STICTION_PARAM(dof_frictionloss)
  STICTION_PARAM(geom_size)
  STICTION_PARAM(geom_pos)
  STICTION_PARAM(geom_quat)
  STICTION_PARAM(pair_friction)
  STICTION_PARAM(pair_margin)
  STICTION_PARAM(pair_stiffness)
  STICTION_PARAM(pair_dissipation)
  STICTION_PARAM(pair_relaxation_time)
  STICTION_PARAM(pair_weight)
  STICTION_PARAM(site_pos)
  STICTION_PARAM(site_quat)
  STICTION_PARAM(site_size)
  STICTION_PARAM(actuator_gear)
  STICTION_PARAM(actuator_gain)
  STICTION_PARAM(actuator_bias)
  STICTION_PARAM(actuator_ctrlrange)
  STICTION_PARAM(actuator_forcerange)
  STICTION_PARAM(tendon_range)
  STICTION_PARAM(tendon_margin)
  STICTION_PARAM(tendon_solref)
  STICTION_PARAM(tendon_stiffness)
  STICTION_PARAM(tendon_lengthspring)
  STICTION_PARAM(tendon_damping)
  STICTION_PARAM(tendon_armature)
  STICTION_PARAM(tendon_frictionloss)
  STICTION_PARAM(tendon_actfrcrange)
  STICTION_PARAM(wrap_coef)
  STICTION_PARAM(eq_data)
  STICTION_PARAM(eq_relaxation_time)
#undef STICTION_PARAM
}

std::uint64_t HostModel::hash() const {
  std::uint64_t h = 0xcbf29ce484222325u;  // FNV-1a
  const auto add = [&](const void* data, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): bytes of numbers
      h = (h ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
  };
  const physics::OptionsView& o = view_.opt;
  const double reals[] = {
      o.timestep,    o.stiction_tolerance, o.regularization, o.near_rigid,    o.solver_tolerance,
      o.density,     o.viscosity,          o.wind[0],        o.wind[1],       o.wind[2],
      o.magnetic[0], o.magnetic[1],        o.magnetic[2],    o.friction_share};
  const int ints[] = {o.max_iterations,
                      o.friction_iterations,
                      o.friction_follows,
                      o.contact_model,
                      o.anchored,
                      o.penetrating_deepest,
                      o.near_rigid_limits,
                      o.harmonic_friction,
                      o.gyroscopic_midpoint,
                      o.friction_exact,
                      o.friction_renewals,
                      o.mocap_given,
                      view_.nmocapstate};
  add(reals, sizeof reals);
  add(ints, sizeof ints);
  for (const auto& v : ints_) add(v.data(), v.size() * sizeof v[0]);
  for (const auto& v : floats_) add(v.data(), v.size() * sizeof v[0]);
  for (const auto& v : doubles_) add(v.data(), v.size() * sizeof v[0]);
  for (const auto& v : params_) add(v.data(), v.size() * sizeof v[0]);
  return h;
}

}  // namespace stiction::cpu
