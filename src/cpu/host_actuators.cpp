// Actuators, and the moment arms of all lengths.
#include "cpu/host_model.h"
#include "index.h"

namespace stiction::cpu {
namespace {

bool may_be_servo(const Model& m, int a) {
  const double *gain = &m.actuator_gain[at(3 * a)], *bias = &m.actuator_bias[at(3 * a)];
  return bias[1] < 0 || bias[2] < 0 || gain[1] != 0 || gain[2] != 0 ||
         m.actuator_gainmuscle[at(a)] != 0 || m.actuator_biasmuscle[at(a)] != 0;
}

// Returns whether the actuator acts on a ball joint, or between two sites, where gear may select a pure rotation.
bool may_turn(const Model& m, int a) {
  const Transmission type = m.actuator_trntype[at(a)];
  if (type == Transmission::site) return m.actuator_refid[at(a)] >= 0;
  return (type == Transmission::joint || type == Transmission::jointinparent) &&
         m.jnt_type[at(m.actuator_trnid[at(a)])] == JointType::ball;
}

}  // namespace

void HostModel::actuators(const Model& m) {
  physics::ModelView& w = view_;
  w.actuator_trntype = keep(to_ints(m.actuator_trntype));
  w.actuator_trnid = keep(m.actuator_trnid);
  w.actuator_ctrllimited = keep(m.actuator_ctrllimited);
  w.actuator_forcelimited = keep(m.actuator_forcelimited);
  w.actuator_dyntype = keep(to_ints(m.actuator_dyntype));
  w.actuator_actadr = keep(m.actuator_actadr);
  w.actuator_actlimited = keep(m.actuator_actlimited);
  w.actuator_actearly = keep(m.actuator_actearly);
  w.actuator_gainmuscle = keep(m.actuator_gainmuscle);
  w.actuator_biasmuscle = keep(m.actuator_biasmuscle);
  w.actuator_refid = keep(m.actuator_refid);
  w.actuator_cranklength = keep(m.actuator_cranklength);

  Lists moment;
  moment.adr.resize(at(m.nv + 1));  // a dof has no entries: its moment arm is itself
  std::vector<int> servo, on_ball, bounded;
  for (int a = 0; a < m.nu; ++a) {
    const int id = m.actuator_trnid[at(a)];
    const Transmission type = m.actuator_trntype[at(a)];
    if (type != Transmission::joint && type != Transmission::tendon) ++w.nsitedrive;
    servo.push_back(may_be_servo(m, a) ? 1 : 0);
    on_ball.push_back(may_turn(m, a) ? 1 : 0);
    bounded.push_back(0);
    if (is_on_site(type)) {
      for (const int dof : site_dofs(m, a)) moment.items.push_back(dof);
    } else if (type == Transmission::body) {
      // the moment arm depends on the contacts
    } else if (type == Transmission::tendon) {
      for (const int dof : tendon_dofs(m, id)) moment.items.push_back(dof);
      bounded.back() = m.tendon_actfrclimited[at(id)];
    } else {
      constexpr int kDofs[] = {6, 3, 1, 1};
      for (int k = 0; k < kDofs[static_cast<int>(m.jnt_type[at(id)])]; ++k)
        moment.items.push_back(m.jnt_dofadr[at(id)] + k);
      if (type == Transmission::joint) bounded.back() = m.jnt_actfrclimited[at(id)];
    }
    moment.end_list();
  }
  for (int t = 0; t < m.ntendon; ++t) {
    for (const int dof : tendon_dofs(m, t)) moment.items.push_back(dof);
    moment.end_list();
  }
  for (int ball = 0; ball < w.nball; ++ball) {
    const int dof = m.jnt_dofadr[at(w.ball_jnt[ball])];
    moment.items.insert(moment.items.end(), {dof, dof + 1, dof + 2});
    moment.end_list();
  }
  w.nmoment = static_cast<int>(moment.items.size());
  w.coord_momentadr = keep(moment.adr);
  w.moment_dof = keep(moment.items);
  moments_by_dof();
  w.actuator_mayservo = keep(servo);
  w.actuator_onball = keep(on_ball);
  w.actuator_bounded = keep(bounded);
}

}  // namespace stiction::cpu
