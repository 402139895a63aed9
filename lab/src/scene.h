// A model and how it is stepped: makes the contact problem of a state with the stages of the reference
// engine, and takes the velocity that a solver found to the next state.
#pragma once

#include "lab/src/contact_problem.h"
#include "lab/src/interior_point.h"
#include "stiction/reference.h"

namespace stiction::lab {

struct State {
  VecX qpos, qvel;
};
// What acts during a step; empty: nothing, mocap bodies where the model has them.
struct Actions {
  VecX ctrl, qfrc_applied, xfrc_applied, mocap_pos, mocap_quat;
};

class Scene {
 public:
  // recover: share of an overlap that rigid contacts take back within a step, 0 to 1.
  Scene(ModelPtr model, double timestep, double recover);

  const Model& model() const { return *model_; }
  double timestep() const { return *options_.timestep; }

  // Contacts that may close within the step: those the reference has in its problem, and all whose gap is
  // below `reach` m.
  ContactProblem problem(const State& state, const Actions& actions, double reach) const;
  // The state after a step at v, the minimum of the convex problem.
  State advance(const State& state, const VecX& v) const;

  // The same step in maximal coordinates: six velocities per moving body, joints and limits as rows.
  ConicProblem maximal(const State& state, const Actions& actions, double reach) const;
  // (nv) least-squares joint velocities of body velocities, (6 nbody) angular, linear of the centre of mass.
  VecX minimal_velocity(const State& state, const VecX& bodies) const;

 private:
  ModelPtr model_;
  Options options_;
  double recover_;
};

}  // namespace stiction::lab
