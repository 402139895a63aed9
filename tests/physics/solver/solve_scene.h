// States with contact, and the fields that the solve reads, filled from the reference engine.
#pragma once

#include <random>

#include "one_solve.h"
#include "physics/contact/points.h"
#include "physics/env.h"
#include "reference/actuation/forces.h"
#include "reference/step/step.h"
#include "stiction/batch.h"
#include "stiction/error.h"

namespace stiction::test {

struct SolveCase {
  std::vector<double> qpos, qvel, ctrl, anchor;
};

// What the reference engine says about one state.
struct Case {
  SolveCase state;
  StepResult result;
  std::vector<Contact> contacts;  // with the n0 of the first solve
  reference::Kinematics kin;
  reference::FreeMotion free;
  std::vector<reference::Actuation> actuation;
  std::vector<Vec3> shift;                   // b_t of each contact
  std::vector<reference::CoupleLaw> couple;  // of each contact; shift in world axes
  std::vector<double> w_turning;
  std::vector<double> deep;  // by which the root of the normal law moves
};

inline Options step_options(const Model& m, Options o, double tolerance) {
  o.timestep = o.timestep.value_or(m.timestep);
  o.solver_tolerance = tolerance;
  o.max_iterations = 100;
  o.gyroscopic = Gyroscopic::explicit_euler;  // the other law goes on after the solve
  return o;
}

// Velocities and joint positions disturbed, controls at random in their range.
inline SolveCase disturbed(const Model& m, SolveCase s, std::mt19937& random, double speed) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> unit(0, 1);
  for (double& v : s.qvel) v += speed * normal(random);
  s.ctrl.assign(at(m.nu), 0.0);
  for (int a = 0; a < m.nu; ++a) {
    const double lo = m.actuator_ctrlrange[at(2 * a)], hi = m.actuator_ctrlrange[at(2 * a + 1)];
    s.ctrl[at(a)] =
        m.actuator_ctrllimited[at(a)] != 0 ? lo + unit(random) * (hi - lo) : 0.3 * normal(random);
  }
  return s;
}

inline SolveCase first_state(const Model& m) {
  SolveCase s;
  s.qpos =
      m.nkey > 0 ? std::vector<double>(m.key_qpos.begin(), m.key_qpos.begin() + m.nq) : m.qpos0;
  s.qvel.assign(at(m.nv), 0.0), s.ctrl.assign(at(m.nu), 0.0),
      s.anchor.assign(at(3 * m.nanchor), 0.0);
  return s;
}

// Every `stride`-th state of a run with new controls now and then. The run is a batch's, in double: the reference would
// take a hundred times as long, and only says what the step from each of these states is.
inline std::vector<SolveCase> rollout(const ModelPtr& model, const Options& o, int count,
                                      int stride, unsigned seed) {
  Batch batch(model, {.options = o, .precision = Precision::float64, .threads = 1});
  const ArrayView ctrl = batch.field("ctrl");
  const int env = 0;
  std::mt19937 random(seed);
  std::vector<SolveCase> states;
  SolveCase s = disturbed(*model, first_state(*model), random, 0.3);
  while (static_cast<int>(states.size()) < count) {
    BatchState state;
    state.qpos = s.qpos, state.qvel = s.qvel;
    if (o.stiction == Stiction::anchored) state.anchor = s.anchor;
    batch.set_state(std::span(&env, 1), state);
    std::copy(s.ctrl.begin(), s.ctrl.end(), static_cast<double*>(ctrl.data));
    batch.step(stride);
    if (!batch.frozen().empty()) throw Error("a run froze, so there are no states");
    state = batch.get_state(std::span(&env, 1));
    s.qpos = state.qpos, s.qvel = state.qvel;
    if (o.stiction == Stiction::anchored) s.anchor = state.anchor;
    s = disturbed(*model, s, random, 0.05);
    states.push_back(s);
  }
  return states;
}

inline Case make_case(const ModelPtr& model, const Options& o, const SolveCase& s) {
  const Model& m = *model;
  const Reference engine(model, o);
  Case c;
  c.state = s;
  c.result = engine.step(s.qpos, s.qvel, {.ctrl = s.ctrl, .anchor = s.anchor});
  c.contacts = c.result.contacts;
  if (o.friction_iterations != 1) {
    Options once = o;
    once.friction_iterations = 1;
    c.contacts =
        Reference(model, once).step(s.qpos, s.qvel, {.ctrl = s.ctrl, .anchor = s.anchor}).contacts;
  }
  const std::vector<double> zeros(at(m.nv)), wrenches(at(6 * m.nbody));
  const reference::StepInputs in{s.qpos, s.qvel, s.ctrl,   zeros, wrenches, {},
                                 {},     {},     s.anchor, {},    {}};
  c.kin = reference::kinematics(m, s.qpos, {}, {});
  c.free = reference::free_motion(m, o, c.kin, in);
  const auto tendons = reference::tendons(m, c.kin, s.qpos);
  c.actuation = reference::actuation(m, c.kin, tendons, s.qpos, s.qvel, s.ctrl, {});
  const auto bodies = reference::motion(m, c.kin, s.qvel, {});
  const reference::DelassusScale scale(m, c.kin, c.free.A);
  for (const Contact& p : c.contacts) {
    const Vec3 n(p.normal[0], p.normal[1], p.normal[2]);
    const double spin = n.dot(bodies[at(m.geom_bodyid[at(p.geom1)])].omega +
                              bodies[at(m.geom_bodyid[at(p.geom2)])].omega);
    const Vec3 z = reference::spin_anchor(row3(s.anchor, p.slot), n, 0.5 * *o.timestep * spin);
    c.shift.push_back((z - n.dot(z) * n) / (reference::kAnchorTime * *o.timestep));

    reference::ContactPoint point;
    point.geom1 = p.geom1, point.geom2 = p.geom2, point.pair = p.pair;
    point.frame = stiction::Mat3::Identity();
    point.friction << p.friction, p.friction;
    point.w_turning = scale(turning_jacobian(m, c.kin, point));
    if (m.nanchor > m.nslot) {
      const Vec3 angle = row3(s.anchor, m.nslot + p.slot), about = n.dot(angle) * n;
      point.turned = about + reference::spin_anchor(angle - about, n, 0.5 * *o.timestep * spin);
    }
    reference::ContactLaw law;
    law.n0 = p.n0;
    c.couple.push_back(couple_law(m, o, *o.timestep, law, point));
    c.w_turning.push_back(point.w_turning);

    const Vec3 pos(p.pos[0], p.pos[1], p.pos[2]);
    const auto at_point = [&](int geom) {
      const int body = m.geom_bodyid[at(geom)];
      return bodies[at(body)].velocity_at(pos - c.kin.xpos[at(body)]);
    };
    point.gap = p.gap, point.w = p.w;
    point.stiffness = p.stiffness, point.dissipation = p.dissipation;
    const double v_n0 = n.dot(at_point(p.geom2) - at_point(p.geom1));
    c.deep.push_back(o.contact_model == ContactModel::sap
                         ? 0
                         : reference::deep_shift(m, *o.timestep, point, v_n0));
  }
  return c;
}

template <class S>
class Scene : public Env<S> {
 public:
  // One case per lane, or the same in all.
  Scene(const ModelPtr& model, const Options& o, const std::vector<Case>& cases)
      : Env<S>(*model, o), model_(*model), options_(o) {
    for (int lane = 0; lane < Env<S>::lanes(); ++lane)
      dynamics(lane, cases[at(lane) % cases.size()]);
    this->fill(Field::qfrc_actuator, 0), this->fill(Field::flags, 0);
    lists(cases);
    for (int lane = 0; lane < Env<S>::lanes(); ++lane) points(lane, cases[at(lane) % cases.size()]);
  }

 private:
  Vec3 origin(const Case& c, int body) const {
    const int tree = this->m().body_treeid[body];
    return tree < 0 ? Vec3::Zero() : c.kin.xpos[at(this->m().tree_origin[tree])];
  }
  void put3(Field f, int i, int lane, const Vec3& v) {
    for (int k = 0; k < 3; ++k) this->put(f, 3 * i + k, lane, v[k]);
  }

  void dynamics(int lane, const Case& c) {
    const Model& m = model_;
    this->set(Field::qpos, lane, c.state.qpos), this->set(Field::qvel, lane, c.state.qvel);
    for (int i = 0; i < m.nv; ++i)
      for (int j = 0; j <= i; ++j) this->put(Field::A, physics::tri(i, j), lane, c.free.A(i, j));
    const Eigen::Map<const VecX> v0(c.state.qvel.data(), m.nv);
    const VecX k = c.free.A * (c.free.v_star - v0) / *options_.timestep;
    for (int i = 0; i < m.nv; ++i) {
      this->put(Field::qfrc_smooth, i, lane, k[i]);
      const Vec3 &axis = c.kin.dof_axis[at(i)], O = origin(c, m.dof_bodyid[at(i)]);
      const bool turns = c.kin.dof_rotates[at(i)];
      put3(Field::cdof, 2 * i, lane, turns ? axis : Vec3(Vec3::Zero()));
      put3(Field::cdof, 2 * i + 1, lane, turns ? axis.cross(O - c.kin.dof_anchor[at(i)]) : axis);
    }
    for (int b = 0; b < m.nbody; ++b) {
      put3(Field::xioff, b, lane, c.kin.xipos[at(b)] - origin(c, b));
      for (int k3 = 0; k3 < 3; ++k3) put3(Field::xmat, 3 * b + k3, lane, c.kin.xmat[at(b)].col(k3));
    }
    for (int a = 0; a < m.nu; ++a) {
      const reference::Actuation& act = c.actuation[at(a)];
      this->put(Field::act_length, a, lane, act.length);
      this->put(Field::act_velocity, a, lane, act.velocity);
      put3(Field::act_law, a, lane, act.law);
      const int* const adr = this->m().coord_momentadr + m.nv + a;
      for (int x = adr[0]; x < adr[1]; ++x)
        this->put(Field::moment, x, lane, act.moment[this->m().moment_dof[x]]);
    }
  }

  void lists(const std::vector<Case>& cases) {
    const physics::ModelView& m = this->m();
    std::vector<int> slot_point(at(m.nslot), -1);
    int& n = this->e.npoint[0];
    n = 0;
    for (int lane = 0; lane < Env<S>::lanes(); ++lane)
      for (const Contact& p : cases[at(lane) % cases.size()].contacts) slot_point[at(p.slot)] = 0;
    for (int slot = 0; slot < m.nslot; ++slot) {
      if (slot_point[at(slot)] < 0) continue;
      physics::place_point(m, this->e, n++, slot);
    }
    int entries = 0;
    for (int b = 0; b < m.nbody; ++b) {
      this->e.body_pointadr[b] = entries;
      for (int p = 0; p < n; ++p) {
        if (this->e.point_body[2 * p] == b) this->e.body_point[entries++] = -(p + 1);
        if (this->e.point_body[2 * p + 1] == b) this->e.body_point[entries++] = p + 1;
      }
    }
    this->e.body_pointadr[m.nbody] = entries;
  }

  void points(int lane, const Case& c) {
    const physics::ModelView& m = this->m();
    this->put(Field::ncon, 0, lane, static_cast<double>(c.contacts.size()));
    for (int p = 0; p < this->e.npoint[0]; ++p) {
      // not active in this lane: any place, no impulse
      for (const Field f :
           {Field::point_normal, Field::point_r1, Field::point_r2, Field::point_shift})
        put3(f, p, lane, f == Field::point_normal ? Vec3::UnitZ() : Vec3(Vec3::Zero()));
      for (const Field f : {Field::point_mu, Field::point_n0, Field::point_d, Field::point_w})
        this->put(f, p, lane, 0);
      this->put(Field::point_eps, p, lane, 1);
      for (int k = 0; k < 5 && m.ncouple > 0; ++k)
        this->put(Field::point_couple_law, 5 * p + k, lane, k == 2 || k == 3 ? 1 : 0);
      if (m.ncouple > 0) put3(Field::point_couple_shift, p, lane, Vec3(Vec3::Zero()));
      this->put(Field::cand_active, this->e.point_slot[p], lane, 0);
      for (int k = 0; k < 4; ++k) this->put(Field::point_law, 4 * p + k, lane, 0);
      for (std::size_t i = 0; i < c.contacts.size(); ++i) {
        const Contact& info = c.contacts[i];
        if (info.slot != this->e.point_slot[p]) continue;
        point(lane, p, info, c, i, m);
        if (m.ncouple > 0) couple(lane, p, c.couple[i], c.w_turning[i]);
      }
    }
  }
  void couple(int lane, int p, const reference::CoupleLaw& law, double w) {
    const double numbers[] = {law.torsion, law.rolling, law.eps_torsion, law.eps_rolling, w};
    for (int k = 0; k < 5; ++k) this->put(Field::point_couple_law, 5 * p + k, lane, numbers[k]);
    put3(Field::point_couple_shift, p, lane, law.shift);
  }
  void point(int lane, int p, const Contact& info, const Case& c, std::size_t i,
             const physics::ModelView& m) {
    const Vec3 pos(info.pos[0], info.pos[1], info.pos[2]);
    this->put(Field::cand_active, info.slot, lane, 1);
    put3(Field::point_normal, p, lane, Vec3(info.normal[0], info.normal[1], info.normal[2]));
    put3(Field::point_r1, p, lane, pos - origin(c, m.geom_bodyid[info.geom1]));
    put3(Field::point_r2, p, lane, pos - origin(c, m.geom_bodyid[info.geom2]));
    put3(Field::point_shift, p, lane, c.shift[i]);
    this->put(Field::point_mu, p, lane, info.friction);
    this->put(Field::point_n0, p, lane, info.n0);
    this->put(Field::point_w, p, lane, info.w);
    this->put(Field::point_eps, p, lane, info.eps_s);
    this->put(Field::point_d, p, lane, info.dissipation);
    const double dt = *options_.timestep, k = info.stiffness, d = info.dissipation;
    const double f_e0 = -k * info.gap, a = dt * k;
    double law[4] = {f_e0 / a, a, 0, 1 - d * f_e0 / a};
    if (d * f_e0 > a) law[0] = 1 / d, law[2] = f_e0 - a / d, law[3] = 0;
    if (options_.contact_model == ContactModel::sap) {
      reference::ContactLaw sap;
      reference::set_sap(sap, dt, k, model_.pair_relaxation_time[at(info.pair)],
                         options_.near_rigid, options_.regularization, info.w, info.gap);
      law[0] = sap.v_hat, law[1] = 1 / sap.R_n, law[2] = 1 / sap.R_t, law[3] = 0;
    }
    law[0] += c.deep[i];
    for (int k4 = 0; k4 < 4; ++k4) this->put(Field::point_law, 4 * p + k4, lane, law[k4]);
  }

  const Model& model_;
  Options options_;
};

// ‖x‖_A
inline double norm_A(const MatX& A, const VecX& x) {
  return std::sqrt(x.dot(A * x));
}
inline VecX vector(const std::vector<double>& x) {
  return Eigen::Map<const VecX>(x.data(), static_cast<int>(x.size()));
}

}  // namespace stiction::test
