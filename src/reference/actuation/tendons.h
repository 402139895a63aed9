// Tendons: lengths and moment arms at a pose, and the rows of the forces along them.
#pragma once

#include "reference/base/polynomial.h"
#include "reference/solver/problem.h"
#include "reference/tree/delassus.h"
#include "reference/tree/kinematics.h"
#include "stiction/options.h"

namespace stiction::reference::inline STICTION_REAL {

// Length of tendon t and its moment arm J: the length changes at the rate J qvel.
struct Tendon {
  Real length = 0;
  VecX J;  // (nv)
};
std::vector<Tendon> tendons(const Model& m, const Kinematics& kin, std::span<const Real> qpos);

// Returns ṁ·v0 of each spatial tendon without geoms, else 0: the rate of its velocity at q̈ = 0, as the tendon turns.
std::vector<Real> tendon_bias(const Model& m, const Kinematics& kin,
                              const std::vector<Motion>& bodies);

// Whether any coefficient, of whatever order, is given.
inline bool has_spring(const Model& m, int t) {
  return is_given(m.tendon_stiffness[at(t)], m.tendon_stiffnesspoly, t);
}
inline bool has_damper(const Model& m, int t) {
  return is_given(m.tendon_damping[at(t)], m.tendon_dampingpoly, t);
}

// Returns the rows of springs, dampers and armature; the limits take their impulses at v0 into account.
std::vector<RowConstraint> tendon_forces(const Model& m, double dt, const std::vector<Tendon>& all,
                                         const std::vector<Real>& bias, const VecX& v0);

// Returns both limits of tendon t; `push`: the impulses of the step at v0 without limits. None if the tendon has no
// limits, or moves no dof.
std::vector<RowConstraint> tendon_limits(const Model& m, const Options& o, double dt, int t,
                                         const Tendon& tendon, const VecX& v0, const VecX& push,
                                         const DelassusScale& delassus);

// Returns the rows of dry friction; `anchors` (nv+ntendon): of anchored friction.
std::vector<RowConstraint> tendon_friction(const Model& m, const Options& o, double dt,
                                           std::span<const double> anchors,
                                           const std::vector<Tendon>& all,
                                           const DelassusScale& delassus);

// Returns v̂ of the dry friction of coordinate k: −z/τ if it is anchored.
Real friction_shift(const Options& o, double dt, std::span<const double> anchors, int k);

// Scales the forces (nu) of the actuators on each tendon so that their sum is within its actuatorfrcrange.
void clamp_tendon_actuation(const Model& m, VecX& force);

// Return the forces of springs and of dampers at a state, as generalized forces.
VecX tendon_spring_force(const Model& m, const std::vector<Tendon>& all);
VecX tendon_damper_force(const Model& m, const std::vector<Tendon>& all, const VecX& v);

// Returns the elastic energy of the springs.
Real tendon_energy(const Model& m, const std::vector<Tendon>& all);

}  // namespace stiction::reference::inline STICTION_REAL
