// One time step and the refresh after it: the list of the stages.
#pragma once

#include "physics/actuation/actuation.h"
#include "physics/actuation/tendons.h"
#include "physics/contact/collide.h"
#include "physics/integrate.h"
#include "physics/sensor/sensors.h"
#include "physics/solver/rows.h"
#include "physics/solver/solve.h"
#include "physics/tree/bias.h"
#include "physics/tree/fluid.h"
#include "physics/tree/gyroscopic.h"
#include "physics/tree/inertia.h"
#include "physics/tree/kinematics.h"

STICTION_PHYSICS_BEGIN

template <class Team, class S>
STICTION_SINGLE void start_mocap(const Team& team, const ModelView& m, EnvView<S>& e, int left) {
  mocap(team, m, e, left);
}

// Runs all stages before the solve; `left`: remaining steps of the call, this one included.
template <class Team, class S>
STICTION_FN void before_solve(const Team& team, const ModelView& m, EnvView<S>& e, int left = 1) {
  clear_flags(team, m, e);
  start_mocap(team, m, e, left);    // poses written -> twists of mocap bodies
  kinematics(team, m, e);           // q -> poses, motion axes
  tendons(team, m, e);              // lengths and moment arms of the tendons
  inertia(team, m, e);              // A = M + δt D + δt² K
  bias(team, m, e);                 // v -> velocities, Coriolis and gravity
  fluid(team, m, e);                // forces of the medium, its drag -> A
  activation_dynamics(team, m, e);  // ȧ, activations at the end of the step
  actuation(team, m, e);            // springs, dampers, motors, wrenches -> k
  gyroscopic_start(team, m, e);     // free and ball joints: first half of their torque -> k
  rows(team, m, e);                 // limits, servos, dry friction; v_r
  collide(team, m, e);              // active points and their laws
}

// Runs a step up to the new velocity, which stays in e.v: forces and accelerations, without moving the state.
template <class Team, class S>
STICTION_FN void forces(const Team& team, const ModelView& m, EnvView<S>& e, int left = 1) {
  before_solve(team, m, e, left);
  solve(team, m, e);           // min ½ (v − v*)ᵀ A (v − v*) + Σ ℓ(J v)
  gyroscopic_end(team, m, e);  // second half of the torque -> velocity at the end of the step
}

// Runs the stages after the velocity is known; `last`: the step after which the user reads the outputs.
template <class Team, class S>
STICTION_FN void end_step(const Team& team, const ModelView& m, EnvView<S>& e, bool last,
                          int left) {
  if (last) interval_sensors(team, m, e);
  integrate(team, m, e);         // v, q ⊕ δt v, anchors, freeze
  move_mocap(team, m, e, left);  // poses of mocap bodies
}

template <class Team, class S>
STICTION_FN void step(const Team& team, const ModelView& m, EnvView<S>& e, bool last,
                      int left = 1) {
  forces(team, m, e, left);
  end_step(team, m, e, last, left);
}

// Computes the outputs at the new state; forces and accelerations stay those of the last interval.
template <Drives can = Drives::states, class Team, class S>
STICTION_FN void refresh(const Team& team, const ModelView& m, EnvView<S>& e) {
  kinematics(team, m, e);
  velocities(team, m, e);
  tendons_up_to<can>(team, m, e);
  state_sensors(team, m, e);
}

STICTION_PHYSICS_END
