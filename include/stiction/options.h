// How to step: everything that is a choice of the user and not a property of the robot. options.def lists the fields.
#pragma once

#include <cstdint>
#include <optional>

namespace stiction {

// Convex contact model of "Irrotational Contact Fields" (lagged, similar) or the SAP paper.
enum class ContactModel : std::uint8_t { lagged, similar, sap };

// regularized: the law of the papers, which creeps below v_s. anchored: one anchor per contact slot, no creep.
enum class Stiction : std::uint8_t { regularized, anchored };

// speculative: every point that may close its gap within the step. penetrating_deepest: the deepest
// overlapping point of each pair, as in Drake's point contact; for comparisons only.
enum class ContactPairs : std::uint8_t { speculative, penetrating_deepest };

// Joint limits. solref: a violated limit recovers with the time constant of `solreflimit`, whatever the
// time step. near_rigid: as in the SAP paper and Drake, recovers half of the violation in each step.
// automatic: near_rigid if contact_pairs is penetrating_deepest, else solref.
enum class Limits : std::uint8_t { automatic, solref, near_rigid };

// mujoco: the higher priority decides, else the larger coefficient. harmonic: 2 a b / (a + b).
enum class FrictionCombination : std::uint8_t { mujoco, harmonic };

// How the linear systems of Newton's method are factored. cholesky: by this library. cusolver: by
// NVIDIA's library, to verify ours on device = 'cuda'; slower.
enum class LinearSolver : std::uint8_t { cholesky, cusolver };

// How the gyroscopic torque of free and ball joints enters a step. midpoint: implicit, in two halves before
// and after the motion: a torque-free body keeps its energy and its angular momentum.
// explicit_euler: at the start, as in Drake's discrete systems; gains energy at δt |ω| >= 0.05.
// automatic: explicit_euler if contact_pairs is penetrating_deepest or scheme is not implicit_euler
// (with the scheme midpoint it is taken half-way, with all other forces), else midpoint.
enum class Gyroscopic : std::uint8_t { automatic, midpoint, explicit_euler };

// Options::friction_iterations: the friction bounds follow the normal impulses within the solve, until the
// error of friction is within friction_tolerance of the step's impulse. auto: at most kAutoRenewals renewals.
// fixed_point: at most kMostRenewals, to a tolerance of round-off, so that friction is a function of
// the problem alone. 1 if the law is not the lagged one, or if contact_pairs is penetrating_deepest.
inline constexpr int kAutoFriction = 0, kFixedPointFriction = -1;
inline constexpr int kAutoRenewals = 8, kMostRenewals = 100;
inline constexpr double kFrictionShare = 0.02;  // friction_tolerance of auto

// How a step advances, in the terms of the SAP paper's θ-method. implicit_euler: springs and dampers of
// the joints at the end of the step, all other forces at its start; the only scheme of a Batch.
// symplectic_euler: all forces at the start. explicit_euler: and positions advance with the velocity at
// the start. midpoint: all smooth forces and the motion half-way between both ends, second order.
// In all schemes contacts, limits and servos act on the velocity at the end.
enum class Scheme : std::uint8_t { implicit_euler, symplectic_euler, explicit_euler, midpoint };

// Normal force of a contact as a function of the gap φ. hunt_crossley: k (−φ)₊ (1 − d v_n)₊ with k and d of
// the pair. log_barrier: κ/φ, at any distance. ipc_barrier: of incremental potential contact, only below the
// distance d̂. With barriers shapes never touch; the only law of a Batch is hunt_crossley.
enum class NormalLaw : std::uint8_t { hunt_crossley, log_barrier, ipc_barrier };

// How mocap bodies move. difference: over the steps of a call, from their current pose to the pose written before
// the call, in equal parts (for the rotation by its logarithm); in the first step after a reset, a set state or
// Batch::teleport they stand still at that pose. given: they start at it likewise, and then move at mocap_vel,
// whatever the pose. none: at the start of each step they are at the written pose, with zero velocity: they push and
// carry at 1/d, the speed at which overlaps separate.
enum class MocapVelocity : std::uint8_t { difference, given, none };

struct Options {
  std::optional<double> timestep;  // δt, s; default: the model's
  ContactModel contact_model = ContactModel::lagged;
  Stiction stiction = Stiction::regularized;
  double stiction_tolerance = 1e-4;  // v_s, m/s: slip speed at which friction is 0.71 of its bound
  double regularization = 1e-3;      // σ: slope of friction at most 1/(σ w)
  double near_rigid = 1.0;           // β of SAP contact; 0 removes the lower bound of R_n
  std::optional<double>
      solver_tolerance;     // ε_r, relative momentum residual; default 1e-6 in double
  int max_iterations = 32;  // Newton iterations of a solve before `not_converged`
  // kAutoFriction, kFixedPointFriction; or the number of solves per step, n0 being the impulse of the previous solve.
  int friction_iterations = kAutoFriction;
  // Error of friction, as a fraction of the step's impulse, that is accepted where its bounds follow; default 2 % for
  // auto, for fixed_point 1e-10 in double, 1e-5 in float.
  std::optional<double> friction_tolerance;
  ContactPairs contact_pairs = ContactPairs::speculative;
  Limits limits = Limits::automatic;
  FrictionCombination friction_combination = FrictionCombination::mujoco;
  Gyroscopic gyroscopic = Gyroscopic::automatic;
  LinearSolver linear_solver = LinearSolver::cholesky;
  Scheme scheme = Scheme::implicit_euler;
  NormalLaw normal_law = NormalLaw::hunt_crossley;
  // κ of a barrier: J of log_barrier (default 1e-3), N/m of ipc_barrier (default 1e4)
  std::optional<double> barrier;
  double barrier_distance = 1e-3;  // d̂ of ipc_barrier, m
  MocapVelocity mocap_velocity =
      MocapVelocity::difference;  // of a Batch; a Reference uses Inputs::mocap_vel

  bool operator==(const Options&) const = default;
};

// Throws ArgumentError naming the field, its value and its range.
void validate(const Options& options);
// Throws ArgumentError naming a field that only Reference supports.
void require_batch_options(const Options& options);

// Return the law that an option names, or that `automatic` stands for: with the contact pairs of the papers, their law.
Limits limit_law(const Options& options);
Gyroscopic gyroscopic_law(const Options& options);
// Returns whether the friction bounds follow: auto or fixed_point, with a law that renews its bounds.
bool friction_follows(const Options& options);
// Sets timestep, tolerances and laws that `options` leave to the precision or to other options.
void resolve(Options& options, double timestep, double solver_tolerance, double friction_tolerance);

}  // namespace stiction
