// Equality constraints: connects and welds between two bodies, couplings between two joints or tendons.
#pragma once

#include "reference/actuation/tendons.h"
#include "reference/base/step_inputs.h"

namespace stiction::reference::inline STICTION_REAL {

// P is fixed to body 1, Q to body 2. World axes.
struct Connection {
  int body1, body2;
  Vec3 p, q;      // positions of P and Q
  Vec3 at1, at2;  // where impulses act on body 1 and body 2: P and Q, for a weld their midpoint
  Vec3 turn;      // of a weld: log R_Q R_Pᵀ
};
Connection connection(const Model& m, const Kinematics& kin, int equality);
// (6,nv): velocity of body 2 relative to body 1, angular, then linear, each where its impulse acts.
MatX jacobian(const Model& m, const Kinematics& kin, const Connection& c);
// Returns whether the constraint is a connect or weld, which act between two bodies.
bool is_connection(const Model& m, int equality);

// The wrench of connects and welds with these forces (StepResult::eq_force) on the subtree of a body, about `pos`.
struct Wrench {
  Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
};
Wrench wrench_of_connections(const Model& m, const Kinematics& kin,
                             std::span<const double> eq_force, int root, const Vec3& pos);

// x_1 − P(x_2) and its derivative. x: for a joint q − qpos0, for a tendon its length minus tendon_length0; 0 if there
// is no second one.
struct Coupling {
  Real gap = 0;
  VecX J;  // (nv)
};
Coupling coupling(const Model& m, std::span<const Real> qpos, const std::vector<Tendon>& tendons,
                  int equality);

// Returns the active equality constraints; v_c of a weld is angular, then linear.
std::vector<BlockConstraint> equality_blocks(const Model& m, double dt, const Kinematics& kin,
                                             const std::vector<Tendon>& tendons,
                                             const StepInputs& in, const DelassusScale& delassus);

}  // namespace stiction::reference::inline STICTION_REAL
