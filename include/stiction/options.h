// How to step: everything that is a choice of the user and not a property of the robot.
#pragma once

#include <cstdint>
#include <optional>

namespace stiction {

// Convex contact model of "Irrotational Contact Fields" (lagged, similar) or the SAP paper.
enum class ContactModel : std::uint8_t { lagged, similar, sap };

// regularized: the papers' law, creeps below v_s. anchored: an anchor per contact slot, no creep.
enum class Stiction : std::uint8_t { regularized, anchored };

// speculative: every point that may close its gap within the step. penetrating_deepest: the deepest
// overlapping point of each pair, as Drake's point contact; for comparisons only.
enum class ContactPairs : std::uint8_t { speculative, penetrating_deepest };

// Joint limits. solref: a violated limit returns with the time constant of `solreflimit`, whatever the
// time step. near_rigid: the SAP paper's and Drake's, which returns half of the way in each step.
// automatic: near_rigid where contact_pairs is penetrating_deepest, else solref.
enum class Limits : std::uint8_t { automatic, solref, near_rigid };

// mujoco: greater priority decides, else the larger coefficient. harmonic: 2 a b / (a + b).
enum class FrictionCombination : std::uint8_t { mujoco, harmonic };

// Whose factorization the linear systems of Newton's method have: cusolver, NVIDIA's library, checks
// our own on device = 'cuda' and is slower.
enum class LinearSolver : std::uint8_t { cholesky, cusolver };

struct Options {
  std::optional<double> timestep;  // δt, s; default: the model's
  ContactModel contact_model = ContactModel::lagged;
  Stiction stiction = Stiction::regularized;
  double stiction_tolerance = 1e-4;  // v_s, m/s: slip speed at which friction is 0.71 of its bound
  double regularization = 1e-3;      // σ: friction slope at most 1/(σ w)
  double near_rigid = 1.0;           // β of SAP contact; 0 switches the floor on R_n off
  std::optional<double>
      solver_tolerance;         // ε_r, relative momentum residual; default 1e-6 in double
  int max_iterations = 32;      // Newton iterations of a solve before `not_converged`
  int friction_iterations = 1;  // solves of a step; from the second on n0 is the last one's impulse
  ContactPairs contact_pairs = ContactPairs::speculative;
  Limits limits = Limits::automatic;
  FrictionCombination friction_combination = FrictionCombination::mujoco;
  LinearSolver linear_solver = LinearSolver::cholesky;
};

// The laws that hold where the options leave the choice: those of the papers with their contact pairs.
constexpr Limits limits_of(const Options& o) {
  if (o.limits != Limits::automatic) return o.limits;
  return o.contact_pairs == ContactPairs::penetrating_deepest ? Limits::near_rigid : Limits::solref;
}

// Throws ArgumentError naming the field, its value and its range.
void validate(const Options& options);

}  // namespace stiction
