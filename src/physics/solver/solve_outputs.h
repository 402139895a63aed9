// Outputs of a step that come from its solve.
#pragma once

#include "physics/base/status.h"
#include "physics/solver/solve_start.h"

STICTION_PHYSICS_BEGIN

// Writes the contact force on each body and its torque about the centre of mass; joint forces, accelerations.
template <class Team, class S>
STICTION_FN void solve_outputs(const Team& team, const ModelView& m, EnvView<S>& e) {
  const S rate = S(m.opt.step_rate);
  shift_velocities(team, e, 1);
  team.for_each(m.nv, [&](int i) {
    e.qacc[i] = rate * (e.v[i] - e.qvel[i]);
    const LengthImpulses<S> lengths = length_impulses_on(m, e, i);
    e.qfrc_constraint[i] = rate * (e.contact_impulse[i] + coordinate_law(m, e, i, e.v[i]).impulse);
    if (m.nrowlength > m.nrowservo)
      e.qfrc_constraint[i] = e.qfrc_constraint[i] + rate * lengths.constraints;
    e.qfrc_actuator[i] = e.qfrc_actuator[i] + rate * lengths.actuators;
  });
  equality_outputs(team, m, e);
  team.for_each(m.nbody, [&](int b) {
    Vec3<S> force = zero3<S>(), torque = zero3<S>();
    const Vec3<S> centre = load3(e.xioff, b);
    STICTION_ROLLED
    for (int n = e.body_pointadr[b]; n < e.body_pointadr[b + 1]; ++n) {
      const PointForce<S> f = point_force(m, e, n);
      force = force + f.impulse;
      torque = torque + cross(f.r - centre, f.impulse);
      if (m.ncouple > 0) torque = torque + f.couple;
    }
    store6(e.xfrc_contact, b, {rate * force, rate * torque});
  });
}

template <class Team, class S>
STICTION_FN void solver_report(const Team& team, EnvView<S>& e, const SolveState<S>& s) {
  team.once([&] {
    e.solver_niter[0] = s.iterations;
    e.solver_nls[0] = s.evaluations;
    e.solver_residual[0] = s.residual;
    e.solver_nsolve[0] = s.solves + s.renewals;
    raise_flag(e, Status::bad_state, s.bad);
    raise_flag(e, Status::cholesky_failed, s.failed);
    raise_flag(e, Status::stalled, s.stalled);
    raise_flag(e, Status::inaccurate, s.stalled && !(s.residual <= S(kStalledResidual)));
    raise_flag(e, Status::not_converged, s.not_converged);
  });
}

STICTION_PHYSICS_END
