// The reference engine: one environment in double precision, slow and obvious, written
// independently of the batch, which is tested against it.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "stiction/model.h"
#include "stiction/options.h"
#include "stiction/rays.h"

namespace stiction {

// Everything that a step depends on besides qpos and qvel. Empty spans: zero (mocap: the poses of the
// model).
struct Inputs {
  std::span<const double> ctrl = {};          // (nu)
  std::span<const double> qfrc_applied = {};  // (nv)       generalized force
  std::span<const double> xfrc_applied =
      {};                                   // (nbody,6)  force, torque at the centre of mass, world
  std::span<const double> mocap_pos = {};   // (nmocap,3)
  std::span<const double> mocap_quat = {};  // (nmocap,4)
  std::span<const double> mocap_vel =
      {};  // (nmocap,6)  angular velocity, linear velocity of the frame's origin, world axes; constant within a step
  std::span<const double> anchor =
      {};  // (nanchor,3)  state of anchored stiction, m or rad, world axes
  std::span<const double> friction_anchor = {};  // (nv+ntendon)  of anchored dry friction, m or rad
  std::span<const double> rebound = {};          // (nrebound)  state of restitution, m/s
  std::span<const double> eq_active = {};        // (neq)  0: constraint is off; empty: eq_active0
  std::span<const double> act = {};              // (na)   activations of the actuators
  double time = 0;                               // s, at the start; only clock sensors read it
};

// One active contact point. Vectors in world axes; the normal points from geom1 into geom2.
struct Contact {
  int env = 0;  // of a batch
  int geom1 = 0, geom2 = 0, body1 = 0, body2 = 0, pair = 0, slot = 0;
  std::array<double, 3> pos{};      // contact point
  std::array<double, 3> normal{};   // unit
  double gap = 0;                   // signed distance minus margin at the start, < 0: overlap
  std::array<double, 3> impulse{};  // on geom2's body, N s
  std::array<double, 3> force{};    // impulse / timestep, N
  std::array<double, 3>
      couple{};  // on geom2's body in addition to the impulse, by torsional and rolling friction, N m s
  std::array<double, 3> torque{};      // couple / timestep, N m
  std::array<double, 3> slip{};        // tangential velocity of geom2 relative to geom1 at the end
  double separation_velocity = 0;      // normal velocity at the end, > 0 separating
  double friction = 0, friction2 = 0;  // μ1, μ2: equal unless the pair is anisotropic
  double stiffness = 0, dissipation = 0;  // k, d of the pair
  double n0 = 0, eps_s = 0, w = 0;        // lagged impulse, soft-norm speed, Delassus scale
};

// Quantities of one state. Row-major, SI units, world axes unless stated otherwise.
struct ForwardResult {
  std::vector<double> xpos, xquat, xipos;    // (nbody,3) (nbody,4) (nbody,3)
  std::vector<double> ximat;                 // (nbody,9)  principal axes
  std::vector<double> xanchor, xaxis;        // (njnt,3)
  std::vector<double> geom_xpos, geom_xmat;  // (ngeom,3) (ngeom,9)
  std::vector<double> site_xpos, site_xmat;  // (nsite,3) (nsite,9)
  std::vector<double> subtree_com;           // (nbody,3)
  std::vector<double> xvel;       // (nbody,6)  angular, linear velocity of the body frame's origin
  std::vector<double> M;          // (nv,nv)    with armature
  std::vector<double> qfrc_bias;  // (nv)       Coriolis, gyroscopic, minus gravity
  std::vector<double> qfrc_spring, qfrc_damper, qfrc_gravcomp, qfrc_fluid;  // (nv)
  std::vector<double> qfrc_passive;                                         // (nv)  their sum
  std::vector<double> actuator_length, actuator_velocity, actuator_force;   // (nu)
  std::vector<double> actuator_moment;                                      // (nu,nv)
  std::vector<double> act_dot;                                              // (na)
  std::vector<double> qfrc_actuator;                                        // (nv)
  double energy_kinetic = 0, energy_potential = 0;  // J; potential: gravity and joint springs
  std::array<double, 3> linear_momentum{};          // kg m/s
  // sums over all moving bodies; kg m²/s, about the centre of mass; com, m.
  std::array<double, 3> angular_momentum{}, com{};
  // connects and welds: rotation, translation of body 2, and its velocity relative to body 1, angular, linear;
  // a coupling uses the fourth row.
  std::vector<double> eq_gap, eq_J;  // (neq,6) (neq,6,nv)
  std::vector<Contact> contacts;     // every candidate point of every pair, impulses zero
};

// Result of one step.
struct StepResult {
  std::vector<double> qpos, qvel;  // (nq) (nv)  next state
  // Minimum of the convex problem: qpos moves by δt v. Equals qvel except in free and ball joints with
  // Gyroscopic::midpoint
  std::vector<double> v;    // (nv)
  std::vector<double> act;  // (na)         next activations
  std::vector<double> mocap_pos,
      mocap_quat;              // (nmocap,3) (nmocap,4)  poses of mocap bodies after the step
  std::vector<double> anchor;  // (nanchor,3)  next anchors; zero unless stiction = anchored
  std::vector<double> friction_anchor;  // (nv+ntendon)  next anchors of dry friction, likewise
  std::vector<double>
      rebound;  // (nrebound)  next impact speeds of the pairs that bounce, m/s; -1: the pair rests
  std::vector<double> v_star;        // (nv)       free-motion velocity
  std::vector<double> A;             // (nv,nv)    M + δt D + δt² K
  std::vector<double> gen_impulse;   // (nv)       generalized impulse of all constraints
  std::vector<double> xfrc_contact;  // (nbody,6)  contact force, torque at the centre of mass
  // connects and welds: force, torque on body 2, world; a coupling: the first number, the force along the coupling.
  std::vector<double> eq_force;    // (neq,6)
  std::vector<double> sensordata;  // (nsensordata)  of this interval, or of the next state
  std::vector<Contact> contacts;   // points in the problem
  Status status = Status::ok;
  int iterations = 0;  // Newton iterations; if trees are solved separately, the most of any
  int linesearch_evaluations = 0;  // evaluations of the cost derivative beyond alpha = 1
  double residual = 0;             // relative momentum residual, dimensionless, likewise
  double cost = 0;                 // minimum of the convex problem, J
};

// Derivative of a step: rows d(q', v') in the tangent space of the next state, columns in that of the
// quantity it is taken with respect to. Tangents are those of qvel: an increment of the rotation of a free or
// ball joint is a rotation vector in the axes of the body. Row-major.
struct StepJacobian {
  std::vector<double> state;  // (2 nv, 2 nv)  with respect to (q, v)
  std::vector<double> ctrl;   // (2 nv, nu)
  std::vector<double>
      friction;     // (2 nv, npair)  with respect to the sliding friction, both directions
  StepResult step;  // the step, solved to round-off
};

// Thread-safe after construction: all methods are const, and there is no shared mutable state.
class Reference {
 public:
  // Throws ArgumentError if the options are out of range.
  Reference(ModelPtr model, const Options& options = {});
  ~Reference();
  Reference(Reference&&) noexcept;
  Reference& operator=(Reference&&) noexcept;

  const Model& model() const;
  const Options& options() const;  // with every default resolved

  // Dynamics of a state without a step. Throws ArgumentError on wrong sizes or non-finite values.
  ForwardResult forward(std::span<const double> qpos, std::span<const double> qvel,
                        const Inputs& inputs = {}) const;

  // One time step. Throws ArgumentError on wrong sizes or a non-finite state. Non-finite ctrl or
  // applied forces count as zero; failures inside a step set a status bit and leave the state
  // as it was.
  StepResult step(std::span<const double> qpos, std::span<const double> qvel,
                  const Inputs& inputs = {}) const;

  // Derivative of that step by the implicit function theorem: at the minimum of the convex problem
  // d∇ℓ_p = 0 (docs/method.md, 6). The problem is solved to round-off, whatever solver_tolerance.
  // Anchors, activations, applied forces and poses of mocap bodies are constant. Where the step has a kink (a point
  // that just begins to push, a joint at its limit, a control at the end of its range, the edge of a box) this is
  // the derivative of one side. If the step was frozen the state stays: the identity, and 0.
  // Throws as `step`.
  StepJacobian step_jacobian(std::span<const double> qpos, std::span<const double> qvel,
                             const Inputs& inputs = {}) const;

  // The first geoms that n rays hit at qpos, the frames of the bodies following from the joints and the mocap poses
  // in the inputs: origins and directions (n,3) in the world. Throws ArgumentError on wrong sizes, numbers
  // that are not finite, a direction without length, an unknown body.
  RayHits<double> raycast(std::span<const double> qpos, std::span<const double> origins,
                          std::span<const double> directions, const RayOptions& options = {},
                          const Inputs& inputs = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stiction
