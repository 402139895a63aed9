// The stages of a step before its contacts are solved, in the order of src/reference/step/step.cpp.
#pragma once

#include "lab/src/scene.h"
#include "reference/step/step.h"

namespace stiction::lab {

// Spans of `in` point into the state, the actions and the zeros here: a Start stays where it is.
struct Start {
  Start() = default;
  Start(const Start&) = delete;
  VecX zeros_nu, zeros_nv, zeros_body, zeros_anchor, zeros_friction, zeros_rebound;
  reference::StepInputs in;
  reference::Kinematics kin;
  reference::FreeMotion free;
  std::vector<reference::RowConstraint> rows;
  std::vector<reference::ContactPoint> points;
};

// Checks the sizes; throws ArgumentError with the name of what is wrong.
void require(const VecX& v, int size, const char* name);
void begin(const Model& m, const Options& o, const State& state, const Actions& a, Start& s);

// Points that may touch within the step, at the start velocity or at v*, or nearer than `near`.
void add_points(const Model& m, const Options& o, double dt, double near, Start& s);

// What a rigid contact may not fall below: −gap/δt while open, a share of an overlap taken back.
double rigid_bias(double gap, double dt, double recover);

}  // namespace stiction::lab
