#include "rollout.h"

#include <algorithm>

namespace stiction::python {
namespace {

// Room for all rows, with the initial state in the first.
Rollout start(const Model& m, std::span<const double> qpos, std::span<const double> qvel,
              const Inputs& in, int nstep, bool energy) {
  Rollout r;
  r.nq = m.nq, r.nv = m.nv, r.nstep = nstep;
  const auto n = static_cast<std::size_t>(nstep);
  r.qpos.reserve((n + 1) * qpos.size());
  r.qvel.reserve((n + 1) * qvel.size());
  r.qpos.assign(qpos.begin(), qpos.end());
  r.qvel.assign(qvel.begin(), qvel.end());
  r.anchor.assign(static_cast<std::size_t>(3 * m.nanchor), 0.0);
  std::copy(in.anchor.begin(), in.anchor.end(), r.anchor.begin());
  r.friction_anchor.assign(static_cast<std::size_t>(m.nv + m.ntendon), 0.0);
  std::copy(in.friction_anchor.begin(), in.friction_anchor.end(), r.friction_anchor.begin());
  r.rebound.assign(static_cast<std::size_t>(m.nrebound), 0.0);
  std::copy(in.rebound.begin(), in.rebound.end(), r.rebound.begin());
  r.act.assign(static_cast<std::size_t>(m.na), 0.0);
  std::copy(in.act.begin(), in.act.end(), r.act.begin());
  r.mocap_pos.assign(static_cast<std::size_t>(3 * m.nmocap), 0.0);
  r.mocap_quat.assign(static_cast<std::size_t>(4 * m.nmocap), 0.0);
  for (std::size_t b = 0; b < m.body_mocapid.size(); ++b) {
    const int k = m.body_mocapid[b];
    if (k < 0) continue;
    std::copy_n(&m.body_pos[3 * b], 3, r.mocap_pos.begin() + 3 * k);
    std::copy_n(&m.body_quat[4 * b], 4, r.mocap_quat.begin() + 4 * k);
  }
  std::copy(in.mocap_pos.begin(), in.mocap_pos.end(), r.mocap_pos.begin());
  std::copy(in.mocap_quat.begin(), in.mocap_quat.end(), r.mocap_quat.begin());
  if (energy) r.energy.reserve(2 * (n + 1));
  r.residual.reserve(n), r.iterations.reserve(n), r.ncontact.reserve(n), r.status.reserve(n);
  return r;
}

void append(std::vector<double>& rows, const std::vector<double>& row) {
  rows.insert(rows.end(), row.begin(), row.end());
}

}  // namespace

Rollout roll_out(const Reference& reference, std::span<const double> qpos,
                 std::span<const double> qvel, const Inputs& inputs, bool ctrl_per_step, int nstep,
                 bool energy, const std::function<bool()>& go_on) {
  const Model& m = reference.model();
  Rollout r = start(m, qpos, qvel, inputs, nstep, energy);
  std::vector<double> q(r.qpos), v(r.qvel);
  Inputs in = inputs;
  in.anchor = r.anchor, in.friction_anchor = r.friction_anchor, in.act = r.act;
  in.rebound = r.rebound;

  const auto add_energy = [&] {
    if (!energy) return;
    const ForwardResult f = reference.forward(q, v, in);
    r.energy.push_back(f.energy_kinetic);
    r.energy.push_back(f.energy_potential);
  };

  const auto nu = static_cast<std::size_t>(m.nu);
  StepResult s;
  for (int k = 0; k < nstep; ++k) {
    if (ctrl_per_step) in.ctrl = inputs.ctrl.subspan(static_cast<std::size_t>(k) * nu, nu);
    if (k == 0) add_energy();

    if (!any(s.status, kFrozen)) {
      s = reference.step(q, v, in);
      if (any(s.status, kFrozen)) s.iterations = 0, s.residual = 0, s.contacts.clear();
      q = s.qpos, v = s.qvel;
      std::copy(s.anchor.begin(), s.anchor.end(), r.anchor.begin());
      std::copy(s.friction_anchor.begin(), s.friction_anchor.end(), r.friction_anchor.begin());
      std::copy(s.rebound.begin(), s.rebound.end(), r.rebound.begin());
      std::copy(s.act.begin(), s.act.end(), r.act.begin());
      if (!in.mocap_vel.empty()) {  // it has taken them there
        std::copy(s.mocap_pos.begin(), s.mocap_pos.end(), r.mocap_pos.begin());
        std::copy(s.mocap_quat.begin(), s.mocap_quat.end(), r.mocap_quat.begin());
        in.mocap_pos = r.mocap_pos, in.mocap_quat = r.mocap_quat;
      }
    }

    append(r.qpos, q);
    append(r.qvel, v);
    r.residual.push_back(s.residual);
    r.iterations.push_back(s.iterations);
    r.ncontact.push_back(static_cast<std::int32_t>(s.contacts.size()));
    r.status.push_back(static_cast<std::uint32_t>(s.status));
    add_energy();
    if (!go_on()) break;
  }
  r.nstep = static_cast<int>(r.status.size());
  return r;
}

}  // namespace stiction::python
